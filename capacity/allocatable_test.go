package capacity

import (
	"math"
	"testing"
)

// The amounts are the difference between capacity and allocatable that a kubelet with that
// configuration reports.
func TestKept(t *testing.T) {
	config := map[string]any{
		"kubeReserved":   map[string]any{"cpu": "140m", "memory": "2250Mi", "ephemeral-storage": "1Gi"},
		"systemReserved": map[string]any{"cpu": "1", "memory": "0", "pid": "100"},
		"evictionHard":   map[string]any{"memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%", "imagefs.available": "15%"},
	}
	for _, c := range []struct {
		resource               string
		total, kept, threshold int64
	}{
		{"cpu", 4000, 1140, 0},
		{"memory", 16 << 30, 2350 << 20, 100 << 20},
		{"ephemeral-storage", 100e9, 1<<30 + 10000000149, 10000000149}, // a tenth in 32 bits is a little more
		{"memory", 1 << 30, 1 << 30, 100 << 20},
		{"memory", 0, 0, 0},
		{"pods", 110, 0, 0},
		{"cpu", 250, 250, 0},
		{"nvidia.com/gpu", 1, 0, 0},
	} {
		kept, err := Kept(config, c.resource, c.total)
		threshold, err2 := Threshold(config, c.resource, c.total)
		if kept != c.kept || threshold != c.threshold || err != nil || err2 != nil {
			t.Errorf("%+v: %d, %d, %v, %v", c, kept, threshold, err, err2)
		}
	}
	if kept, err := Kept(nil, "memory", 1); kept != 0 || err != nil {
		t.Errorf("no setting is given, and %d is kept, %v", kept, err)
	}
	for _, bad := range []any{"", "x", "-1", "1GB", "101%", "-1%", "NaN%", "%", "1K", 5, nil} {
		if kept, err := Kept(map[string]any{"kubeReserved": map[string]any{"memory": bad}}, "memory", math.MaxInt64); err == nil {
			t.Errorf("%v is taken for %d", bad, kept)
		}
	}
}

// FuzzKept: the kept amount is between 0 and the total.
func FuzzKept(f *testing.F) {
	for _, text := range []string{"10%", "100Mi", "140m", "1E", "0", "8Ei", "1e3", "99.9%"} {
		f.Add(text, "memory", int64(16<<30))
		f.Add(text, "cpu", int64(4000))
	}
	f.Fuzz(func(t *testing.T, text, resource string, total int64) {
		total = max(total, 0)
		config := map[string]any{
			"kubeReserved": map[string]any{resource: text}, "systemReserved": map[string]any{resource: text},
			"evictionHard": map[string]any{signals[resource]: text},
		}
		kept, err := Kept(config, resource, total)
		if kept < 0 || kept > total || err != nil && kept != 0 {
			t.Errorf("%q of %d of %q: %d, %v", text, total, resource, kept, err)
		}
	})
}

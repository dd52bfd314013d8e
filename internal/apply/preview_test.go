package apply_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// A preview reports the files and units that an apply then changes, and changes nothing.
func TestPreview(t *testing.T) {
	old, changed := aksPlan(t), aksPlan(t, changedConfig)
	for _, c := range []struct {
		name    string
		prepare func(*memory)
		plan    resource.Plan
	}{
		{"fresh", func(*memory) {}, old},
		{"as planned", func(m *memory) { applied(t, m, old) }, old},
		{"changed", func(m *memory) { applied(t, m, old) }, changed},
		{"a unit that is not in the plan", func(m *memory) { applied(t, m, old) }, changed.Only(resource.Base)},
		{"after a run that died", func(m *memory) {
			applied(t, m, old)
			m.files[intentPath] = fileEntry(&resource.File{Content: []byte(`{"restarts":["kubelet.service"]}`)})
		}, old},
		{"after a damaged record", func(m *memory) {
			applied(t, m, old)
			m.files[intentPath] = fileEntry(&resource.File{Content: []byte(`{`)})
		}, old},
		{"units that do not run", func(m *memory) {
			applied(t, m, old)
			m.units["kubelet.service"].state = "failed"
			m.units["containerd.service"].state = "activating"
		}, changed},
	} {
		m := joining(nil)
		_, m.serves = servingPlan()
		c.prepare(m)
		m.forget()
		preview, err := engine(m).Preview(t.Context(), c.plan)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, c.name+": calls", m.changed(), nil)
		if slices.ContainsFunc(m.calls, func(c call) bool { return c.op == "lock" }) {
			t.Errorf("%s: the lock was taken, which makes a file", c.name)
		}
		report := applied(t, m, c.plan)
		equal(t, c.name, changes(preview), changes(report))
	}
}

func TestPreviewFails(t *testing.T) {
	m := newMemory()
	for _, fails := range []string{"stat /etc/containerd/config.toml", "stat " + intentPath, "state kubelet.service"} {
		m.before = failing(fails)
		report, err := engine(m).Preview(t.Context(), aksPlan(t))
		if report == nil || err == nil || !strings.Contains(err.Error(), fails) {
			t.Errorf("%s: %v", fails, err)
		}
	}
	m.before = func(c call) error {
		if c.op == "state" {
			panic("broken")
		}
		return nil
	}
	if _, err := engine(m).Preview(t.Context(), aksPlan(t)); err == nil {
		t.Error("a panic is no error")
	}
}

var _ apply.Host = (*memory)(nil)

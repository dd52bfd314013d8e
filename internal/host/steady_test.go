package host

import (
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
)

// A unit that must stay active: one that does, one that ends, and one that systemd starts again between
// two looks.
func TestProbeSteady(t *testing.T) {
	probe := func(change func(conn *fakeBus)) error {
		conn := newFakeBus()
		invoke := func(id byte, active, sub string) {
			conn.mu.Lock()
			defer conn.mu.Unlock()
			conn.units["kubelet.service"] = map[string]any{"LoadState": "loaded", "ActiveState": active, "SubState": sub, "InvocationID": []byte{id}}
		}
		invoke(1, "active", "running")
		m, _ := newMachine(t, conn)
		if change != nil {
			time.AfterFunc(50*time.Millisecond, func() { change(conn) })
		}
		return m.Probe(t.Context(), &resource.Check{
			UnitActive: "kubelet.service", Timeout: resource.Duration(time.Minute), Steady: resource.Duration(300 * time.Millisecond),
		})
	}
	must(t, probe(nil))
	wantError(t, probe(func(conn *fakeBus) { conn.set("kubelet.service", "activating", "auto-restart") }),
		"kubelet.service", "does not stay active: is activating (auto-restart)")
	wantError(t, probe(func(conn *fakeBus) {
		conn.mu.Lock()
		defer conn.mu.Unlock()
		conn.units["kubelet.service"] = map[string]any{"LoadState": "loaded", "ActiveState": "active", "InvocationID": []byte{2}}
	}), "it ended, and was started again")
}

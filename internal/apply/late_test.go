package apply_test

import (
	"context"
	"errors"
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// TestLateFiles: a file with a late decision has its final content before the unit starts, at whatever point the run
// dies and whatever the disk loses then. A running unit is left alone.
func TestLateFiles(t *testing.T) {
	early := with(file("/etc/kubelet.conf", "early", "kubelet.service"), started("kubelet.service"))
	decided := with(file("/etc/kubelet.conf", "decided", "kubelet.service"), started("kubelet.service"))
	asked := 0
	late := func(m *memory) error {
		e := engine(m)
		e.Late = &apply.Late{Unit: "kubelet.service", Files: func(context.Context) ([]*resource.File, error) {
			asked++
			return []*resource.File{decided.Resources[0].Spec.(*resource.File)}, nil
		}}
		_, err := e.Apply(t.Context(), early)
		return err
	}
	m := newMemory()
	if err := late(m); err != nil {
		t.Fatal(err)
	}
	if got := string(m.units["kubelet.service"].inputs["/etc/kubelet.conf"].content); got != "decided" {
		t.Errorf("the unit is started with %q", got)
	}
	converged(t, m, decided)
	if err := late(m); err != nil || asked != 1 {
		t.Errorf("asked %d times of a unit that runs: %v", asked, err)
	}
	calls := len(m.calls)
	for n := range calls {
		m := newMemory()
		left := n
		m.before = func(call) error {
			if left--; left < 0 {
				return errors.New("dead")
			}
			return nil
		}
		_ = late(m)
		m = m.rebooted()
		m.before = nil
		applied(t, m, decided)
		converged(t, m, decided)
		for name := range m.staged {
			t.Errorf("died at call %d: %s is staged", n, name)
		}
	}
	m = newMemory()
	e := engine(m)
	e.Late = &apply.Late{Unit: "kubelet.service", Files: func(context.Context) ([]*resource.File, error) { return nil, errors.New("no record") }}
	if _, err := e.Apply(t.Context(), early); err == nil || m.units["kubelet.service"] != nil {
		t.Errorf("the unit is started without: %v", err)
	}
}

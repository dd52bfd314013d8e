package apply_test

import (
	"context"
	"errors"
	"testing"

	"github.com/slipway-dev/slipway/internal/resource"
)

const (
	clientUnit = "client.service"
	clientMade = "/var/lib/kubelet/pki/kubelet-client-current.pem"
)

// aheadPlan is a plan for a node whose kubelet pulls in a client that gets the kubelet's certificate.
func aheadPlan() resource.Plan {
	client := started(clientUnit)
	client.Spec = &resource.Unit{Unit: clientUnit, Ahead: clientMade}
	return with(client, started("containerd.service"), started("kubelet.service", "Unit:containerd.service"))
}

// A unit that another unit pulls in starts in parallel with that unit's requirements, once, and is the only one that
// fails.
func TestUnitAhead(t *testing.T) {
	containerd, client, kubelet := "start containerd.service", "start "+clientUnit, "start kubelet.service"
	for name, c := range map[string]struct {
		prepare                 func(*memory)
		calls, changes, skipped []string
		failed                  bool
	}{
		"a new node": {
			prepare: func(*memory) {}, calls: []string{client, containerd, kubelet},
			changes: []string{"started Unit:client.service", "started Unit:containerd.service", "started Unit:kubelet.service"},
		},
		"what it makes is there": {
			prepare: has(clientMade, "certificate"), calls: []string{containerd, kubelet},
			changes: []string{"started Unit:containerd.service", "started Unit:kubelet.service"},
		},
		"a power cut has left that empty": {
			prepare: has(clientMade, ""), calls: []string{client, containerd, kubelet},
			changes: []string{"started Unit:client.service", "started Unit:containerd.service", "started Unit:kubelet.service"},
		},
		"it runs already": {
			prepare: func(m *memory) { m.units[clientUnit] = &unit{"active", nil} }, calls: []string{containerd, kubelet},
			changes: []string{"started Unit:containerd.service", "started Unit:kubelet.service"},
		},
		"it fails": {
			prepare: cannotDo(client), calls: []string{client, containerd, kubelet},
			changes: []string{"started Unit:containerd.service", "started Unit:kubelet.service"},
			skipped: []string{"Unit:client.service"},
		},
		"it fails while the kubelet's start runs it": {
			prepare: func(m *memory) {
				m.units[clientUnit] = &unit{"activating", nil}
				cannotDo(client)(m)
			}, calls: []string{client, containerd, kubelet},
			changes: []string{"started Unit:containerd.service", "started Unit:kubelet.service"},
			skipped: []string{"Unit:client.service"},
		},
		"another unit fails": {
			prepare: cannotDo(containerd), calls: []string{client, containerd}, failed: true,
			changes: []string{"started Unit:client.service"}, skipped: []string{"Unit:kubelet.service"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			c.prepare(m)
			report, err := engine(m).Apply(t.Context(), aheadPlan())
			if (err != nil) != c.failed {
				t.Errorf("error %v", err)
			}
			equal(t, "calls", m.changed(), c.calls)
			equal(t, "changes", changes(report), c.changes)
			equal(t, "skipped", names(report.Skipped), c.skipped)
		})
	}
}

// cannotDo makes a call fail.
func cannotDo(what string) func(*memory) { return func(m *memory) { m.before = failing(what) } }

// A run that is asked to end does not count that as a failure of the unit.
func TestUnitAheadInterrupted(t *testing.T) {
	m := newMemory()
	ctx, cancel := context.WithCancelCause(t.Context())
	m.before = func(c call) error {
		if c.op == "start" {
			cancel(errInjected)
			return ctx.Err()
		}
		return nil
	}
	if _, err := engine(m).Apply(ctx, aheadPlan()); !errors.Is(err, errInjected) {
		t.Errorf("the run ends with %v", err)
	}
}

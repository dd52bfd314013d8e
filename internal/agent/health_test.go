package agent

import (
	"context"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/status"
)

// A first boot, and a run that finishes it, do not check the node's health: the kubelet may take longer to join. Nor
// does a boot of a good node. A repair of such a node does, and so does a boot that rolls back.
func TestWhichRunsCheckHealth(t *testing.T) {
	t.Parallel()
	drift := func(n *node) { n.deliver("/var/lib/kubelet/config.yaml", []byte("drift")) }
	boot := func(n *node) *status.Status { return n.provision() }
	repair := func(n *node) *status.Status { return n.Repair(n.Context(), RepairOptions{}).Status }
	died := func(n *node) {
		n.host.before = dead("StartUnit kubelet.service")
		n.provision()
	}
	for _, c := range []struct {
		name   string
		made   bool // whether the node was provisioned before
		before func(n *node)
		then   func(n *node) *status.Status
		asks   bool
	}{
		{"a first boot", false, func(*node) {}, boot, false},
		{"a boot after one that died", false, died, boot, false},
		{"a repair of a boot that died", false, died, repair, false},
		{"a boot of a good node", true, drift, boot, false},
		{"a repair of a good node", true, drift, repair, true},
		{"a boot that goes back", true, func(n *node) {
			n.change(best(n.T))
			n.change(better(n.T), onTrial, func(o *ChangeOptions) { o.Force = true })
		}, boot, true},
	} {
		n := newNode(t)
		n.Program = "/usr/bin/slipway-node"
		n.deliver(nativeContract, example(t, "native/full.yaml"))
		n.host.answers = true
		n.host.run = func(context.Context, *resource.Command) ([]byte, error) { return nil, nil }
		if c.made {
			n.provision()
		}
		c.before(n)
		asked := false
		n.host.before = func(op, probe string) error {
			asked = asked || op == "Probe" && strings.HasPrefix(probe, "health-")
			return nil
		}
		if got := c.then(n); got.ExitCode != 0 || asked != c.asks || len(got.Changes) == 0 {
			t.Errorf("%s: asked %v, want %v; %v", c.name, asked, c.asks, got.Error)
		}
	}
}

package agent

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/status"
	"github.com/slipway-dev/slipway/test/detector"
)

// older is the example with a lower revision, and a change.
func older(t *testing.T) []byte {
	return edited(t, "revision: 3", "revision: 2", "nodefs.available: 10%", "nodefs.available: 9%")
}

// A boot refuses a contract that is older than the node's and reports that; the node stays as it is. The boot still
// does its other work: it rolls back an unconfirmed generation.
func TestReplay(t *testing.T) {
	detector.Skip(t)
	t.Parallel()
	for _, c := range []struct {
		name  string
		since func(n *node)
		opts  ProvisionOptions
		code  int
		// generations are those after the boot.
		generations string
	}{
		{name: "an older contract", since: func(n *node) { n.deliver(nativeContract, older(n.T)) }, code: exitcode.ContractOlder, generations: "1 provision good"},
		{name: "one without a revision", since: func(n *node) { n.deliver(nativeContract, edited(n.T, "  revision: 3\n", "")) }, code: exitcode.ContractOlder, generations: "1 provision good"},
		{name: "AKS's, which has none", since: func(n *node) {
			n.deliver(nativeContract, example(n.T, "aks/minimal.json"))
		}, code: exitcode.ContractOlder, generations: "1 provision good"},
		{name: "an older one by force", since: func(n *node) { n.deliver(nativeContract, older(n.T)) }, opts: ProvisionOptions{Force: true}, generations: "1 provision good, 2 provision good"},
		{name: "the same revision", since: func(n *node) { n.deliver(nativeContract, edited(n.T, "nodefs.available: 10%", "nodefs.available: 9%")) }, generations: "1 provision good, 2 provision good"},
		{name: "its own, after a newer one was applied", since: func(n *node) { n.change(better(n.T)) }, generations: "1 provision good, 2 apply good"},
		{name: "an older one, after a newer one was applied", since: func(n *node) {
			n.change(better(n.T))
			n.deliver(nativeContract, edited(n.T, "nodefs.available: 10%", "nodefs.available: 9%"))
		}, code: exitcode.ContractOlder, generations: "1 provision good, 2 apply good"},
		{name: "one that is newer than what was confirmed last", since: func(n *node) {
			n.change(best(n.T), func(o *ChangeOptions) { o.Try = time.Hour })
			n.deliver(nativeContract, better(n.T))
		}, generations: "1 provision good, 2 apply good unconfirmed, 3 provision good"},
		{name: "an older one, and an unconfirmed change", since: func(n *node) {
			n.change(best(n.T), func(o *ChangeOptions) { o.Try = time.Hour })
			n.deliver(nativeContract, older(n.T))
		}, code: exitcode.ContractOlder, generations: "1 provision good, 2 apply good unconfirmed, 3 rollback good as 1"},
		{name: "an older one, and drift", since: func(n *node) {
			n.deliver("/var/lib/kubelet/config.yaml", []byte("drift"))
			n.deliver(nativeContract, older(n.T))
		}, code: exitcode.ContractOlder, generations: "1 provision good"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := running(t)
			n.Called = ""
			first := n.tree()
			c.since(n)
			c.opts.Facts = ubuntu(t)
			dry := c.opts
			dry.DryRun = true
			if got := n.Provision(t.Context(), dry); got.ExitCode != c.code {
				t.Errorf("a dry run: %d: %v", got.ExitCode, got.Error)
			}
			got := n.Provision(t.Context(), c.opts)
			if got.ExitCode != c.code || (c.code != 0) != (got.Error != nil && strings.Contains(got.Error.Message, "--force")) {
				t.Fatalf("%d: %v", got.ExitCode, got.Error)
			}
			equal(t, "generations", n.generations(), c.generations)
			if c.code == 0 {
				return
			}
			if !strings.Contains(c.generations, "2 apply good,") && !strings.HasSuffix(c.generations, "2 apply good") {
				after := n.tree()
				for _, tree := range []map[string]string{first, after} {
					maps.DeleteFunc(tree, func(path, _ string) bool {
						return strings.HasPrefix(path, "/etc/slipway") || strings.HasPrefix(path, "/var/log") || strings.HasPrefix(path, "/opt/azure")
					})
				}
				same(t, "the node", after, first)
			}
			last, err := status.Parse(n.read(state.Status.Path))
			if err != nil || last.ExitCode != c.code || last.Generation == 0 || last.Error.Action == "" {
				t.Errorf("the status is %+v, %v", last, err)
			}
			code, err := n.result(n.placeOf(got)).Code()
			if err != nil || code != c.code || !n.exists(n.placeOf(got).complete) {
				t.Errorf("published is %d, %v", code, err)
			}
			// Every boot refuses it, also on another address.
			if got := n.Provision(t.Context(), c.opts); got.ExitCode != c.code || len(got.Changes) > 0 {
				t.Errorf("once more: %d, %v", got.ExitCode, got.Changes)
			}
		})
	}
}

// Another machine on a copy of the disk accepts its contracts in any revision. On the same machine, another address
// does not make a contract newer.
func TestReplayElsewhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		now  *facts.Facts
		code int
	}{
		{"another machine", machineOf(t, "b", "uuid-b", "10.0.0.4"), 0},
		{"another address", machineOf(t, "a", "uuid-a", "10.0.0.5"), exitcode.ContractOlder},
	} {
		n := newNode(t)
		n.deliver(nativeContract, example(t, "native/full.yaml"))
		if got := n.Provision(t.Context(), ProvisionOptions{Facts: machineOf(t, "a", "uuid-a", "10.0.0.4")}); got.ExitCode != 0 {
			t.Fatal(got.Error)
		}
		n.deliver(nativeContract, older(t))
		if got := n.Provision(t.Context(), ProvisionOptions{Facts: c.now}); got.ExitCode != c.code {
			t.Errorf("%s: %d, %v", c.name, got.ExitCode, got.Error)
		}
	}
}

package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/difference"
)

// boots are the states of a node before its next boot, and what that boot makes of it.
var boots = []struct {
	name string
	// since is what happens between the first boot and the next.
	since func(n *node)
	// code is the next boot's.
	code int
	// brought reports whether the node has the change's files, pruned whether it has the first contract's.
	brought, pruned bool
	generations     string
}{
	{name: "nothing", since: func(*node) {}, pruned: true, generations: "1 provision good"},
	{name: "a change", since: func(n *node) { n.change(better(n.T)) }, brought: true, generations: "1 provision good, 2 apply good"},
	{name: "a change, and a rollback of it", since: func(n *node) {
		n.change(better(n.T))
		n.back(0)
	}, pruned: true, generations: "1 provision good, 2 apply good, 3 rollback good as 1"},
	{name: "a rollback to a change", since: func(n *node) {
		n.change(better(n.T))
		n.change(best(n.T))
		n.back(2)
	}, brought: true, generations: "1 provision good, 2 apply good, 3 apply good, 4 rollback good as 2"},
	{name: "so many changes that the first boot's generation is not kept", since: func(n *node) {
		for i := range 6 {
			n.change(best(n.T), func(o *ChangeOptions) { o.Force = true })
			n.change([]byte(strings.Replace(string(better(n.T)), "12%", "1"+string(rune('0'+i))+"%", 1)), func(o *ChangeOptions) { o.Force = true })
		}
	}, brought: true, generations: "4 apply good, 5 apply good, 6 apply good, 7 apply good, 8 apply good, 9 apply good, 10 apply good, 11 apply good, 12 apply good, 13 apply good"},
	{name: "a new contract", since: func(n *node) { n.deliver(nativeContract, better(n.T)) }, brought: true, generations: "1 provision good, 2 provision good"},
	{name: "a boot with the contract of a change, and another change", since: func(n *node) {
		n.change(better(n.T))
		n.deliver(nativeContract, better(n.T))
		if got := n.provision(); got.ExitCode != 0 || len(got.Changes) > 0 {
			n.Errorf("%v, %v", got.Error, got.Changes)
		}
		n.change(best(n.T))
	}, pruned: true, generations: "1 provision good, 2 apply good, 3 apply good"},
	{name: "a new contract after a change", since: func(n *node) {
		n.change(best(n.T))
		n.deliver(nativeContract, []byte(strings.Replace(string(better(n.T)), "revision: 4", "revision: 6", 1)))
	}, brought: true, generations: "1 provision good, 2 apply good, 3 provision good"},
	{name: "an unconfirmed change", since: func(n *node) {
		n.change(better(n.T), func(o *ChangeOptions) { o.Try = time.Hour })
	}, pruned: true, generations: "1 provision good, 2 apply good unconfirmed, 3 provision good"},
	{name: "two changes, the second unconfirmed", since: func(n *node) {
		n.change(better(n.T))
		n.change(best(n.T), func(o *ChangeOptions) { o.Try = time.Hour })
	}, brought: true, generations: "1 provision good, 2 apply good, 3 apply good unconfirmed, 4 rollback good as 2"},
	{name: "an unconfirmed change, and a new contract", since: func(n *node) {
		n.change(best(n.T), func(o *ChangeOptions) { o.Try = time.Hour })
		n.deliver(nativeContract, better(n.T))
	}, brought: true, generations: "1 provision good, 2 apply good unconfirmed, 3 provision good"},
	{name: "a change, and one that failed as its rollback did", since: func(n *node) {
		n.change(better(n.T))
		n.host.before = failing("RestartUnit kubelet.service")
		n.change(best(n.T))
		n.host.before = func(string, string) error { return nil }
	}, brought: true, generations: "1 provision good, 2 apply good, 3 apply failed, 4 rollback good as 2"},
	{name: "a contract that the node was not well with, which is still there", since: func(n *node) {
		n.deliver(nativeContract, better(n.T))
		once := failing("RestartUnit kubelet.service")
		n.host.before = func(op, name string) error {
			err := once(op, name)
			if err != nil {
				once = func(string, string) error { return nil }
			}
			return err
		}
		n.change(better(n.T))
	}, pruned: true, generations: "1 provision good, 2 apply failed, 3 rollback good as 1"},
	{name: "a change, and a boot that failed", since: func(n *node) {
		n.change(better(n.T))
		n.deliver("/var/lib/kubelet/config.yaml", []byte("drift"))
		n.host.before = failing("RestartUnit kubelet.service")
		if got := n.provision(); got.ExitCode != 34 {
			n.Errorf("%v", got.Error)
		}
		n.host.before = func(string, string) error { return nil }
	}, brought: true, generations: "1 provision good, 2 apply good"},
	{name: "a change, and its file is damaged", since: func(n *node) {
		n.change(better(n.T))
		n.deliver("/var/lib/slipway/generations/000002.json", []byte("{"))
	}, pruned: true, brought: true, generations: "1 provision good, 2 apply good, 3 provision good"},
	{name: "a change, and the index is damaged", since: func(n *node) {
		n.change(better(n.T))
		n.deliver("/var/lib/slipway/generations/index.json", []byte("{"))
	}, brought: true, generations: "1 provision good, 2 apply good"},
	{name: "a failing new contract", since: func(n *node) {
		n.deliver(nativeContract, better(n.T))
		n.host.before = failing("RestartUnit kubelet.service")
	}, code: 34, brought: true, generations: "1 provision good, 2 provision failed"},
}

// back goes back to a generation.
func (n *node) back(number int) {
	n.Helper()
	if got := n.Rollback(n.Context(), RollbackOptions{Number: number, Allow: difference.Restart}); got.Status.ExitCode != 0 {
		n.Error(got.Status.Error)
	}
}

// A boot applies the latest decision: the boot's contract if that is new, or else the last change since. The published
// documents describe what was applied, and the boot after that finds nothing to do.
func TestNextBoot(t *testing.T) {
	t.Parallel()
	for _, c := range boots {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := running(t)
			c.since(n)
			got := n.provision()
			if got.ExitCode != c.code {
				t.Errorf("%d: %v", got.ExitCode, got.Error)
			}
			n.published(nativePlace, c.code)
			if n.exists(brought) != c.brought || n.exists(pruned) != c.pruned {
				t.Errorf("%s: %t, %s: %t", brought, n.exists(brought), pruned, n.exists(pruned))
			}
			equal(t, "generations", n.generations(), c.generations)
			if c.code != 0 {
				return
			}
			if again := n.provision(); again.ExitCode != 0 || len(again.Changes) > 0 {
				t.Errorf("the boot after: %v, %v", again.Error, again.Changes)
			}
			equal(t, "generations of the boot after", n.generations(), c.generations)
			n.left()
		})
	}
}

// A first boot that fails is not rolled back, because there is no earlier generation. The next run continues.
func TestFirstBootFails(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.deliver(nativeContract, example(t, "native/full.yaml"))
	n.host.before = failing("StartUnit kubelet.service")
	for range 2 {
		got := n.provision()
		if got.ExitCode != 34 || got.Restored != 0 || !n.exists(pruned) {
			t.Errorf("%v", got.Error)
		}
		n.published(nativePlace, 34)
		equal(t, "generations", n.generations(), "1 provision failed")
	}
	n.host.before = func(string, string) error { return nil }
	if got := n.provision(); got.ExitCode != 0 {
		t.Error(got.Error)
	}
	equal(t, "generations", n.generations(), "1 provision good")
}

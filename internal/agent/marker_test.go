package agent

import (
	"context"
	"maps"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/state"
)

// markersDuring collects the markers that exist while the node is changed.
func (n *node) markersDuring() *[]string {
	var seen []string
	n.host.before = func(op, name string) error {
		if op == "Commit" || op == "StartUnit" || op == "RestartUnit" {
			for _, marker := range []string{aksPlace.complete, nativePlace.complete} {
				if n.exists(marker) && !slices.Contains(seen, marker) {
					seen = append(seen, marker)
				}
			}
		}
		return nil
	}
	return &seen
}

// The marker of an earlier run is removed before anything is changed, whichever run wrote it: otherwise a reader would
// take that run's result for this one's.
func TestStaleMarker(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		prepare func(n *node)
		kept    bool
	}{
		{"of another contract", func(n *node) { n.deliver(aksContract, example(t, "aks/minimal.json")); n.provision() }, false},
		{"of a failure", func(n *node) { n.deliver(aksContract, []byte("{")); n.provision() }, false},
		{"of an image", func(n *node) { n.deliver(aksPlace.complete, nil) }, false},
		{"of another dialect", func(n *node) {
			n.deliver(nativePlace.complete, nil)
			n.deliver(nativePlace.result.Path, []byte(`{"ExitCode":"0"}`))
		}, false},
		{"a link", func(n *node) {
			n.deliver(aksPlace.complete, nil)
			if err := os.Remove(n.root + aksPlace.complete); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("/etc/hostname", n.root+aksPlace.complete); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"of this contract", func(n *node) {
			n.deliver(aksContract, example(t, "aks/azure-cni.json"))
			n.provision()
			// A file differs and is repaired; the marker was true before and is true after.
			if err := os.Remove(n.root + "/etc/containerd/config.toml"); err != nil {
				t.Fatal(err)
			}
		}, true},
	} {
		n := newNode(t)
		c.prepare(n)
		n.deliver(aksContract, example(t, "aks/azure-cni.json"))
		seen := n.markersDuring()
		if got := n.provision(); got.ExitCode != 0 || len(got.Changes) == 0 {
			t.Errorf("%s: %v, %v", c.name, got.Error, got.Changes)
		}
		if (len(*seen) > 0) != c.kept {
			t.Errorf("%s: during the change there was %q", c.name, *seen)
		}
		n.published(aksPlace, 0)
		if last, err := n.LastStatus(); err != nil || len(last.Changes) == 0 {
			t.Errorf("%s: the status does not tell of the changes: %v", c.name, err)
		}
		if n.exists(nativePlace.complete) {
			t.Errorf("%s: the other dialect's marker stays", c.name)
		}
	}
}

// The marker of a failure is removed before the agent waits for a contract, wherever it was published.
func TestStaleMarkerBeforeTheWait(t *testing.T) {
	t.Parallel()
	for _, p := range places {
		n := newNode(t)
		n.deliver(p.complete, nil)
		n.deliver(p.result.Path, []byte(`{"ExitCode":"240","Error":"the disk is full"}`))
		ctx, cancel := context.WithCancel(t.Context())
		looked := false
		n.host.before = func(op, name string) error {
			if op == "ReadFile" && name == aksContract {
				looked = true
				cancel()
				if n.exists(p.complete) {
					t.Errorf("%s is there while the contract is looked for", p.complete)
				}
			}
			return nil
		}
		n.Provision(ctx, ProvisionOptions{Facts: ubuntu(t), Wait: time.Hour})
		cancel()
		if !looked {
			t.Error("no contract was looked for")
		}
	}
}

// If the marker cannot be removed, the run stops before it changes anything.
func TestMarkerCannotBeTakenBack(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.deliver(aksPlace.complete, nil)
	n.deliver(aksContract, example(t, "aks/minimal.json"))
	n.host.before = func(op, _ string) error {
		if op == "Remove" {
			return syscall.EPERM
		}
		return nil
	}
	if got := n.provision(); got.ExitCode != exitcode.AKSNodeController || len(got.Changes) > 0 || n.exists("/etc/containerd") {
		t.Errorf("%+v", got)
	}
}

// Published documents that are missing or damaged are published again.
func TestDocumentsAreRepaired(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path    string
		content []byte // nil to remove it
	}{
		{state.Status.Path, nil},
		{state.Status.Path, []byte("{")},
		{aksPlace.result.Path, nil},
		{aksPlace.result.Path, []byte{}},
		{aksPlace.result.Path, []byte(`{"ExitCode":"5"}`)},
		{aksPlace.result.Path, []byte(`{"Exit`)},
		{aksPlace.complete, nil},
	} {
		n := newNode(t)
		n.deliver(aksContract, example(t, "aks/minimal.json"))
		n.provision()
		if c.content == nil {
			if err := os.Remove(n.root + c.path); err != nil {
				t.Fatal(err)
			}
		} else {
			n.deliver(c.path, c.content)
		}
		if got := n.provision(); got.ExitCode != 0 || len(got.Changes) > 0 {
			t.Errorf("%s: %v, %v", c.path, got.Error, got.Changes)
		}
		n.published(aksPlace, 0)
		before := n.snapshot()
		if n.provision(); !maps.Equal(before, n.snapshot()) {
			t.Errorf("%s: a third run writes", c.path)
		}
	}
}

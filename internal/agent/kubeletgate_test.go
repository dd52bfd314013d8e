package agent

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/status"
)

// networked is a host whose network has certain addresses and gets no other.
type networked struct {
	*tampered
	addresses []string
	mu        sync.Mutex
	happened  []string
}

func (h *networked) happens(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.happened = append(h.happened, what)
}

func (h *networked) Probe(ctx context.Context, check *resource.Check) error {
	if check.Network == nil {
		return h.tampered.Probe(ctx, check)
	}
	for _, address := range check.Network.Addresses {
		if !slices.Contains(h.addresses, address) {
			h.happens("waits for " + address)
			<-ctx.Done()
			return &apply.CheckError{Cause: resource.CauseMissing, Endpoint: "network", Err: ctx.Err()}
		}
	}
	h.happens("network")
	return nil
}

// A kubelet that systemd starts waits for the network of the node's last plan. If the node has another address now, the
// kubelet does not wait for the lost one.
func TestKubeletIsHeldBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		before, after string
		want          []string
	}{
		{"a new node", "", "10.0.0.4", []string{"identified"}},
		{"a boot", "10.0.0.4", "10.0.0.4", []string{"network", "identified"}},
		{"a boot with another address", "10.0.0.4", "10.0.0.5", []string{"waits for 10.0.0.4", "identified"}},
	} {
		n := newNode(t)
		n.deliver(credential, example(t, "aks/minimal.json"))
		host := &networked{tampered: n.host}
		n.agent.Host = host
		if c.before != "" {
			host.addresses = []string{c.before}
			if got := n.on(machineOf(t, "m1", "u1", c.before)); got.ExitCode != 0 {
				t.Fatalf("%s: %v", c.name, got.Error)
			}
			host.happened = nil
		}
		host.addresses = []string{c.after}
		opened := 0
		got := n.on(machineOf(t, "m1", "u1", c.after), func(o *ProvisionOptions) {
			o.Identified = func() { opened++; host.happens("identified") }
		})
		if got.ExitCode != 0 || opened != 1 {
			t.Errorf("%s: %v, opened %d times", c.name, got.Error, opened)
		}
		for i, want := range c.want { // other events happen in parallel
			at := slices.Index(host.happened, want)
			if at < 0 || i > 0 && at < slices.Index(host.happened, c.want[i-1]) {
				t.Errorf("%s: in the order %q, want %q", c.name, host.happened, c.want)
			}
		}
	}
}

// The kubelet of a node whose image has changed does not start at the next boot: neither before the agent has compared the image, nor after.
func TestChangedImageHoldsTheKubelet(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	digest := func(content string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(content))) }
	kubelet := components.Component{Name: "kubelet", Version: "1.36.3", Path: "/usr/bin/kubelet", SHA256: digest("kubelet")}
	manifest, err := json.Marshal(components.Manifest{APIVersion: components.APIVersion, Kind: components.Kind, Components: []components.Component{kubelet}})
	if err != nil {
		t.Fatal(err)
	}
	n.deliver(components.Path, manifest)
	n.deliver(kubelet.Path, []byte("kubelet"))
	n.deliver(nativeContract, append(example(t, "native/minimal.yaml"), "components: {manifest: {sha256: "+digest(string(manifest))+"}}\n"...))
	machine := machineOf(t, "m1", "u1", "10.0.0.4")
	machine.Components = []components.Component{{Name: "containerd", Version: "2.2.4", Path: "/usr/bin/containerd"}, kubelet}
	if got := n.on(machine); got.ExitCode != 0 {
		t.Fatal(got.Error)
	}
	n.deliver(kubelet.Path, []byte("Kubelet"))
	if err := os.RemoveAll(n.root + "/run"); err != nil { // a boot
		t.Fatal(err)
	}
	got := n.holding(machine)
	if got.ExitCode != exitcode.ImageChanged || len(got.Errors) != 1 || got.Errors[0].Endpoint != kubelet.Path {
		t.Errorf("exit code %d, errors %v", got.ExitCode, got.Errors)
	}
	actions, err := os.ReadFile(n.root + "/run/slipway/actions.jsonl")
	if err != nil || strings.Contains(string(actions), `{"action":"start","unit":"kubelet.service"}`) {
		t.Errorf("after the run: %s, %v", actions, err)
	}
}

// The kubelet of a disk that was another machine's does not start at the boot with that machine's host name: the agent holds it back, and
// the engine starts it when the machine has its own name.
func TestClonedDiskHoldsTheKubelet(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.deliver(credential, example(t, "aks/minimal.json"))
	if got := n.on(machineOf(t, "m1", "u1", "10.0.0.4")); got.ExitCode != 0 {
		t.Fatal(got.Error)
	}
	if err := os.RemoveAll(n.root + "/run"); err != nil { // a boot
		t.Fatal(err)
	}
	n.deliver(credential, example(t, "aks/minimal.json"))
	if got := n.holding(machineOf(t, "m2", "u2", "10.0.0.5")); got.ExitCode != 0 || got.Identity == "" {
		t.Fatalf("exit code %d, %v, identity %q", got.ExitCode, got.Error, got.Identity)
	}
	actions, err := os.ReadFile(n.root + "/run/slipway/actions.jsonl")
	if err != nil || !strings.Contains(string(actions), `{"action":"start","unit":"kubelet.service"}`) {
		t.Errorf("after the run: %s, %v", actions, err)
	}
	if target, err := os.Readlink(n.root + "/etc/systemd/system/multi-user.target.wants/kubelet.service"); err != nil {
		t.Errorf("the kubelet does not start at the next boot: %q, %v", target, err)
	}
}

// holding provisions a machine that boots, and checks that systemd starts no kubelet when the agent lets it.
func (n *node) holding(machine *facts.Facts) *status.Status {
	n.Helper()
	var before string
	got := n.on(machine, func(o *ProvisionOptions) {
		o.Identified = func() {
			actions, err := os.ReadFile(n.root + "/run/slipway/actions.jsonl")
			if err != nil {
				n.Error(err)
			}
			before = string(actions)
		}
	})
	for _, want := range []string{`{"action":"disable","unit":"kubelet.service"}`, `{"action":"stop","unit":"kubelet.service"}`} {
		if !strings.Contains(before, want) {
			n.Errorf("before a kubelet may start: %s, want %s", before, want)
		}
	}
	return got
}

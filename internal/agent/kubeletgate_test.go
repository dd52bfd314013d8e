package agent

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
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

package agent

import (
	"context"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
)

// slowNetwork is a machine that gets no address, and whose network is being started for some time.
type slowNetwork struct {
	*tampered
	// starting is how many questions find the network still being started; waits counts the waits for an address.
	starting, waits int
}

func (s *slowNetwork) WaitForAddress(context.Context, []string) bool {
	s.waits++
	return false
}

func (s *slowNetwork) UnitState(ctx context.Context, unit string) (apply.UnitState, error) {
	if unit != networkOnline {
		return s.tampered.UnitState(ctx, unit)
	}
	s.starting--
	return apply.UnitState{LoadState: "loaded", ActiveState: "inactive", Starting: s.starting >= 0}, nil
}

// The agent waits for an address as long as the network is being started. It waits no longer if the machine's network
// is up, or if the machine has none.
func TestSlowNetwork(t *testing.T) {
	t.Parallel()
	for starting, waits := range map[int]int{0: 1, 1: 2, 3: 4} {
		n := newNode(t)
		n.deliver(aksContract, example(t, "aks/azure-cni.json"))
		host := &slowNetwork{tampered: n.host, starting: starting}
		n.Host = host
		n.Provision(t.Context(), ProvisionOptions{})
		if host.waits != waits {
			t.Errorf("the network is being started %d times: an address was waited for %d times, want %d", starting, host.waits, waits)
		}
	}
}

// halfNetwork is a machine that has two addresses of one family, and waits for an address as the host does.
type halfNetwork struct {
	*tampered
	looks int
}

func (h *halfNetwork) Addresses() ([]netip.Addr, error) {
	h.looks++
	return []netip.Addr{netip.MustParseAddr("fd00::1"), netip.MustParseAddr("2001:db8::1")}, nil
}

func (h *halfNetwork) WaitForAddress(ctx context.Context, known []string) bool {
	if !slices.Contains(known, "fd00::1") || !slices.Contains(known, "2001:db8::1") {
		return h.looks < 1000
	}
	<-ctx.Done()
	return false
}

// While the machine waits for an address of the other family, each address that it has is looked at once, however many
// there are.
func TestHalfNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t)
		n.deliver(aksContract, example(t, "aks/azure-cni.json"))
		host := &halfNetwork{tampered: n.host}
		n.Host = host
		n.Provision(t.Context(), ProvisionOptions{})
		if host.looks > 10 {
			t.Errorf("the addresses were looked at %d times", host.looks)
		}
	})
}

// stuckNetwork is a machine whose network never finishes starting.
type stuckNetwork struct {
	*tampered
	begin time.Time
}

func (s *stuckNetwork) WaitForAddress(ctx context.Context, _ []string) bool {
	<-ctx.Done()
	return false
}

func (s *stuckNetwork) UnitState(ctx context.Context, unit string) (apply.UnitState, error) {
	if unit != networkOnline {
		return s.tampered.UnitState(ctx, unit)
	}
	return apply.UnitState{LoadState: "loaded", ActiveState: "inactive", Starting: time.Since(s.begin) < time.Hour}, nil
}

// If a network never finishes starting, the agent waits for it as long as a provisioning may take, and publishes a
// result.
func TestStuckNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t)
		n.deliver(aksContract, example(t, "aks/azure-cni.json"))
		n.Host = &stuckNetwork{tampered: n.host, begin: time.Now()}
		got := n.Provision(t.Context(), ProvisionOptions{})
		if took := got.FinishedAt.Sub(got.StartedAt); took > 16*time.Minute || !n.exists(aksPlace.complete) {
			t.Errorf("it took %s; published: %t", took, n.exists(aksPlace.complete))
		}
	})
}

// backNetwork is a machine whose only address comes, is gone at one look, and comes back: no further one comes.
type backNetwork struct {
	*tampered
	gone  int // the look at which it is gone, from when it has come
	looks int
	came  bool
}

func (b *backNetwork) Addresses() ([]netip.Addr, error) {
	if b.came {
		b.looks++
	}
	if !b.came || b.looks == b.gone {
		return nil, nil
	}
	return []netip.Addr{netip.MustParseAddr("10.0.0.4")}, nil
}

func (b *backNetwork) WaitForAddress(ctx context.Context, known []string) bool {
	if b.came = true; !slices.Contains(known, "10.0.0.4") {
		return true
	}
	<-ctx.Done()
	return false
}

// An address that comes back is one that the agent waits for, at whichever look it was gone.
func TestAddressThatComesBack(t *testing.T) {
	for gone := range 4 {
		synctest.Test(t, func(t *testing.T) {
			n := newNode(t)
			n.deliver(aksContract, example(t, "aks/azure-cni.json"))
			host := &backNetwork{tampered: n.host, gone: gone}
			n.Host = host
			got := n.Provision(t.Context(), ProvisionOptions{})
			if took := got.FinishedAt.Sub(got.StartedAt); host.looks < 2 || took > time.Minute {
				t.Errorf("gone at look %d: the addresses were looked at %d times, and it took %s", gone, host.looks, took)
			}
		})
	}
}

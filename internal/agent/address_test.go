package agent

import (
	"context"
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
)

// slowNetwork is a machine that gets no address, and whose network is being started for some time.
type slowNetwork struct {
	*tampered
	// starting is how often it is still being started when somebody asks, and waits is how often somebody waited.
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

// An address is waited for as long as the network is being started, and no longer on a machine whose network is up, or
// has none.
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

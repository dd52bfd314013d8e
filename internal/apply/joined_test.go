package apply_test

import (
	"context"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
)

// starting is a host on which systemd is just starting everything, as it does at boot.
type starting struct{ *memory }

func (s starting) UnitState(ctx context.Context, name string) (apply.UnitState, error) {
	state, err := s.memory.UnitState(ctx, name)
	state.Starting = state.ActiveState == "inactive"
	return state, err
}

// A unit that somebody else is starting is waited for, and is no change of this run's.
func TestUnitThatIsBeingStarted(t *testing.T) {
	m := newMemory()
	report := applied(t, starting{m}, with(started("kubelet.service")))
	if len(report.Changes) > 0 || report.Unchanged != 1 {
		t.Errorf("changes %v, unchanged %d", report.Changes, report.Unchanged)
	}
	if calls := m.changed(); !slices.Equal(calls, []string{"start kubelet.service"}) {
		t.Errorf("did %q", calls)
	}
}

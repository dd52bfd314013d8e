package apply_test

import (
	"context"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
)

// starting is a host on which systemd is starting everything, as during a boot.
type starting struct{ *memory }

func (s starting) UnitState(ctx context.Context, name string) (apply.UnitState, error) {
	state, err := s.memory.UnitState(ctx, name)
	state.Starting = state.ActiveState == "inactive"
	return state, err
}

// If another program is starting a unit, this run waits for it and reports no change.
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

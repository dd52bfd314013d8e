package probe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/systemd"
)

// steadyInterval is how often a unit is looked at that must stay active. systemd answers with all that it knows
// of the unit, at the expense of a kubelet that is about to join.
const steadyInterval = 500 * time.Millisecond

// errUnsettled is that of a unit of which too little is seen to tell: its journal would have no more to say.
var errUnsettled = errors.New("is active, but was not seen to stay active")

// staysActive watches a unit that is active until it has been so for a time, in one piece, or says that it
// is well. It returns an error, which says how the unit is, as soon as it has ended more often than the
// check allows.
func staysActive(ctx context.Context, units *systemd.Manager, check *resource.Check) error {
	unit, span := check.UnitActive, check.Steady.Std()
	start, err := units.LastStart(ctx, unit)
	if err != nil {
		return err
	}
	for ends := 0; time.Since(start.At) < span && !saysWell(ctx, check.Well); {
		if !sleep(ctx, steadyInterval) {
			return fmt.Errorf("%w for %s: %w", errUnsettled, span, ctx.Err())
		}
		now, err := units.LastStart(ctx, unit)
		if err != nil {
			return err
		}
		if now.Active && now.Invocation == start.Invocation {
			continue
		}
		if ends++; ends > check.Restarts {
			return fmt.Errorf("does not stay active: %s", ended(ctx, units, unit, ends))
		}
		if err := units.WaitActive(ctx, unit); err != nil {
			return fmt.Errorf("does not stay active: %w", err)
		}
		if start, err = units.LastStart(ctx, unit); err != nil {
			return err
		}
	}
	return nil
}

// ended says how a unit is that has ended some times.
func ended(ctx context.Context, units *systemd.Manager, unit string, times int) string {
	text := "it ended, and was started again"
	if state, err := units.State(ctx, unit); err == nil && !systemd.IsActive(state) {
		text = "is " + systemd.Describe(state)
	}
	if times > 1 {
		text = fmt.Sprintf("ended %d times, %s", times, text)
	}
	return text
}

// saysWell asks once whether a unit is well; one that cannot be asked never says it.
func saysWell(ctx context.Context, healthz *resource.Healthz) bool {
	if healthz == nil {
		return false
	}
	u, err := loopbackURL(healthz.URL)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, localTimeout)
	defer cancel()
	return askHealthz(ctx, u) == nil
}

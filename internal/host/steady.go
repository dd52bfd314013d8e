package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// steadyInterval is how often a unit is looked at that must stay active. systemd answers with all that it knows
// of the unit, at the expense of a kubelet that is about to join.
const steadyInterval = 500 * time.Millisecond

// errUnsettled is that of a unit of which too little is seen to tell: its journal would have no more to say.
var errUnsettled = errors.New("is active, but was not seen to stay active")

// staysActive watches a unit that is active until it has been so for a time, in one piece, or says that it
// is well. It returns an error, which says how the unit is, as soon as it has ended more often than the
// check allows.
func (s *systemd) staysActive(ctx context.Context, check *resource.Check) error {
	unit, span := check.UnitActive, check.Steady.Std()
	start, err := s.lastStart(ctx, unit)
	if err != nil {
		return err
	}
	for ends := 0; time.Since(start.at) < span && !saysWell(ctx, check.Well); {
		if !sleep(ctx, steadyInterval) {
			return fmt.Errorf("%w for %s: %w", errUnsettled, span, ctx.Err())
		}
		now, err := s.lastStart(ctx, unit)
		if err != nil {
			return err
		}
		if now.active && now.invocation == start.invocation {
			continue
		}
		if ends++; ends > check.Restarts {
			return fmt.Errorf("does not stay active: %s", s.ended(ctx, unit, ends))
		}
		if err := s.waitActive(ctx, unit); err != nil {
			return fmt.Errorf("does not stay active: %w", err)
		}
		if start, err = s.lastStart(ctx, unit); err != nil {
			return err
		}
	}
	return nil
}

// ended says how a unit is that has ended some times.
func (s *systemd) ended(ctx context.Context, unit string, times int) string {
	text := "it ended, and was started again"
	if state, err := s.state(ctx, unit); err == nil && !isActive(state) {
		text = "is " + describe(state)
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

// unitStart is when a unit became active, what distinguishes that start from others (systemd.exec(5),
// $INVOCATION_ID), and whether it is active still.
type unitStart struct {
	at         time.Time
	invocation string
	active     bool
}

// lastStart is a unit's last start; where systemd does not tell when that was, it is now.
func (s *systemd) lastStart(ctx context.Context, unit string) (unitStart, error) {
	properties, err := s.properties(ctx, unitObject(unit), unitInterface)
	if err != nil {
		return unitStart{}, fmt.Errorf("last start of %s: %w", unit, err)
	}
	start := unitStart{at: time.Now()}
	id, _ := properties["InvocationID"].([]byte)
	start.invocation = string(id)
	state, _ := properties["ActiveState"].(string)
	start.active = isActive(apply.UnitState{ActiveState: state})
	// Not by the time of day, which a machine that boots may be told meanwhile.
	var now unix.Timespec
	if entered := micros(properties["ActiveEnterTimestampMonotonic"]); entered > 0 && unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) == nil {
		start.at = start.at.Add(entered - time.Duration(now.Nano()))
	}
	return start, nil
}

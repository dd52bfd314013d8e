package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/poll"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/systemd"
)

// steadyInterval is how often a unit's health is checked, and how long a failed unit may take to start again.
const steadyInterval = 500 * time.Millisecond

// provenLongest is the longest that a unit is watched after its first healthy answer. A kubelet answers before it has
// set up what depends on its container runtime, and ends if that fails, as with kernel parameters that it requires and
// may not set (Kubernetes: pkg/kubelet/kubelet.go, initializeRuntimeDependentModules). It tries that at once, and then
// every five seconds.
const provenLongest = 5 * time.Second

// errUnsettled is the error of a unit that was watched for too short a time: its journal would not show more.
var errUnsettled = errors.New("is active, but was not seen to stay active")

// errEnded ends the watch of a start that has ended.
var errEnded = errors.New("has ended")

// becomesActive waits until a unit is active. For a unit that may fail, because another unit pulls it in again, it
// fails when that has happened more often than the check allows, or when no start has succeeded in time. Its error has
// the unit's output of the last failure that could be read: by now the unit may run again, without output.
func becomesActive(ctx context.Context, units *systemd.Manager, check *resource.Check) error {
	unit, fails, last := check.UnitActive, 0, ""
	var lines []string
	for {
		err := units.WaitActive(ctx, unit)
		if err == nil || check.Restarts == 0 || check.Steady > 0 {
			return err
		}
		if ctx.Err() == nil {
			start, err := units.LastStart(ctx, unit)
			if err != nil {
				return err
			}
			if start.Invocation != last {
				fails, last = fails+1, start.Invocation
				if wrote, err := units.Log(ctx, unit); err == nil && len(wrote) > 0 {
					lines = wrote
				}
			}
		}
		switch {
		case fails > check.Restarts:
			return withLines(unit, lines, fmt.Errorf("has failed %d times: %w", fails, err))
		case !poll.Sleep(ctx, steadyInterval) && fails > 0:
			return withLines(unit, lines, fmt.Errorf("has failed %d times, and is not seen to succeed", fails)) // not because time ran out
		case ctx.Err() != nil:
			return err
		}
	}
}

// withLines adds a unit's output to an error, if there is any.
func withLines(unit string, lines []string, err error) error {
	if len(lines) == 0 {
		return err
	}
	return &systemd.UnitError{Unit: unit, Lines: lines, Err: err}
}

// staysActive watches an active unit until it has been active for a time without interruption, or has proved that it is
// healthy. It returns an error with the unit's state as soon as the unit has ended more often than the check allows.
func staysActive(ctx context.Context, units *systemd.Manager, check *resource.Check) error {
	unit := check.UnitActive
	start, err := units.LastStart(ctx, unit)
	if err != nil {
		return err
	}
	for ends := 0; ; {
		if steady, err := outlasts(ctx, units, check, start); err != nil || steady {
			return err
		}
		if ends++; ends > check.Restarts {
			return fmt.Errorf("does not stay active: %s", ended(ctx, units, unit, ends))
		}
		// It can end again before the next look: each start counts.
		if start, err = units.WaitStart(ctx, unit, start); err != nil {
			return fmt.Errorf("does not stay active: %w", err)
		}
	}
}

// outlasts reports whether a unit's start lasts as long as it must, or the unit proves that it is healthy before the
// start ends. It does not poll systemd meanwhile: systemd would answer with all properties of the unit, and slow down a
// kubelet that is about to join.
func outlasts(ctx context.Context, units *systemd.Manager, check *resource.Check, start systemd.Start) (bool, error) {
	if !start.Active {
		return false, nil
	}
	proof := proof{start: start.At}
	done := func(ctx context.Context) bool {
		return time.Since(start.At) >= check.Steady.Std() || proof.holds(saysWell(ctx, check.Well), time.Now())
	}
	if done(ctx) {
		return true, nil
	}
	lasting, stop := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { stop(cmp.Or(units.WaitEnd(lasting, check.UnitActive, start), errEnded)) })
	defer watch.Wait()
	defer stop(nil)
	for poll.Sleep(lasting, steadyInterval) {
		if done(lasting) {
			return true, nil
		}
	}
	switch err := context.Cause(lasting); {
	case errors.Is(err, errEnded):
		return false, nil
	case ctx.Err() != nil:
		return false, fmt.Errorf("%w for %s: %w", errUnsettled, check.Steady, ctx.Err())
	default:
		return false, err
	}
}

// proof decides that a start of a unit lasts: the unit is healthy, and still is after the same time that it needed to
// become healthy. The work after a unit's first answer takes as long as the work before it, on a fast machine and on a
// slow one.
type proof struct{ start, first time.Time }

// holds reports whether an answer at a time is sufficient.
func (p *proof) holds(well bool, at time.Time) bool {
	switch {
	case !well:
		p.first = time.Time{}
		return false
	case p.first.IsZero():
		p.first = at
		return false
	}
	return at.Sub(p.first) >= min(p.first.Sub(p.start), provenLongest)
}

// ended describes a unit that has ended several times.
func ended(ctx context.Context, units *systemd.Manager, unit string, times int) string {
	text := "it ended, and was started again"
	if state, err := units.UnitState(ctx, unit); err == nil && !systemd.IsActive(state) {
		text = "is " + systemd.Describe(state)
	}
	if times > 1 {
		text = fmt.Sprintf("ended %d times, %s", times, text)
	}
	return text
}

// saysWell asks a unit's health endpoint once. Without an endpoint the result is false.
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

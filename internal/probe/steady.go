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

// steadyInterval is how often a unit is asked whether it is well, and how long a failed one gets to be started again.
const steadyInterval = 500 * time.Millisecond

// provenLongest is the longest that a unit which has said that it is well is watched on. A kubelet answers before it has set up what
// depends on its container runtime, and ends where that fails, as with kernel parameters that it wants and may not set
// (Kubernetes: pkg/kubelet/kubelet.go, initializeRuntimeDependentModules). It tries that at once, and then every five seconds.
const provenLongest = 5 * time.Second

// errUnsettled is that of a unit of which too little is seen to tell: its journal would have no more to say.
var errUnsettled = errors.New("is active, but was not seen to stay active")

// errEnded is why a start is not watched any more that has ended.
var errEnded = errors.New("has ended")

// becomesActive waits until a unit is active. One that may fail, because whatever pulls it in does so again, has failed
// when that has happened more often than the check allows, or when nothing else has come of it in time. Its error has
// what the unit wrote when it failed, the last time that this could be read: by now it may run again, with nothing written.
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
			return withLines(unit, lines, fmt.Errorf("has failed %d times, and is not seen to succeed", fails)) // not for want of time
		case ctx.Err() != nil:
			return err
		}
	}
}

// withLines adds what a unit wrote to an error, if that is anything.
func withLines(unit string, lines []string, err error) error {
	if len(lines) == 0 {
		return err
	}
	return &systemd.UnitError{Unit: unit, Lines: lines, Err: err}
}

// staysActive watches a unit that is active until it has been so for a time, in one piece, or has shown that it is
// well. It returns an error, which says how the unit is, as soon as it has ended more often than the
// check allows.
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
		// It can end again before anybody looks: each start counts.
		if start, err = units.WaitStart(ctx, unit, start); err != nil {
			return fmt.Errorf("does not stay active: %w", err)
		}
	}
}

// outlasts reports whether a unit's start lasts for as long as it must, or the unit shows that it is well before its start
// ends. systemd is not asked meanwhile: it would answer with all that it knows of the unit, at the expense of a kubelet that is about
// to join.
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

// proof is that a start of a unit lasts: it has said that it is well, and says so again when as much time has gone by since as it
// took to say so first. What a unit does after its first answer takes as long as what it did before, on a fast machine and on
// a slow one.
type proof struct{ start, first time.Time }

// holds reports whether an answer at a time is enough.
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

// ended says how a unit is that has ended some times.
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

package transition

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/resource"
)

// Change is a step of a running node. If the node's health checks fail, the last good generation is restored.
type Change struct {
	Step
	// Strict requires all of the plan now, and that the API server sees a healthy node with it. A rollback is not strict: it makes
	// do with what is possible.
	Strict bool
	// Final means that the change is not rolled back: it is a rollback, or there is no earlier generation.
	Final bool
	// Timeout bounds the change with its checks.
	Timeout time.Duration
	// Try, if not zero, is the time after which the change is rolled back unless an administrator confirms it.
	Try time.Duration
	// Waiting, if not nil, is called after the change is made and before the wait for the Node's lease, with the API server's address
	// and the longest wait.
	Waiting func(server string, upTo time.Duration)
}

// Compare returns the change, and the difference between the current generation and its plan. Without a current generation,
// everything differs. If the current generation has the same plan, nothing differs, and Compare does not read its record.
func (c Change) Compare(store *generation.Store, log *slog.Logger) (Change, *difference.Difference, error) {
	settled, err := c.settled(store)
	if err != nil {
		return c, nil, err
	}
	if settled {
		none, err := difference.Of(resource.Plan{}, resource.Plan{})
		return c, none, err
	}
	var before resource.Plan
	if current, found := store.Current(); found {
		if before, err = store.Plan(current.Number); err != nil {
			log.Warn("cannot read the current generation; everything counts as new", "generation", current.Number, "error", err)
		}
	}
	d, err := difference.Of(before, generation.Lasting(c.Plan))
	return c, d, err
}

// Permitted returns the change unless it exceeds the allowed class, or an administrator has masked one of its units. After an
// attempt has changed the machine, Permitted refuses nothing: the machine, not the contract, forces what follows.
func (c Change) Permitted(host Host, store *generation.Store, d *difference.Difference, allow difference.Class, made Made) (Change, error) {
	if beyond := d.Beyond(allow); len(beyond) > 0 && !made.Attempted {
		return c, outcome.Refused("this change needs --allow %s: %s (%s)", d.Class, beyond[0].Why, beyond[0].What)
	}
	if !c.Strict {
		return c, nil
	}
	if err := c.WantUnmasked(host, store); err != nil && made.Attempted {
		return c, err
	} else if err != nil {
		return c, outcome.Refused("%s", err)
	}
	return c, nil
}

// attempt is one attempt to make a change.
type attempt struct {
	*Node
	store  *generation.Store
	change Change
	made   Made
}

// Make makes the change, and rolls it back if the health checks fail. made is the result of an earlier attempt, for example for
// another API server address; Make continues it.
func (n *Node) Make(ctx context.Context, store *generation.Store, change Change, made Made) (Made, error) {
	t := attempt{n, store, change, made}
	t.made.Reports = nil
	err := n.guarded(func() error { return t.make(ctx) })
	return t.made, err
}

func (t *attempt) make(ctx context.Context) error {
	good, hasGood := t.store.LastGood()
	settled, err := t.change.settled(t.store)
	if err != nil {
		return err
	}
	before, _ := t.store.Current()
	report, err := t.advance(ctx, t.store, t.change.Step, func(health []resource.Resource) error {
		if err := t.well(ctx, health); err != nil || t.change.Try == 0 || settled {
			return err
		}
		return t.await(ctx)
	})
	t.applied(report)
	current, _ := t.store.Current()
	if settled || current != before {
		t.made.Generation = current.Number
	}
	t.made.Attempted = t.made.Attempted || err != nil || current != before || len(report.Changes) > 0 || t.change.Ask == Always
	switch {
	case err == nil && settled && !current.ConfirmBy.IsZero():
		return t.stillTried(ctx, current)
	case err == nil || current == before || !hasGood || t.change.Final:
		return err // also if nothing has started: the machine has another generation, which may be on trial
	}
	err = t.revert(ctx, good, err)
	if !current.ConfirmBy.IsZero() && t.made.Restored > 0 {
		cancelRevert(ctx, t.Node, current) // not before: this run may die on the way back
	}
	return err
}

// applied records the engine's report.
func (t *attempt) applied(report *apply.Report) { t.made.Reports = append(t.made.Reports, report) }

// well runs the health checks that follow a change. Before that, it calls Waiting with the check's server and timeout.
func (t *attempt) well(ctx context.Context, health []resource.Resource) (err error) {
	for _, r := range health {
		if check, ok := r.Spec.(*resource.Check); ok && check.LeaseRenewed != nil && t.change.Waiting != nil {
			t.change.Waiting(check.LeaseRenewed.Server, check.Timeout.Std())
		}
	}
	if t.change.Strict {
		t.made.Checked, err = t.healthy(ctx, health)
	} else {
		t.made.Checked, err = t.healthyAgain(ctx, health)
	}
	t.made.Checked = t.made.Checked && len(health) == len(t.change.Plan.Health)
	return err
}

// revertTimeout bounds a restoration, for which the time of the change itself does not count.
const revertTimeout = 3 * time.Minute

// revert restores a good generation after a change that failed. The error holds the change's error, and what failed during the
// rollback. If the caller has ended the run, revert does not wait for the node's health checks.
func (t *attempt) revert(ctx context.Context, good generation.Entry, cause error) error {
	if current, found := t.store.Current(); !found || current.Plan == good.Plan {
		return cause // it is the machine that is not well
	}
	t.Log.Warn("the change failed; rolling back to the last good generation", "generation", good.Number, "error", cause)
	hurried := ctx.Err() != nil && !errors.Is(context.Cause(ctx), outcome.ErrTimeout)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revertTimeout)
	defer cancel()
	failed := "cannot be restored"
	desired, err := t.store.Plan(good.Number)
	if err == nil {
		next := Step{Plan: desired, Entry: restoring(good), Ask: IfChanged}
		var report *apply.Report
		report, err = t.advance(ctx, t.store, next, func(health []resource.Resource) error {
			t.made.Restored, failed = good.Number, "is restored, and the node is not well with it"
			if hurried {
				return nil
			}
			_, err := t.healthyAgain(ctx, health)
			return err
		})
		t.applied(report)
	}
	if err != nil {
		return errors.Join(cause, &apply.Error{Resource: resource.ID("Generation:" + strconv.Itoa(good.Number)), Err: fmt.Errorf("%s: %w", failed, err)})
	}
	return cause
}

package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/status"
)

// ChangeOptions say how to change a node.
type ChangeOptions struct {
	// Config is the path of the contract; empty for the known places.
	Config string
	// Contract is used instead of reading Config, where not nil.
	Contract *source.Contract
	// Facts are used instead of gathering them, where not nil.
	Facts *facts.Facts
	// DryRun reports the difference, and changes nothing.
	DryRun bool
	// Allow is the greatest class of change that is made.
	Allow difference.Class
	// Force makes a change to a contract whose author gave it a lower number than the present one's.
	Force bool
	// Try takes the change back after that time, unless somebody has confirmed it; 0 for never.
	Try time.Duration
	// Deadline bounds the change with its checks; 0 for what the contract says.
	Deadline time.Duration
	// Origin is who asks.
	Origin generation.Origin
	// Show is called with the difference before anything is changed; it may be nil.
	Show func(*difference.Difference)
	// Waiting is called once the change is made, before the API server is asked whether the node is well, with its
	// address and how long that may take; it may be nil.
	Waiting func(server string, upTo time.Duration)
}

// Changed is what came of a change.
type Changed struct {
	Status *status.Status
	// Difference is that of the plans, nil where there are none to compare.
	Difference *difference.Difference
	// Refused says why nothing was tried; empty where something was.
	Refused string
	// Busy says that nothing was tried because another run is at work.
	Busy bool
	// Checked says that the node was asked whether it is well with the change, and that it is. A directory has
	// nothing to ask, a generation that an older version has recorded has no health checks, and after a way back the
	// API server may be out of reach.
	Checked bool
	// ConfirmBy is when the change was rolled back unless somebody has confirmed it; zero where it stays.
	ConfirmBy time.Time
}

// Change makes a running node be as another contract says, or as the same one says to a newer agent. It
// is refused where it would take more than is allowed. When the node is not well with it, the last good
// generation is restored.
func (a *Agent) Change(ctx context.Context, opts ChangeOptions) Changed {
	c := &change{
		provision: provision{Agent: a.withRoom(true), opts: ProvisionOptions{Config: opts.Config, Source: source.FileSource, Facts: opts.Facts, DryRun: opts.DryRun}, given: opts.Contract},
		allow:     opts.Allow, dryRun: opts.DryRun, try: opts.Try, deadline: opts.Deadline, show: opts.Show, waiting: opts.Waiting,
	}
	return c.do(ctx, func(store *generation.Store) (wanted, error) { return c.contractPlan(ctx, store, opts) })
}

// change is one run of Change or Rollback.
type change struct {
	provision
	allow         difference.Class
	dryRun        bool
	try, deadline time.Duration
	// patience is how long another run is waited for, 0 for as long as that may take.
	patience time.Duration
	// repairs says that there is no way back: this is one, or there was none.
	repairs bool
	// finishes says that it is a provisioning which failed or died: its result is published as that one's.
	finishes bool
	show     func(*difference.Difference)
	waiting  func(server string, upTo time.Duration)

	difference *difference.Difference
	// attempted says that something was changed, or would have been, and checked that the node is well with it.
	attempted, checked bool
	// timeout is how long it may take, once that is known.
	timeout time.Duration
	// confirmBy is when the change was rolled back, if it was made and is.
	confirmBy time.Time
}

// wanted is a plan to change to, and what its generation is to say of itself.
type wanted struct {
	advance
	// asked says that somebody wants all of the plan now, and that the API server sees the node well with it; a way back
	// makes do with what it may do.
	asked bool
	// timeout bounds the change with its checks.
	timeout time.Duration
}

// contractPlan plans what the contract says.
func (c *change) contractPlan(ctx context.Context, store *generation.Store, opts ChangeOptions) (wanted, error) {
	if err := c.recall(); err != nil {
		c.Log.Warn("the record of this machine cannot be read", "path", IdentityPath, "error", err)
	}
	desired, timeout, err := c.desired(ctx)
	if err != nil {
		return wanted{}, err
	}
	if current, found := store.Current(); found && !opts.Force {
		if err := notOlder(c.config.Metadata.Revision, current); err != nil {
			return wanted{}, err
		}
	}
	entry := c.entry(opts.Origin)
	return wanted{
		advance: advance{plan: desired, entry: entry}, asked: true, timeout: timeout,
	}, nil
}

// errNothingToDo says that there is nothing to change.
var errNothingToDo = errors.New("there is nothing to do")

// do makes a change to what want returns, which is called with the lock held.
func (c *change) do(ctx context.Context, want func(*generation.Store) (wanted, error)) Changed {
	c.account = outcome.Begin(c.Version, c.Now())
	c.account.Status.Config.Path = c.provision.opts.Config
	err := c.guarded(func() error { return c.run(ctx, want) })
	if errors.Is(err, errNothingToDo) {
		err = nil
	}
	c.conclude(err)
	c.room.hold(false)
	switch {
	case !c.attempted || c.stands():
	case c.finishes:
		c.publish(ctx)
	default:
		c.publisher().WriteStatus(c.result, c.target())
	}
	if c.release != nil && err == nil {
		_ = c.guarded(func() error { c.room.refill(); return nil })
	}
	c.unlock()
	changed := Changed{Status: &c.result.Status, Difference: c.difference, Busy: c.yielded, Checked: c.checked, ConfirmBy: c.confirmBy}
	if refused, ok := errors.AsType[outcome.Refusal](err); ok && !c.attempted {
		changed.Refused = refused.Why
	}
	return changed
}

func (c *change) run(ctx context.Context, want func(*generation.Store) (wanted, error)) error {
	if err := c.exclude(ctx); err != nil {
		return err
	}
	store, err := generation.Open(c.Host, c.Log)
	if err != nil {
		return err
	}
	w, err := want(store)
	if errors.Is(err, errNothingToDo) {
		current, _ := store.Current()
		c.account.Status.Generation = current.Number
	}
	if err != nil {
		return err
	}
	if c.timeout = w.timeout; c.deadline > 0 {
		c.timeout = c.deadline
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, outcome.ErrTimeout)
	defer cancel()
	err = c.settle(c.attempt(ctx, store, w), func() error {
		w, err := want(store)
		if err != nil {
			return err
		}
		return c.attempt(ctx, store, w)
	})
	return outcome.CutOff(ctx, c.timeout, err)
}

// attempt makes a change, where it is allowed and no dry run.
func (c *change) attempt(ctx context.Context, store *generation.Store, w wanted) error {
	c.account.Status.Config.Digest, c.account.Status.Config.Dialect, c.dialect = w.plan.Config, w.plan.Dialect, w.plan.Dialect
	if err := c.compare(store, &w.advance); err != nil {
		return err
	}
	if c.show != nil {
		c.show(c.difference)
	}
	if c.dryRun {
		return nil
	}
	if err := c.permitted(store, &w); err != nil {
		return err
	}
	return c.make(ctx, store, w)
}

// permitted refuses a change that takes more than is allowed, or that somebody has masked a unit of. Once something was
// made nothing is refused any more: what follows is what the machine forces, and not the contract.
func (c *change) permitted(store *generation.Store, w *wanted) error {
	if beyond := c.difference.Beyond(c.allow); len(beyond) > 0 && !c.attempted {
		return outcome.Refused("this change needs --allow %s: %s (%s)", c.difference.Class, beyond[0].Why, beyond[0].What)
	}
	if !w.asked {
		return nil
	}
	if err := c.unmasked(store, &w.advance); err != nil && c.attempted {
		return err
	} else if err != nil {
		return outcome.Refused("%s", err)
	}
	return nil
}

// exclude takes the lock, for no longer than another run may take. A dry run needs none, and leaves nothing
// behind.
func (c *change) exclude(ctx context.Context) error {
	if c.dryRun {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.patience, c.deadline, nodeconfig.DefaultTimeout.Std()))
	defer cancel()
	return c.lock(ctx)
}

// compare finds out how the current generation differs from a plan. Where there is none, everything does;
// where it has that very plan, nothing, and its record need not be read.
func (c *change) compare(store *generation.Store, desired *advance) error {
	settled, err := c.settled(store, desired)
	if err != nil {
		return err
	}
	if settled {
		c.difference, err = difference.Of(resource.Plan{}, resource.Plan{})
		return err
	}
	var before resource.Plan
	if current, found := store.Current(); found {
		if before, err = store.Plan(current.Number); err != nil {
			c.Log.Warn("cannot read the current generation; everything counts as new", "generation", current.Number, "error", err)
		}
	}
	c.difference, err = difference.Of(before, generation.Lasting(desired.plan))
	return err
}

// make makes the change, and takes it back when the node is not well with it.
func (c *change) make(ctx context.Context, store *generation.Store, w wanted) error {
	good, hasGood := store.LastGood()
	settled, err := c.settled(store, &w.advance)
	if err != nil {
		return err
	}
	if c.try > 0 && !settled {
		if !hasGood {
			return outcome.Refused("there is no good generation to roll back to: apply without --try")
		}
		if w.entry.ConfirmBy, err = c.guard(ctx, store, w.plan); err != nil {
			return err
		}
	}
	if c.config != nil {
		c.recordFacts()
		if _, err := c.moved(store); err != nil {
			return err
		}
	}
	w.verify = func(health []resource.Resource) error {
		if err := c.well(ctx, w, health); err != nil || c.try == 0 || settled {
			return err
		}
		return c.await(ctx, store)
	}
	if w.entry.Origin == generation.Provision && w.entry.Unfinished() {
		c.finishes, c.baseOnly = true, len(w.plan.Only(resource.Join).Resources) == 0
	}
	before, _ := store.Current()
	report, err := c.advance(ctx, store, w.advance)
	c.account.Applied(report)
	current, _ := store.Current()
	if settled || current != before {
		c.account.Status.Generation = current.Number
	}
	c.attempted = c.attempted || err != nil || current != before || len(report.Changes) > 0 || w.doubted
	switch {
	case err == nil && settled && !current.ConfirmBy.IsZero():
		return c.stillTried(ctx, store, current)
	case err == nil || current == before || !hasGood || c.repairs:
		return err // also where nothing was begun: what the machine has is another generation's, which may be on trial
	}
	err = c.revert(ctx, store, good, err)
	if !current.ConfirmBy.IsZero() && c.account.Status.Restored > 0 {
		c.cancelRevert(ctx, current) // not before: this run may die on the way back
	}
	return err
}

// well performs the health checks that follow a change, and says before how long they may take.
func (c *change) well(ctx context.Context, w wanted, health []resource.Resource) (err error) {
	for _, r := range health {
		if check, ok := r.Spec.(*resource.Check); ok && check.LeaseRenewed != nil && c.waiting != nil {
			c.waiting(check.LeaseRenewed.Server, check.Timeout.Std())
		}
	}
	if w.asked {
		c.checked, err = c.healthy(ctx, health)
	} else {
		c.checked, err = c.healthyAgain(ctx, health)
	}
	c.checked = c.checked && len(health) == len(w.plan.Health)
	return err
}

// revertTimeout bounds a restoration, for which the time of the change itself does not count.
const revertTimeout = 3 * time.Minute

// revert restores a good generation after a change that failed. The error is the change's own, and what
// went wrong on the way back. Whoever has asked the run to end does not wait for the node's health checks.
func (c *change) revert(ctx context.Context, store *generation.Store, good generation.Entry, cause error) error {
	if current, found := store.Current(); !found || current.Plan == good.Plan {
		return cause // it is the machine that is not well
	}
	c.Log.Warn("the change failed; rolling back to the last good generation", "generation", good.Number, "error", cause)
	hurried := ctx.Err() != nil && !errors.Is(context.Cause(ctx), outcome.ErrTimeout)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revertTimeout)
	defer cancel()
	failed := "cannot be restored"
	desired, err := store.Plan(good.Number)
	if err == nil {
		next := advance{plan: desired, entry: restoring(good)}
		next.verify = func(health []resource.Resource) error {
			c.account.Status.Restored, failed = good.Number, "is restored, and the node is not well with it"
			if hurried {
				return nil
			}
			_, err := c.healthyAgain(ctx, health)
			return err
		}
		var report *apply.Report
		report, err = c.advance(ctx, store, next)
		c.account.Applied(report)
	}
	if err != nil {
		return errors.Join(cause, &apply.Error{Resource: resource.ID("Generation:" + strconv.Itoa(good.Number)), Err: fmt.Errorf("%s: %w", failed, err)})
	}
	return cause
}

// restoring is the entry of a generation that has another one's plan.
func restoring(e generation.Entry) generation.Entry {
	return generation.Entry{Origin: generation.Rollback, Restores: e.Number, Revision: e.Revision, Addresses: e.Addresses}
}

// notOlder refuses a contract whose author gave it a lower revision than the current generation's has.
func notOlder(revision int64, current generation.Entry) error {
	if revision >= current.Revision {
		return nil
	}
	return outcome.Refusal{ExitCode: exitcode.ContractOlder, Why: fmt.Sprintf("the contract has revision %d, and the node already has %d: the node stays as it is; --force applies an older contract",
		revision, current.Revision)}
}

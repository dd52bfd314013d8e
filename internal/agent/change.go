package agent

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/publish"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/internal/transition"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/status"
)

// ChangeOptions configure a change of a node.
type ChangeOptions struct {
	// Config is the path of the contract. Empty means the known places.
	Config string
	// Contract is used instead of reading Config, where not nil.
	Contract *source.Contract
	// Facts are used instead of gathering them, where not nil.
	Facts *facts.Facts
	// DryRun reports the difference, and changes nothing.
	DryRun bool
	// Allow is the greatest class of change that is made.
	Allow difference.Class
	// Force also changes to a contract with a lower revision than the node's.
	Force bool
	// AllowUnapplied are as those of ProvisionOptions.
	AllowUnapplied []string
	// Reading is how to read the contract, set by flags.
	Reading compile.Reading
	// Try takes the change back after that time, unless the user confirms it. 0 means never.
	Try time.Duration
	// Deadline bounds the change with its checks. 0 means the contract's timeout.
	Deadline time.Duration
	// Origin is the requester.
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
	// Difference is between the plans. It is nil if there are no plans to compare.
	Difference *difference.Difference
	// Refused is why the agent tried nothing. It is empty if the agent tried the change.
	Refused string
	// Busy reports that the agent tried nothing because another run is at work.
	Busy bool
	// Checked reports whether the node's health was checked after the change and is good. It is false if the host is a
	// directory, if an older version recorded the generation (without health checks), or if the API server is
	// unreachable after a rollback.
	Checked bool
	// ConfirmBy is when the change is rolled back unless the user confirms it. It is zero if the change stays.
	ConfirmBy time.Time
}

// Change applies another contract to a running node, or the same contract with a newer agent. It refuses a change of a
// greater class than the caller allows. If the node is not healthy after the change, it restores the last good
// generation.
func (a *Agent) Change(ctx context.Context, opts ChangeOptions) Changed {
	r := begin(a, opts.Config, true)
	r.given, r.dryRun, r.allowed, r.reading = opts.Facts, opts.DryRun, opts.AllowUnapplied, opts.Reading
	var machine identity.Machine
	var contract *contract
	want := func(ctx context.Context, store *generation.Store) (next transition.Change, err error) {
		if contract == nil { // read it once, even if the node is planned with it several times
			machine = recall(r)
			found, err := locate(ctx, r, machine, lookup{given: opts.Contract, path: opts.Config, only: source.FileSource})
			if err != nil {
				return next, err
			}
			if contract, err = read(r, found, machine.Facts); err != nil {
				return next, err
			}
			if last, err := publish.LastStatus(r.host); err == nil && isLegacy(last) {
				return next, outcome.Refused("the image's own scripts have made this node, and only they know how to change it; " +
					"slipway-node provision --mode native has Slipway make it")
			}
		}
		step, err := planStep(ctx, r, contract, &machine, opts.Origin)
		if err != nil {
			return next, err
		}
		if !opts.Force {
			if err := transition.Older(store, step); err != nil {
				return next, err
			}
		}
		return transition.Change{Step: step, Strict: true, Timeout: contract.Config.Checks.Timeout.Std(), Try: opts.Try, Waiting: opts.Waiting}, nil
	}
	return change(ctx, r, terms{allow: opts.Allow, deadline: opts.Deadline, show: opts.Show}, &machine, want)
}

// terms are the limits of a change of a running node.
type terms struct {
	// allow is the greatest class of change that is made.
	allow difference.Class
	// patience is how long to wait for another run. 0 means as long as that run may take.
	patience time.Duration
	// deadline bounds the change with its checks. 0 means the change's own timeout.
	deadline time.Duration
	// show is called with the difference before anything is changed; it may be nil.
	show func(*difference.Difference)
}

// errNothingToDo means that the machine needs no change.
var errNothingToDo = errors.New("there is nothing to do")

// change makes the change that want returns. It calls want with the lock held, and a second time if the machine has
// lost an address meanwhile. machine is nil for a change to an earlier plan.
func change(ctx context.Context, r *run, t terms, machine *identity.Machine, want func(context.Context, *generation.Store) (transition.Change, error)) Changed {
	var next transition.Change
	var made transition.Made
	var changed Changed
	lock := newLock(r)
	err := r.guarded(func() error {
		store, err := openExclusively(ctx, r, lock, t)
		if err != nil {
			return err
		}
		plan := func(ctx context.Context) (err error) {
			next, err = want(ctx, store)
			next.Timeout = cmp.Or(t.deadline, next.Timeout)
			return err
		}
		if err := plan(ctx); err != nil {
			if current, _ := store.Current(); errors.Is(err, errNothingToDo) {
				r.account.Status.Generation = current.Number
			}
			return err
		}
		return settle(ctx, r, next.Timeout, machine, func(ctx context.Context) (err error) {
			if next, changed.Difference, err = permit(r, store, t, next, made); err != nil || r.dryRun {
				return err
			}
			made, err = makeChange(ctx, r, store, machine, next, made)
			return err
		}, plan)
	})
	if errors.Is(err, errNothingToDo) {
		err = nil
	}
	result := r.conclude(err)
	if made.Attempted {
		result = publishChange(ctx, r, lock, next, result)
	}
	if lock.held() && err == nil {
		_ = r.guarded(func() error { r.host.refill(); return nil })
	}
	lock.giveBack()
	result = r.afterwards(ctx, lock, result)
	changed.Status, changed.Busy, changed.Checked, changed.ConfirmBy = &result.Status, lock.yielded, made.Checked, made.ConfirmBy
	if refused, ok := errors.AsType[outcome.Refusal](err); ok && !made.Attempted {
		changed.Refused = refused.Why
	}
	return changed
}

// openExclusively opens the generations, with the lock held, for which it waits no longer than another run may take. A dry
// run needs no lock, and leaves nothing behind.
func openExclusively(ctx context.Context, r *run, lock *lock, t terms) (*generation.Store, error) {
	if !r.dryRun {
		if err := lock.takeWithin(ctx, cmp.Or(t.patience, t.deadline, nodeconfig.DefaultTimeout.Std())); err != nil {
			return nil, err
		}
	}
	return generation.Open(r.host, r.log)
}

// permit compares a change with what the machine has, shows the difference, and refuses one that is not allowed.
func permit(r *run, store *generation.Store, t terms, next transition.Change, made transition.Made) (transition.Change, *difference.Difference, error) {
	config := &r.account.Status.Config
	config.Digest, config.Dialect, r.target.Dialect = next.Plan.Config, next.Plan.Dialect, next.Plan.Dialect
	next, d, err := next.Compare(store, r.log)
	if err != nil {
		return next, d, err
	}
	if t.show != nil {
		t.show(d)
	}
	if r.dryRun {
		return next, d, nil
	}
	next, err = next.Permitted(r.host, store, d, t.allow, made)
	return next, d, err
}

// makeChange makes a change, with a way back that does not need this run.
func makeChange(ctx context.Context, r *run, store *generation.Store, machine *identity.Machine, next transition.Change, made transition.Made) (transition.Made, error) {
	next, err := r.node().GuardTrial(ctx, store, next)
	if err != nil {
		return made, err
	}
	if machine != nil {
		recordFacts(r, machine.Facts)
		if _, err := removeLostAddress(r, store, machine.Facts); err != nil {
			return made, err
		}
	}
	made, err = r.node().Make(ctx, store, next, made)
	r.record(made)
	if err != nil {
		return made, err
	}
	return register(ctx, r, store, made)
}

// publishChange publishes a change's status. It publishes the result too if a program may wait for it or has read
// another one: if a repair finishes a provisioning that has failed or died, and if a change makes a node healthy that
// is published as failed. A failed repair publishes no second failure: the published one has more detail (its contract,
// and the places where the agent looked for it).
func publishChange(ctx context.Context, r *run, lock *lock, next transition.Change, result outcome.Result) outcome.Result {
	finishes := next.Entry.Origin == generation.Provision && next.Entry.Unfinished()
	failed, err := publish.FailureMarked(r.host)
	mends := err == nil && failed && result.Succeeded()
	if finishes || mends {
		r.target.BaseOnly = len(next.Plan.Only(resource.Join).Resources) == 0
	}
	switch {
	case mends: // the failure may be published at either path
		if err := r.publisher().RemoveMarkers(r.target); err != nil {
			r.log.Error("the result of an earlier provisioning cannot be removed", "error", err)
		}
	case next.Final && !result.Succeeded() && publish.FailureStands(r.host) && (!finishes || publish.Marked(r.host, r.target)):
		return result // no result is published: the run died after it removed the last one, and a program waits for one
	case !finishes:
		r.publisher().WriteStatus(result, r.target)
		return result
	}
	return publishResult(ctx, r, lock, result)
}

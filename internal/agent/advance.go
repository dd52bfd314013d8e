package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
)

// advance is a step from one generation to the next.
type advance struct {
	plan resource.Plan
	// digest is the plan's, once somebody has asked for it.
	digest string
	// masked are the current generation's units that somebody has masked, once asked says so.
	masked []string
	asked  bool
	// entry is what the index is to say of the generation; its number and outcome come by themselves.
	entry generation.Entry
	// all says that somebody else's decisions are undone, too: masks and drop-ins of units.
	all bool
	// verify reports whether the machine is well with it, by those of the plan's health checks that can be asked; nil for a
	// plan whose own checks say so. Where nothing had to be changed it is asked only if that is doubted, and at a first boot
	// never.
	verify  func(health []resource.Resource) error
	doubted bool
}

// engine is what changes this machine.
func (a *Agent) engine() *apply.Engine {
	return &apply.Engine{Host: a.Host, Now: a.Now, Log: a.Log, Sequential: a.Sequential}
}

// advance applies a plan as a generation, and records what came of it. A machine that has it already is
// compared, and nothing is recorded, were it not to be put right: the generation was good, and what is wrong
// now is the machine. The caller holds the lock.
func (a *Agent) advance(ctx context.Context, store *generation.Store, next advance) (*apply.Report, error) {
	engine := a.engine()
	if next.plan.Config == "" {
		return engine.Apply(ctx, next.plan) // a script's: nobody knows what it does
	}
	settled, err := a.settled(store, &next)
	if err != nil {
		return new(apply.Report), err
	}
	a.room.hold(!settled && next.entry.Origin != generation.Rollback)
	defer a.room.hold(false)
	desired := next.plan
	if err := a.findMasked(store, &next); err != nil {
		return new(apply.Report), err
	}
	switch {
	case next.all:
		if engine.Stale, err = a.added(store); err != nil {
			return new(apply.Report), err
		}
	case len(next.masked) > 0:
		a.Log.Warn("somebody has masked units; they are left so", "units", next.masked)
		desired = without(desired, next.masked)
	}
	if !settled {
		if err := engine.Writable(desired); err != nil {
			return new(apply.Report), err
		}
		next.entry.StartedAt = a.Now()
		if next.entry, err = store.Begin(ctx, next.entry, next.plan); err != nil {
			return new(apply.Report), err
		}
		stale, restored := store.Stale(next.plan)
		engine.Stale = append(engine.Stale, stale...)
		desired.Resources = slices.Concat(desired.Resources, restored)
		desired.Sort()
	}
	report, err := engine.Apply(ctx, desired)
	err = a.blamed(ctx, err)
	// A first boot's kubelet may take longer to join than these checks wait.
	first := !settled && next.entry.Origin == generation.Provision
	if err == nil && next.verify != nil && !first && (!settled || len(report.Changes) > 0 || next.doubted) {
		err = next.verify(desired.Health)
	}
	if settled && err == nil {
		err = store.Settled(next.entry)
	}
	if settled {
		return report, err
	}
	return report, a.finish(store, err)
}

// blamed puts a container runtime that does not answer before a kubelet that failed, for want of it.
func (a *Agent) blamed(ctx context.Context, err error) error {
	if err == nil || outcome.Code(err) != exitcode.KubeletStartFailed {
		return err
	}
	asked := plan.RuntimeCheck()
	check := asked.Spec.(*resource.Check)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), check.Timeout.Std())
	defer cancel()
	silent := a.guarded(func() error { return a.Host.Probe(ctx, check) })
	if silent == nil || errors.Is(silent, apply.ErrNotProbed) {
		return err
	}
	// Its time is over, and not the run's.
	return errors.Join(&apply.Error{Resource: asked.ID(), ExitCode: asked.ExitCode,
		Err: fmt.Errorf("the container runtime does not answer, which the kubelet needs: %s", silent.Error())}, err)
}

// finish records what came of the current generation. The error is the apply's own, or else that the success cannot be
// recorded: the generation has failed then, because it would be rolled back to as a good one otherwise.
func (a *Agent) finish(store *generation.Store, err error) error {
	if err == nil {
		if err = store.Finish(generation.Good, "", a.Now()); err == nil {
			return nil
		}
	}
	a.room.hold(false)
	reason := outcome.Text(err)
	if recording := store.Finish(generation.Failed, reason, a.Now()); recording != nil {
		a.Log.Warn("the generation's outcome cannot be recorded", "error", recording)
	}
	return err
}

// settled reports whether a plan is the current generation's, which was good.
func (a *Agent) settled(store *generation.Store, next *advance) (bool, error) {
	current, found := store.Current()
	if !found || current.Outcome != generation.Good || current.Config != next.plan.Config {
		return false, nil
	}
	var err error
	if next.digest == "" {
		next.digest, err = generation.Digest(next.plan)
	}
	return next.digest == current.Plan, err
}

// supersede returns what a boot is to apply instead of its contract, where that is not the newest
// word: a contract in the machine's user data stays as it was when the machine was made, while "apply"
// and "rollback" have changed the machine since. A generation that nobody has confirmed does not outlive
// the boot, and neither does one that failed, or whose apply has died. A contract that the node was not well
// with while it ran is not tried again by a boot, which would not go back.
func (p *provision) supersede(store *generation.Store, next advance) advance {
	current, found := store.Current()
	if !found || current.Origin == generation.Provision {
		return next
	}
	if current.Provisioned != next.plan.Config && !takenBack(store.Entries(), next.plan.Config) {
		return next
	}
	keep, entry, found := standing(store)
	if keep.Number != current.Number {
		p.Log.Warn("rolling back a generation that failed or was not confirmed", "generation", current.Number, "outcome", current.Outcome)
	}
	if !found {
		return next
	}
	if keep.Config == next.plan.Config && keep.Origin != generation.Rollback {
		return next // the contract, as this agent plans it
	}
	desired, err := store.Plan(keep.Number)
	if err != nil {
		p.Log.Warn("the generation cannot be read; the contract is applied", "generation", keep.Number, "error", err)
		return next
	}
	p.Log.Info("this contract was replaced after it was provisioned", "generation", keep.Number, "origin", keep.Origin)
	return advance{plan: desired, entry: entry}
}

// standing is the generation that the node stays with, and what applying it again is to say of itself: the current
// one, or the last good one where that failed, was not finished, or waits to be confirmed. A provisioning has nowhere
// to go back to.
func standing(store *generation.Store) (keep, entry generation.Entry, found bool) {
	current, found := store.Current()
	if !found || current.Origin == generation.Provision || current.ConfirmBy.IsZero() && !current.Unfinished() {
		return current, current, found
	}
	keep, found = store.LastGood()
	return keep, restoring(keep), found
}

// outdated refuses a contract that is older than the one that the node stays with: somebody may be replaying it. The
// one that was provisioned last is not: it is what a boot finds where everything newer is lost.
func (p *provision) outdated(store *generation.Store, desired resource.Plan) error {
	keep, _, found := standing(store)
	if !found || keep.Provisioned == desired.Config {
		return nil
	}
	return notOlder(p.config.Metadata.Revision, keep)
}

// stay is what the node has, to be applied again.
func stay(store *generation.Store) (advance, error) {
	keep, entry, _ := standing(store)
	desired, err := store.Plan(keep.Number)
	return advance{plan: desired, entry: entry}, err
}

// takenBack reports whether the last generation of a config failed, and the current one restores what was
// before it.
func takenBack(entries []generation.Entry, config string) bool {
	if entries[len(entries)-1].Origin != generation.Rollback {
		return false
	}
	for _, e := range slices.Backward(entries) {
		if e.Config == config && e.Origin != generation.Rollback {
			return e.Outcome == generation.Failed
		}
	}
	return false
}

package agent

import (
	"context"
	"errors"

	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/publish"
	"github.com/slipway-dev/slipway/internal/transition"
)

// boot applies the desired step to the machine. It holds the lock from before it removes the marker of an earlier run
// until it has published its marker: two runs at once do not see each other's. It reports whether nothing had to be
// done and the earlier result is still true.
func boot(ctx context.Context, r *run, lock *lock, machine *identity.Machine, desired transition.Step, force bool) (unchanged bool, err error) {
	if err := takeLock(ctx, r, lock); err != nil {
		return false, err
	}
	recordFacts(r, machine.Facts)
	store, err := generation.Open(r.host, r.log)
	if err != nil {
		return false, err
	}
	next, refusal, err := choose(r, store, machine, desired, force)
	if err != nil {
		return false, errors.Join(refusal, err)
	}
	r.account.Status.Config.Digest = next.Plan.Config
	if err := next.WantUnmasked(r.host, store); err != nil {
		return false, errors.Join(r.publisher().RemoveMarkers(r.target), err)
	}
	stands := publish.SuccessStands(r.host, next.Plan.Config, r.target)
	if !stands || refusal != nil {
		if err := r.publisher().RemoveMarkers(r.target); err != nil {
			return false, err
		}
	}
	made, err := r.node().Boot(ctx, store, next)
	r.record(made)
	return err == nil && refusal == nil && stands && len(r.account.Status.Changes) == 0, errors.Join(err, refusal)
}

// takeLock takes the lock and records that as a step: another run may hold it.
func takeLock(ctx context.Context, r *run, lock *lock) error {
	begin := r.now()
	err := lock.take(ctx)
	r.step(outcome.StepLock, begin)
	return err
}

// choose returns the step to make: the contract's, unless a newer decision exists (an apply, a rollback). If the
// contract is refused because it is older than the node's, choose returns the node's generation and the refusal.
func choose(r *run, store *generation.Store, machine *identity.Machine, desired transition.Step, force bool) (next transition.Step, refusal, err error) {
	if machine.Foreign != nil { // what was applied since was for another machine, or another address
		return desired, nil, nil
	}
	moved, err := removeLostAddress(r, store, machine.Facts)
	if err != nil {
		return desired, nil, err
	}
	next = desired
	if moved {
		machine.Foreign = machine.Last // what was applied since its contract was for the other address
	}
	if machine.Foreign == nil {
		next = transition.Supersede(store, r.log, next)
	}
	if refusal = outdated(store, next, force); refusal == nil {
		return next, nil, nil
	}
	r.log.Warn("the contract is older than the node's; the node stays as it is", "error", refusal)
	next, err = transition.Stay(store, desired.Ask)
	return next, refusal, err
}

// outdated refuses the contract where that is to be applied, and is older than the one that the node has.
func outdated(store *generation.Store, next transition.Step, force bool) error {
	if force || next.Entry.Origin != generation.Provision {
		return nil
	}
	return transition.Outdated(store, next)
}

// preview reports what would be done.
func preview(ctx context.Context, r *run, machine identity.Machine, desired transition.Step, force bool) error {
	if machine.Foreign == nil {
		store, err := generation.Open(r.host, r.log)
		if err != nil {
			return err
		}
		desired = transition.Supersede(store, r.log, desired)
		if err := outdated(store, desired, force); err != nil {
			return err
		}
	}
	report, err := r.node().Preview(ctx, desired.Plan)
	r.account.Applied(report)
	return err
}

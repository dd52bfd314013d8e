package transition

import (
	"fmt"
	"log/slog"
	"slices"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/outcome"
)

// Supersede returns what a boot applies instead of its contract, if the machine has something newer: a contract in the machine's
// user data never changes after the machine is made, while "apply" and "rollback" have changed the machine since. A generation
// on trial does not outlive the boot unless it is confirmed. Neither does a generation that failed, or whose apply died. If a
// contract failed its health checks while the node ran, a boot does not try it again, because a boot would not roll it back.
func Supersede(store *generation.Store, log *slog.Logger, next Step) Step {
	current, found := store.Current()
	if !found || current.Origin == generation.Provision {
		return next
	}
	if current.Provisioned != next.Plan.Config && !takenBack(store.Entries(), next.Plan.Config) {
		return next
	}
	keep, entry, found := standing(store)
	if keep.Number != current.Number {
		log.Warn("rolling back a generation that failed or was not confirmed", "generation", current.Number, "outcome", current.Outcome)
	}
	if !found {
		return next
	}
	if keep.Config == next.Plan.Config && keep.Origin != generation.Rollback {
		return next // the contract, as this agent plans it
	}
	desired, err := store.Plan(keep.Number)
	if err != nil {
		log.Warn("the generation cannot be read; the contract is applied", "generation", keep.Number, "error", err)
		return next
	}
	log.Info("this contract was replaced after it was provisioned", "generation", keep.Number, "origin", keep.Origin)
	return Step{Plan: desired, Entry: entry, Ask: next.Ask}
}

// standing returns the generation that the node keeps, and the index entry for applying it again. It is the current generation,
// or the last good one if the current one failed, is unfinished or waits for confirmation. A provisioning has no earlier
// generation to go back to.
func standing(store *generation.Store) (keep, entry generation.Entry, found bool) {
	current, found := store.Current()
	if !found || current.Origin == generation.Provision || current.ConfirmBy.IsZero() && !current.Unfinished() {
		return current, current, found
	}
	keep, found = store.LastGood()
	return keep, restoring(keep), found
}

// Outdated refuses a contract that is older than the one that the node keeps: it may be a replay. It accepts the contract that
// was provisioned last: a boot finds that one if everything newer is lost.
func Outdated(store *generation.Store, desired Step) error {
	keep, _, found := standing(store)
	if !found || keep.Provisioned == desired.Plan.Config {
		return nil
	}
	return notOlder(desired.Entry.Revision, keep)
}

// Older refuses a contract that is older than the current generation's.
func Older(store *generation.Store, desired Step) error {
	current, found := store.Current()
	if !found {
		return nil
	}
	return notOlder(desired.Entry.Revision, current)
}

// notOlder refuses a contract whose author gave it a lower revision than the generation's has.
func notOlder(revision int64, current generation.Entry) error {
	if revision >= current.Revision {
		return nil
	}
	return outcome.Refusal{ExitCode: exitcode.ContractOlder, Why: fmt.Sprintf("the contract has revision %d, and the node already has %d: the node stays as it is; --force applies an older contract",
		revision, current.Revision)}
}

// Stay is what the node has, to be applied again.
func Stay(store *generation.Store, ask When) (Step, error) {
	keep, entry, _ := standing(store)
	desired, err := store.Plan(keep.Number)
	return Step{Plan: desired, Entry: entry, Ask: ask}, err
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

// Restore is the step to a generation: the one of a number, or for 0 the last good one before the current that has
// another plan.
func Restore(store *generation.Store, number int) (Step, error) {
	target, found := store.Find(number)
	if number == 0 {
		target, found = lastGoodBefore(store.Entries())
	}
	switch {
	case !found && number == 0:
		return Step{}, noneBefore()
	case !found:
		return Step{}, outcome.Refused("there is no generation %d; \"slipway-node status --generations\" lists those that are kept", number)
	}
	return restore(store, target)
}

// RestoreLastGood is the step to the last good generation.
func RestoreLastGood(store *generation.Store) (Step, error) {
	target, found := store.LastGood()
	if !found {
		return Step{}, noneBefore()
	}
	return restore(store, target)
}

func noneBefore() error { return outcome.Refused("there is no good generation before the current one") }

func restore(store *generation.Store, target generation.Entry) (Step, error) {
	desired, err := store.Plan(target.Number)
	return Step{Plan: desired, Entry: restoring(target), Ask: IfChanged}, err
}

// restoring is the entry of a generation that has another one's plan.
func restoring(e generation.Entry) generation.Entry {
	return generation.Entry{Origin: generation.Rollback, Restores: e.Number, Revision: e.Revision, Addresses: e.Addresses}
}

// lastGoodBefore is the newest good generation that has another plan than the current one.
func lastGoodBefore(entries []generation.Entry) (generation.Entry, bool) {
	current := entries[len(entries)-1]
	for _, e := range slices.Backward(entries) {
		if e.Plan != current.Plan && e.Stands() {
			return e, true
		}
	}
	return generation.Entry{}, false
}

// TriesEach is the number of rollbacks to a good generation before an older one is tried.
const TriesEach = 3

// Repair returns the step that repairs the machine. attempt counts the attempts that have failed before. If the current
// generation was good, the step applies it again. If a change failed, or its apply died, the step rolls back to the last good
// generation, and after repeated failures to an older one. A provisioning has no earlier generation, so the step applies it
// again.
func Repair(store *generation.Store, current generation.Entry, attempt int) (Step, error) {
	if current.Unfinished() && current.Origin != generation.Provision {
		var ways []Step
		seen := make(map[string]bool)
		for _, e := range slices.Backward(store.Entries()) {
			if !e.Stands() || seen[e.Plan] {
				continue
			}
			if way, err := restore(store, e); err == nil {
				seen[e.Plan] = true
				ways = append(ways, way)
			}
		}
		if len(ways) > 0 {
			return ways[attempt/TriesEach%len(ways)], nil
		}
	}
	desired, err := store.Plan(current.Number)
	return Step{Plan: desired, Entry: current, Ask: IfChanged}, err
}

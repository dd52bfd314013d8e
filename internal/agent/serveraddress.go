package agent

import (
	"context"

	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/internal/plan/network"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/internal/transition"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// ServerAddress returns the API server's address that the current generation has in /etc/hosts, "" where it is not known yet.
// kept is false for a node that has nothing to do with it, and for a machine without a generation.
func (a *Agent) ServerAddress() (address string, kept bool, err error) {
	r := begin(a, "", false)
	err = r.guarded(func() error {
		planned, err := r.currentPlan()
		if err == nil {
			address, kept = network.ServerAddress(planned)
		}
		return err
	})
	return address, kept, err
}

// Retag makes the node be as its current generation says, on a machine with other tags. What is planned again is the current
// generation and not a contract: the contract that is there now may be one that was refused, and a node that was rolled back
// stays so. The API server is not asked whether the node is well. An address that does not answer is no reason to go back to
// one that the machine's owner has taken away.
func (a *Agent) Retag(ctx context.Context, tags facts.Tags) Changed {
	r := begin(a, "", true)
	return change(ctx, r, terms{allow: difference.Replace, patience: repairPatience}, nil, func(_ context.Context, store *generation.Store) (transition.Change, error) {
		current, found := store.Current()
		if !found || current.Unfinished() && current.Origin != generation.Provision || !current.ConfirmBy.IsZero() {
			return transition.Change{}, errNothingToDo // it is about to be another one
		}
		planned, err := store.Plan(current.Number)
		if err != nil {
			return transition.Change{}, err
		}
		desired, changed := network.WithServerAddress(planned, tags.APIServerAddress)
		if !changed {
			return transition.Change{}, errNothingToDo
		}
		recordTags(r, tags)
		entry := generation.Entry{Origin: generation.Watch, Revision: current.Revision, Addresses: current.Addresses}
		switch {
		case current.Unfinished(): // somebody waits for its result
			entry.Origin, entry.Outcome = generation.Provision, current.Outcome
		case current.Origin == generation.Rollback: // the next boot does not undo it
			entry.Origin, entry.Restores = generation.Rollback, current.Restores
		}
		step := transition.Step{Plan: desired, Entry: entry, Ask: transition.Never}
		return transition.Change{Step: step, Timeout: nodeconfig.DefaultTimeout.Std()}, nil
	})
}

// recordTags records the machine's tags, for the plans that are made later, and in the facts that the current one is made
// from.
func recordTags(r *run, tags facts.Tags) {
	if err := identity.RecordTags(r.host, tags); err != nil {
		r.log.Warn("cannot record the machine's tags; a later plan may have the former ones", "path", IdentityPath, "error", err)
	}
	data, err := state.Facts.Read(r.host)
	if err != nil {
		return // the next boot records them
	}
	known, err := facts.Parse(data)
	if err != nil {
		return
	}
	if known.Instance == nil {
		known.Instance = new(facts.Instance)
	}
	known.Instance.Tags = tags.After(known.Instance.Tags)
	recordFacts(r, known)
}

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

// ServerAddress returns the API server's address that the current generation has in /etc/hosts, or "" if it is not
// known yet. kept is false for a node without such a line, and for a machine without a generation.
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

// Retag applies the current generation to a machine with other tags. It plans the current generation again and not a
// contract: the present contract may have been refused, and a node that was rolled back must stay so. It does not check
// the node's health. If the new address does not answer, the node still does not go back to an address that the
// machine's owner has removed.
func (a *Agent) Retag(ctx context.Context, tags facts.Tags) Changed {
	r := begin(a, "", true)
	return change(ctx, r, terms{allow: difference.Replace, patience: repairPatience}, nil, func(_ context.Context, store *generation.Store) (transition.Change, error) {
		current, found := store.Current()
		if !found || current.Unfinished() && current.Origin != generation.Provision || !current.ConfirmBy.IsZero() {
			return transition.Change{}, errNothingToDo // another change is about to replace it
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
		case current.Unfinished(): // a program waits for its result
			entry.Origin, entry.Outcome = generation.Provision, current.Outcome
		case current.Origin == generation.Rollback: // the next boot does not undo it
			entry.Origin, entry.Restores = generation.Rollback, current.Restores
		}
		step := transition.Step{Plan: desired, Entry: entry, Ask: transition.Never}
		return transition.Change{Step: step, Timeout: nodeconfig.DefaultTimeout.Std()}, nil
	})
}

// recordTags records the machine's tags, for later plans and in the current plan's facts.
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

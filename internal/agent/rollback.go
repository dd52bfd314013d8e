package agent

import (
	"context"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// RollbackOptions say which generation to restore.
type RollbackOptions struct {
	// Number is the generation's; 0 for the last good one before the current.
	Number int
	// Unconfirmed restores the last good generation if the current one has this number and nobody has
	// confirmed it, and does nothing otherwise; 0 for a rollback that somebody asks for.
	Unconfirmed int
	// Until is the time until which it waited to be confirmed when its rollback was scheduled; the zero time
	// for any.
	Until time.Time
	// DryRun, Allow, Show and Waiting are as for a change.
	DryRun  bool
	Allow   difference.Class
	Show    func(*difference.Difference)
	Waiting func(server string, upTo time.Duration)
}

// Rollback restores an earlier generation, with what has been removed since, as a new generation.
func (a *Agent) Rollback(ctx context.Context, opts RollbackOptions) Changed {
	c := &change{provision: provision{Agent: a.withRoom(false)}, allow: opts.Allow, dryRun: opts.DryRun, show: opts.Show, waiting: opts.Waiting}
	if opts.Unconfirmed > 0 {
		c.allow = difference.Replace // what came by itself goes by itself
	}
	return c.do(ctx, func(store *generation.Store) (wanted, error) { return restorable(store, opts) })
}

// restorable is the plan of the generation that is asked for.
func restorable(store *generation.Store, opts RollbackOptions) (wanted, error) {
	current, found := store.Current()
	if !found {
		return wanted{}, outcome.Refused("this machine has no generation yet")
	}
	if opts.Unconfirmed > 0 && !opts.due(current) {
		return wanted{}, errNothingToDo
	}
	target, found := store.Find(opts.Number)
	switch {
	case opts.Unconfirmed > 0:
		target, found = store.LastGood()
	case opts.Number == 0:
		target, found = lastGoodBefore(store.Entries())
	}
	switch {
	case !found && opts.Number == 0:
		return wanted{}, outcome.Refused("there is no good generation before the current one")
	case !found:
		return wanted{}, outcome.Refused("there is no generation %d; \"slipway-node status --generations\" lists those that are kept", opts.Number)
	}
	desired, err := store.Plan(target.Number)
	if err != nil {
		return wanted{}, err
	}
	return wanted{advance: advance{plan: desired, entry: restoring(target)}, timeout: nodeconfig.DefaultTimeout.Std()}, nil
}

// due reports whether a generation is the one that nobody has confirmed.
func (opts RollbackOptions) due(current generation.Entry) bool {
	return current.Number == opts.Unconfirmed && !current.ConfirmBy.IsZero() && (opts.Until.IsZero() || current.ConfirmBy.Equal(opts.Until))
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

// Generations are the machine's, the oldest first.
func (a *Agent) Generations() (entries []generation.Entry, err error) {
	err = a.guarded(func() error {
		store, err := generation.Open(a.Host, a.Log)
		if err == nil {
			entries = store.Entries()
		}
		return err
	})
	return entries, err
}

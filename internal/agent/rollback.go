package agent

import (
	"context"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/transition"
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
	r := begin(a, "", false)
	r.dryRun = opts.DryRun
	allow := opts.Allow
	if opts.Unconfirmed > 0 {
		allow = difference.Replace // what came by itself goes by itself
	}
	return change(ctx, r, terms{allow: allow, show: opts.Show}, nil, func(_ context.Context, store *generation.Store) (transition.Change, error) {
		step, err := opts.step(store)
		return transition.Change{Step: step, Timeout: nodeconfig.DefaultTimeout.Std(), Waiting: opts.Waiting}, err
	})
}

// step is the one to the generation that is asked for.
func (opts RollbackOptions) step(store *generation.Store) (transition.Step, error) {
	current, found := store.Current()
	switch {
	case !found:
		return transition.Step{}, outcome.Refused("this machine has no generation yet")
	case opts.Unconfirmed == 0:
		return transition.Restore(store, opts.Number)
	case !opts.due(current):
		return transition.Step{}, errNothingToDo
	}
	return transition.RestoreLastGood(store)
}

// due reports whether a generation is the one that nobody has confirmed.
func (opts RollbackOptions) due(current generation.Entry) bool {
	return current.Number == opts.Unconfirmed && !current.ConfirmBy.IsZero() && (opts.Until.IsZero() || current.ConfirmBy.Equal(opts.Until))
}

// Generations are the machine's, the oldest first.
func (a *Agent) Generations() (entries []generation.Entry, err error) {
	err = apply.Guard(a.Log, "agent", func() error {
		store, err := generation.Open(a.Host, a.Log)
		if err == nil {
			entries = store.Entries()
		}
		return err
	})
	return entries, err
}

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

// RollbackOptions choose the generation to restore.
type RollbackOptions struct {
	// Number is the generation's number. 0 means the last good one before the current.
	Number int
	// Unconfirmed restores the last good generation if the current one has this number and is not confirmed. Otherwise
	// the rollback does nothing. 0 means a rollback that a user requests.
	Unconfirmed int
	// Until is the generation's confirmation deadline at the time when systemd scheduled this rollback. The zero time
	// means any.
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
		allow = difference.Replace // an automatic change is undone automatically
	}
	return change(ctx, r, terms{allow: allow, show: opts.Show}, nil, func(_ context.Context, store *generation.Store) (transition.Change, error) {
		step, err := opts.step(store)
		return transition.Change{Step: step, Timeout: nodeconfig.DefaultTimeout.Std(), Waiting: opts.Waiting}, err
	})
}

// step returns the step to the requested generation.
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

// due reports whether a generation is the unconfirmed one of these options.
func (opts RollbackOptions) due(current generation.Entry) bool {
	return current.Number == opts.Unconfirmed && !current.ConfirmBy.IsZero() && (opts.Until.IsZero() || current.ConfirmBy.Equal(opts.Until))
}

// Generations returns the machine's generations, oldest first.
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

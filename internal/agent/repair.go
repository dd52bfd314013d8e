package agent

import (
	"context"
	"time"

	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/transition"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// repairPatience is how long a repair waits for another run. That one may be what needs the repair.
const repairPatience = 5 * time.Second

// RepairOptions say how a node that is not as it should be is repaired.
type RepairOptions struct {
	// Attempt counts the attempts that have failed since one succeeded. After one the node is asked whether it is well
	// also where nothing has to be changed any more.
	Attempt int
	// All undoes somebody else's decisions, too: masks and drop-ins of units.
	All bool
	// Begin is called once no other run is at work, with the generation that the machine has; it may be nil.
	Begin func(current generation.Entry)
}

// Repair makes the machine be as it should be again. Where the current generation was good, that is what it
// says. A change that has failed, or whose apply has died, is rolled back to the last good generation, and to an
// older one where that fails again and again; a provisioning, which has nowhere to go back to, is applied again.
// A boot does the same. A repair is not followed by another way back: who asks for it asks again.
func (a *Agent) Repair(ctx context.Context, opts RepairOptions) Changed {
	r := begin(a, "", false)
	return change(ctx, r, terms{allow: difference.Replace, patience: repairPatience}, nil, func(_ context.Context, store *generation.Store) (transition.Change, error) {
		current, found := store.Current()
		if !found {
			return transition.Change{}, errNothingToDo
		}
		if opts.Begin != nil {
			opts.Begin(current)
		}
		step, err := transition.Repair(store, current, opts.Attempt)
		if step.All = opts.All; opts.Attempt > 0 {
			step.Ask = transition.Always
		}
		return transition.Change{Step: step, Final: true, Timeout: nodeconfig.DefaultTimeout.Std()}, err
	})
}

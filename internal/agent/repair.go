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

// RepairOptions configure the repair of a node.
type RepairOptions struct {
	// Attempt counts the failed attempts since the last success. After a failure the repair checks the node's health
	// even if it has nothing to change.
	Attempt int
	// All also undoes an administrator's decisions: masks and drop-ins of units.
	All bool
	// Begin is called once no other run is at work, with the generation that the machine has; it may be nil.
	Begin func(current generation.Entry)
}

// Repair restores the machine's desired state. If the current generation was good, that is the current generation. If a
// change has failed, or died, Repair restores the last good generation, and an older one if that fails repeatedly. A
// failed provisioning has no earlier generation, so Repair applies it again. A boot does the same. A failed repair is
// not rolled back: the caller calls Repair again.
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

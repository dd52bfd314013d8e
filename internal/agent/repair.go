package agent

import (
	"context"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/publish"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/status"
)

const (
	// repairPatience is how long a repair waits for another run. That one may be what needs the repair.
	repairPatience = 5 * time.Second
	// triesEach is how often the way back to a good generation is tried before an older one is.
	triesEach = 3
)

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
	c := &change{provision: provision{Agent: a.withRoom(false)}, allow: difference.Replace, patience: repairPatience, repairs: true}
	return c.do(ctx, func(store *generation.Store) (wanted, error) {
		current, found := store.Current()
		if !found {
			return wanted{}, errNothingToDo
		}
		if opts.Begin != nil {
			opts.Begin(current)
		}
		desired, entry, err := repairing(store, current, opts.Attempt)
		next := advance{plan: desired, entry: entry, all: opts.All, doubted: opts.Attempt > 0}
		return wanted{advance: next, timeout: nodeconfig.DefaultTimeout.Std()}, err
	})
}

// repairing is the plan that repairs the machine, and what its generation is to say of itself.
func repairing(store *generation.Store, current generation.Entry, attempt int) (resource.Plan, generation.Entry, error) {
	if current.Unfinished() && current.Origin != generation.Provision {
		var ways []advance
		seen := make(map[string]bool)
		for _, e := range slices.Backward(store.Entries()) {
			if !e.Stands() || seen[e.Plan] {
				continue
			}
			if desired, err := store.Plan(e.Number); err == nil {
				seen[e.Plan] = true
				ways = append(ways, advance{plan: desired, entry: restoring(e)})
			}
		}
		if len(ways) > 0 {
			way := ways[attempt/triesEach%len(ways)]
			return way.plan, way.entry, nil
		}
	}
	desired, err := store.Plan(current.Number)
	return desired, current, err
}

// stands reports whether the status that is published says all that a repair which failed could: it is of a
// failure, with its contract and the places where that was looked for.
func (c *change) stands() bool {
	if !c.repairs || c.result.Status.Outcome != status.OutcomeFailure {
		return false
	}
	if !publish.FailureStands(c.Host) {
		return false
	}
	// Where nobody has a result, the run died after it took back the last one, and somebody waits for one.
	return !c.finishes || publish.Marked(c.Host, c.target())
}

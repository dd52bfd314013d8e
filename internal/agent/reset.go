package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Reset removes from the machine what the generations brought, stops their units, and restores what was there before
// them. What they set in the kernel stays until the next boot, and so do the records of the generations.
func (a *Agent) Reset(ctx context.Context) (changes []apply.Change, err error) {
	err = a.guarded(func() (err error) { changes, err = a.withRoom(false).reset(ctx); return err })
	return changes, err
}

func (a *Agent) reset(ctx context.Context) ([]apply.Change, error) {
	unlock, err := a.exclusive(ctx, nodeconfig.DefaultTimeout.Std())
	if err != nil {
		return nil, err
	}
	defer unlock()
	store, err := generation.Open(a.Host, a.Log)
	if err != nil {
		return nil, err
	}
	current, found := store.Current()
	if !found {
		return nil, outcome.Refused("Slipway has made nothing on this machine; there is nothing to reset")
	}
	if _, err := store.Plan(current.Number); err != nil {
		return nil, outcome.Refused("%s: this file says what Slipway has made, so nothing is reset without it: restore the file, or make the machine again from its image", err)
	}
	changes, err := a.undo(ctx, store, current)
	if err != nil {
		err = fmt.Errorf("%w; run the same command again", err)
	}
	return changes, err
}

// undo makes of a node the machine that it was made of.
func (a *Agent) undo(ctx context.Context, store *generation.Store, current generation.Entry) ([]apply.Change, error) {
	if !current.ConfirmBy.IsZero() { // its timer would make the machine a node again
		if err := store.Await(time.Time{}); err != nil {
			return nil, err
		}
		a.cancelRevert(ctx, current)
	}
	if err := a.publisher().RemoveResults(); err != nil {
		return nil, err
	}
	removed, restored := store.Stale(resource.Plan{})
	engine := a.engine()
	engine.Stale = removed
	report, err := engine.Apply(ctx, resource.Plan{Resources: restored})
	if err != nil {
		return report.Changes, err
	}
	if err := a.Host.Remove(state.Reserve.Path); err != nil {
		return report.Changes, err
	}
	return report.Changes, a.Host.Sync()
}

package transition

import (
	"context"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
)

// RemoveAll turns a node back into the machine that it was before: it removes what the generations added, and restores what they
// replaced. It returns its changes.
func (n *Node) RemoveAll(ctx context.Context, store *generation.Store) ([]apply.Change, error) {
	removed, restored := store.Stale(resource.Plan{})
	engine := n.engine()
	engine.Stale = removed
	report, err := engine.Apply(ctx, resource.Plan{Resources: restored})
	if err != nil {
		return report.Changes, err
	}
	if err := n.Host.Remove(state.Reserve.Path); err != nil {
		return report.Changes, err
	}
	return report.Changes, n.Host.Sync()
}

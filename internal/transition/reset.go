package transition

import (
	"context"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
)

// RemoveAll makes of a node the machine that it was made of: what the generations brought goes, and what was there before
// them comes back. It reports what it has changed.
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

package agent

import (
	"context"

	"github.com/slipway-dev/slipway/internal/generation"
)

// Confirm makes a generation stay that was applied on trial, and returns it.
func (a *Agent) Confirm(ctx context.Context) (kept generation.Entry, err error) {
	r := begin(a, "", false)
	err = exclusively(ctx, r, func(store *generation.Store) (err error) {
		kept, err = r.node().Confirm(ctx, store)
		return err
	})
	return kept, err
}

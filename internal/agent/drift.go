package agent

import (
	"context"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/transition"
)

// Drift reports how the machine differs from the current generation: what an apply would change, and what it would
// leave because an administrator made it or because it needs a greater class of change.
func (a *Agent) Drift(ctx context.Context) (changes []apply.Change, err error) {
	r := begin(a, "", false)
	err = r.guarded(func() (err error) { changes, _, err = r.node().Drift(ctx); return err })
	return changes, err
}

// DriftDifference is Drift, and also the difference from the machine's state to the current generation's plan, with the
// class of change that a repair needs.
func (a *Agent) DriftDifference(ctx context.Context) (changes []apply.Change, d *difference.Difference, err error) {
	r := begin(a, "", false)
	err = r.guarded(func() error {
		found, desired, err := r.node().Drift(ctx)
		if changes = found; err == nil && len(changes) > 0 {
			d, err = difference.Of(transition.Actual(r.host, desired, changes), desired)
		}
		return err
	})
	return changes, d, err
}

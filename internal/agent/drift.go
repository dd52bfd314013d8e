package agent

import (
	"context"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/transition"
)

// Drift reports what is not as the current generation has it: what an apply of it would change, and what it would leave,
// because it is somebody's decision or because it takes more.
func (a *Agent) Drift(ctx context.Context) (changes []apply.Change, err error) {
	r := begin(a, "", false)
	err = r.guarded(func() (err error) { changes, _, err = r.node().Drift(ctx); return err })
	return changes, err
}

// DriftDifference is Drift, and how the machine differs from the current generation's plan: from what is there to
// what should be, with what it takes to repair it.
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

package transition

import (
	"context"
	"slices"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/outcome"
	"github.com/slipway-dev/slipway/internal/resource"
)

// Drift reports how the machine differs from the current generation: what an apply would change, and what it would leave, because
// it is an administrator's decision or needs a higher class of change. The plan is the generation's, without what is left.
func (n *Node) Drift(ctx context.Context) ([]apply.Change, resource.Plan, error) {
	store, err := generation.Open(n.Host, n.Log)
	if err != nil {
		return nil, resource.Plan{}, err
	}
	current, any := store.Current()
	if !any {
		return nil, resource.Plan{}, outcome.Refused("this machine has no generation yet")
	}
	desired, err := store.Plan(current.Number)
	if err != nil {
		return nil, resource.Plan{}, err
	}
	units, err := masked(n.Host, desired)
	if err != nil {
		return nil, resource.Plan{}, err
	}
	others, err := foreign(n.Host, store, units)
	if err != nil {
		return nil, resource.Plan{}, err
	}
	desired = withoutUpgraded(n.Host, without(desired, units))
	report, err := n.Preview(ctx, desired)
	return slices.Concat(withoutBackground(report.Changes, desired), others, n.nodeDrift(ctx, store)), desired, err
}

// withoutBackground returns the drift without the commands in the background. A run executes them after it publishes its result, or,
// if it cannot, the next run does. Until then they are no drift.
func withoutBackground(changes []apply.Change, desired resource.Plan) []apply.Change {
	var background []resource.ID
	for _, res := range desired.Resources {
		if command, ok := res.Spec.(*resource.Command); ok && command.Background() {
			background = append(background, res.ID())
		}
	}
	return slices.DeleteFunc(changes, func(c apply.Change) bool { return slices.Contains(background, c.ID) })
}

// Actual returns a plan in which the machine's actual state replaces the changed resources.
func Actual(host Host, desired resource.Plan, changes []apply.Change) resource.Plan {
	actual := desired
	actual.Resources = nil
	for _, r := range desired.Resources {
		there := true
		if slices.ContainsFunc(changes, func(c apply.Change) bool { return c.ID == r.ID() }) {
			r.Spec, there = apply.Found(host, r.Spec)
		}
		if there {
			actual.Resources = append(actual.Resources, r)
		}
	}
	return actual
}

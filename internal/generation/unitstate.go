package generation

import (
	"context"
	"slices"

	"github.com/slipway-dev/slipway/internal/resource"
)

// remembering adds to each unit that a plan keeps from running its state before Slipway, for a rollback. The state that
// an earlier generation recorded stays, because that generation caused the present one.
func (s *Store) remembering(ctx context.Context, plan resource.Plan) (resource.Plan, error) {
	plan.Resources = slices.Clone(plan.Resources)
	for i, res := range plan.Resources {
		spec, ok := res.Spec.(*resource.UnitState)
		if !ok {
			continue
		}
		was, known := s.was(res.ID())
		if !known {
			have, err := s.host.UnitState(ctx, spec.Unit)
			if err != nil {
				return plan, err
			}
			enabled, err := s.host.UnitEnabled(ctx, spec.Unit)
			if err != nil {
				return plan, err
			}
			if enabled {
				was = append(was, resource.WasEnabled)
			}
			if have.Running() {
				was = append(was, resource.WasActive)
			}
		}
		plan.Resources[i].Spec = &resource.UnitState{Unit: spec.Unit, State: spec.State, Was: was}
	}
	return plan, nil
}

// was returns a unit's state before Slipway, from the newest generation that keeps it from running.
func (s *Store) was(id resource.ID) (was []string, known bool) {
	for _, r := range s.unsettled() {
		for _, res := range r.brought {
			if spec, ok := res.Spec.(*resource.UnitState); ok && res.ID() == id {
				return spec.Was, true
			}
		}
	}
	return nil, false
}

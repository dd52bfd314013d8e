package generation

import (
	"context"
	"slices"

	"github.com/slipway-dev/slipway/internal/resource"
)

// remembering is a plan in which each unit that it keeps from running says what it was before Slipway, for the way back.
// What an earlier generation has found out stands: what is there now is that one's doing.
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

// was is what a unit was before Slipway, as the newest generation has it that keeps it from running.
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

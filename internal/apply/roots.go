package apply

import (
	"errors"

	"github.com/slipway-dev/slipway/internal/resource"
)

// allowed wants all of the plan, and of what is stale, to be such as a plan may have.
func (r *run) allowed() error {
	var errs []error
	for _, list := range [][]resource.Resource{r.plan.Resources, r.Stale} {
		for _, res := range list {
			errs = appendFailure(errs, res, res.Spec.Valid())
		}
	}
	return errors.Join(errs...)
}

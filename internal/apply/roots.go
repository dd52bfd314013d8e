package apply

import (
	"errors"

	"github.com/slipway-dev/slipway/internal/resource"
)

// allowed requires that the paths of the plan and of stale resources are allowed.
func (r *run) allowed() error {
	var errs []error
	for _, list := range [][]resource.Resource{r.plan.Resources, r.Stale} {
		for _, res := range list {
			errs = appendFailure(errs, res, res.Spec.Valid())
		}
	}
	return errors.Join(errs...)
}

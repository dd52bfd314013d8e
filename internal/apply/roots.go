package apply

import (
	"errors"
	"fmt"

	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/resource"
)

// allowed wants every path of the plan, and of what is stale, to be one that a plan may have.
func (r *run) allowed() error {
	var errs []error
	for _, list := range [][]resource.Resource{r.plan.Resources, r.Stale} {
		for _, res := range list {
			if !resource.OnDisk(res.Spec) {
				continue
			}
			if why := place.Check(res.Spec.Name()); why != "" {
				errs = append(errs, failed(res, fmt.Errorf("path %q %s", res.Spec.Name(), why)))
			}
		}
	}
	return errors.Join(errs...)
}

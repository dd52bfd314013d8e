package plan_test

import (
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
)

func init() {
	plan.ClassOf = func(before, after resource.Plan) (class string, err error) {
		d, err := difference.Of(before, after)
		if err != nil || d.Same {
			return "", err
		}
		return d.Class.String(), nil
	}
}

package plan

import (
	"github.com/slipway-dev/slipway/internal/resource"
)

// features writes the switches that the image's own programs read.
var features = concern{
	name:  "features",
	joins: true,
	reads: []string{"$.components.features"},
	plan:  planFeatures,
}

func planFeatures(in *input, out *output) {
	if features := in.config.Components.Features; len(features) > 0 {
		out.file(resource.Join, in.family.Paths.Features, 0o600, assignments(features, "="), sourced("feature switches for the image's own programs", in.family.Sources.Features))
	}
}

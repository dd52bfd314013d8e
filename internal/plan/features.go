package plan

import (
	"github.com/slipway-dev/slipway/internal/resource"
)

// features writes the switches that the image's own programs read (AKS: enabled_features).
var features = concern{
	name:  "features",
	joins: true,
	reads: []string{"$.components.features"},
	plan:  planFeatures,
}

func planFeatures(in *input, out *output) {
	if features := in.config.Components.Features; len(features) > 0 {
		out.file(resource.Join, in.layout.features, 0o600, assignments(features, "="), "feature switches for the image's own programs (AKS: enabled_features)")
	}
}

package system

import (
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/textfile"
	"github.com/slipway-dev/slipway/internal/resource"
)

// features writes the switches that the image's own programs read.
var features = concern.Concern{
	Name:  "features",
	Joins: true,
	Reads: []string{"$.components.features"},
	Plan:  planFeatures,
}

func planFeatures(in *concern.Input, out *concern.Output) {
	if features := in.Config.Components.Features; len(features) > 0 {
		out.File(resource.Join, in.Family.Paths.Features, 0o600, textfile.Assignments(features, "="), concern.Sourced("feature switches for the image's own programs", in.Family.Sources.Features))
	}
}

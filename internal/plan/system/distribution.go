package system

import (
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// distribution reports a machine whose distribution is known only by its likeness to another one.
var distribution = concern.Concern{
	Name: "distribution",
	Plan: planDistribution,
}

func planDistribution(in *concern.Input, out *concern.Output) {
	if in.Like != "" {
		out.Warn(nodeconfig.Missing, "$", "%s is not in the table of distributions: the node is made as on %s, which its ID_LIKE names (%q)",
			concern.SystemName(in), in.Distro.Name, in.Like)
	}
}

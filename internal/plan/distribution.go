package plan

import (
	"github.com/slipway-dev/slipway/nodeconfig"
)

// distribution reports a machine whose distribution is known only by its likeness to another one.
var distribution = concern{
	name: "distribution",
	plan: planDistribution,
}

func planDistribution(in *input, out *output) {
	if in.like != "" {
		out.Warn(nodeconfig.Missing, "$", "%s is not in the table of distributions: the node is made as on %s, which its ID_LIKE names (%q)",
			systemName(in), in.distro.Name, in.like)
	}
}

package plan

import (
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// commands plans the shell texts of the contract's author, but for one that starts the kubelet: that is planned where the
// kubelet's start is.
var commands = concern{
	name:  "commands",
	joins: true,
	reads: []string{"$.commands"},
	plan:  planCommands,
}

func planCommands(in *input, out *output) {
	texts := in.config.Commands
	if len(texts) > 0 && in.facts.NoBash {
		out.Fatal(nodeconfig.NotInstalled, "$.commands", "are run by %s, and the image has none; use an image that has it, or give files and units in their place", facts.Bash)
	}
	for i := range texts {
		if i == in.starter {
			break
		}
		r := shellCommand(texts, i)
		r.Reason = "a command of the contract's author, run as it is"
		out.addTo(runtimeGroup, r)
		out.askedBy(document.IndexPath("$.commands", i))
	}
}

package system

import (
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// commands plans the shell texts of the contract's author, but for one that starts the kubelet: that is planned where the
// kubelet's start is.
var commands = concern.Concern{
	Name:  "commands",
	Joins: true,
	Reads: []string{"$.commands"},
	Plan:  planCommands,
}

func planCommands(in *concern.Input, out *concern.Output) {
	texts := in.Config.Commands
	if len(texts) > 0 && in.Facts.NoBash {
		out.Fatal(nodeconfig.NotInstalled, "$.commands", "are run by %s, and the image has none; use an image that has it, or give files and units in their place", facts.Bash)
	}
	for i := range texts {
		if i == in.Starter {
			break
		}
		r := concern.ShellCommand(texts, i)
		r.Reason = "a command of the contract's author, run as it is"
		out.AppendTo(concern.RuntimeGroup, r)
		out.AskedBy(document.IndexPath("$.commands", i))
	}
}

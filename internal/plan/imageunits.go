package plan

import (
	"github.com/slipway-dev/slipway/internal/resource"
)

// imageUnits runs the units of the family's images that no contract asks for: what collects logs, patches the system, or shows
// the machine's numbers. An image that lacks one makes a node without it.
var imageUnits = concern{
	name:  "units of the image",
	joins: true,
	reads: []string{"$.network.plugin"},
	plan:  planImageUnits,
}

func planImageUnits(in *input, out *output) {
	// Nothing of a node waits for these, and they take processors and disk.
	after := []resource.ID{resource.IDOf(&resource.Check{Label: kubeletActive})}
	for _, u := range in.family.Host.Units {
		at := in.imageUnit(u.Unit)
		if at == "" || u.Plugin != "" && u.Plugin != in.config.Network.Plugin {
			continue
		}
		out.runUnit("", at, u.ExitCode, sourced("the image has it for every node", in.family.Sources.Units)).After = after
	}
}

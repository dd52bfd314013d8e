package system

import (
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
)

// imageUnits runs the units of the family's images that no contract asks for: what collects logs, patches the system, or shows
// the machine's numbers. An image that lacks one makes a node without it.
var imageUnits = concern.Concern{
	Name:  "units of the image",
	Joins: true,
	Reads: []string{"$.network.plugin"},
	Plan:  planImageUnits,
}

func planImageUnits(in *concern.Input, out *concern.Output) {
	// Nothing of a node waits for these, and they take processors and disk.
	after := []resource.ID{resource.IDOf(&resource.Check{Label: concern.KubeletActive})}
	for _, u := range in.Family.Host.Units {
		at := in.ImageUnit(u.Unit)
		if at == "" || u.Plugin != "" && u.Plugin != in.Config.Network.Plugin {
			continue
		}
		out.RunUnit("", at, u.ExitCode, concern.Sourced("the image has it for every node", in.Family.Sources.Units)).After = after
	}
}

package system

import (
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
)

// bootstrappers turns off the services of the family's images that make a node themselves: beside Slipway they would write its files, or
// fail. They are disabled and not masked, because systemd masks no unit that is in /etc (systemctl(1), mask).
var bootstrappers = concern.Concern{
	Name: "bootstrappers of the image",
	Plan: func(in *concern.Input, out *concern.Output) {
		for _, unit := range in.Family.Host.Bootstrappers {
			if in.ImageUnit(unit) == "" && !(in.Agentless && in.HasNoFacts()) {
				continue
			}
			out.Append(resource.Resource{
				Phase: resource.Base, ExitCode: exitcode.UnitStartFailed, Reason: "Slipway makes the node in its place",
				Spec: &resource.UnitState{Unit: unit, State: resource.UnitDisabled},
			})
		}
	},
}

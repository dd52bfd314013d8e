package system

import (
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
)

// image checks that the image was built to be a node, where the contract requires one.
var image = concern.Concern{
	Name:  "image",
	Reads: []string{"$.components.preinstalled"},
	Plan:  planImage,
}

func planImage(in *concern.Input, out *concern.Output) {
	if preinstalled := in.Config.Components.Preinstalled; preinstalled == nil || !*preinstalled {
		return
	}
	if in.Family.Paths.Installed == "" {
		out.NotApplied("$.components.preinstalled")
		return
	}
	out.AppendTo(concern.ImageGroup, resource.Resource{
		Phase:    resource.Base,
		ExitCode: exitcode.ImageNotBuilt,
		Reason:   concern.Sourced("the contract asks for an image that was built to be a node", in.Family.Sources.Installed),
		Spec:     &resource.Check{Label: "image-built", PathExists: in.Family.Paths.Installed},
	})
}

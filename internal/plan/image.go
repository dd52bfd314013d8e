package plan

import (
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/resource"
)

// image checks that the image was built to be a node, where the contract requires one.
var image = concern{
	name:  "image",
	reads: []string{"$.components.preinstalled"},
	plan:  planImage,
}

func planImage(in *input, out *output) {
	if preinstalled := in.config.Components.Preinstalled; preinstalled == nil || !*preinstalled {
		return
	}
	if in.family.Paths.Installed == "" {
		out.notApplied("$.components.preinstalled")
		return
	}
	out.addTo(imageGroup, resource.Resource{
		Phase:    resource.Base,
		ExitCode: exitcode.ImageNotBuilt,
		Reason:   sourced("the contract asks for an image that was built to be a node", in.family.Sources.Installed),
		Spec:     &resource.Check{Label: "image-built", PathExists: in.family.Paths.Installed},
	})
}

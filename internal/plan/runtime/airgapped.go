package runtime

import (
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// isolated is a node of a cluster without a way out, which has one registry for all that it needs.
var isolated = concern.Concern{
	Name:  "isolated cluster",
	Joins: true,
	Reads: []string{setting.ComponentsRegistry, "$.runtime.sandboxImage"},
	Plan:  planIsolated,
}

func planIsolated(in *concern.Input, out *concern.Output) {
	if in.Config.Components.Registry == "" {
		return
	}
	if in.Family.Runtime.Registry == "" {
		out.Fatal(nodeconfig.NotApplied, setting.ComponentsRegistry,
			"is not applied: a node of this layout has its images from several registries; say in runtime.registries where each of them is")
		return
	}
	for _, marker := range in.Family.Host.Isolated {
		out.File(resource.Join, marker, 0o644, nil, concern.Sourced("other programs see that the check for a way out did not run", in.Family.Sources.Registry))
	}
	planSandboxImage(in, out, "", in.Family.Sources.Registry)
}

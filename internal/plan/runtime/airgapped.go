package runtime

import (
	"strings"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
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

// pullTimeout bounds the pull of the sandbox image, which has less than a megabyte.
const pullTimeout = resource.Duration(5 * time.Minute)

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
		out.File(resource.Join, marker, 0o644, nil, concern.Sourced("others see that nobody has looked for a way out", in.Family.Sources.Registry))
	}
	planSandboxImage(in, out)
}

// planSandboxImage has the image of pods' sandboxes in place, and kept, before the kubelet starts. Otherwise the runtime would pull
// it for the first pod, as nobody, and where that fails the node would look well and run nothing. The kubelet removes images when the
// disk is full, but none that is pinned, as the runtime does with its sandbox image (containerd: pkg/cri, image pull).
func planSandboxImage(in *concern.Input, out *concern.Output) {
	out.AppendTo(concern.KubeletGroup, resource.Resource{
		Phase:    resource.Join,
		Requires: []resource.ID{resource.IDOf(&resource.Unit{Unit: concern.ContainerdUnit}), concern.RegistryGroup.All()},
		Effects:  resource.Effects{Class: resource.None, Why: "pods that run keep the sandbox that they have", Source: "Kubernetes: a sandbox lives as long as its pod"},
		ExitCode: exitcode.SandboxImageFailed,
		Reason:   concern.Sourced("pods' sandboxes have their image, whoever is reachable later", in.Family.Sources.Registry),
		Spec: &resource.Image{
			Image: in.SandboxImage(), Socket: strings.TrimPrefix(concern.ContainerdSocket, "unix://"),
			Timeout: pullTimeout, ExitCodes: concern.RegistryCodes,
		},
	})
}

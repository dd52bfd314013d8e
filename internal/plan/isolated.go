package plan

import (
	"strings"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// isolated is a node of a cluster without a way out, which has one registry for all that it needs.
var isolated = concern{
	name:  "isolated cluster",
	joins: true,
	reads: []string{RegistryPath, "$.runtime.sandboxImage"},
	plan:  planIsolated,
}

// pullTimeout bounds the pull of the sandbox image, which has less than a megabyte.
const pullTimeout = resource.Duration(5 * time.Minute)

func planIsolated(in *input, out *output) {
	if in.config.Components.Registry == "" {
		return
	}
	if in.family.Runtime.Registry == "" {
		out.Fatal(nodeconfig.NotApplied, RegistryPath,
			"is not applied: a node of this layout has its images from several registries; say in runtime.registries where each of them is")
		return
	}
	for _, marker := range in.family.Host.Isolated {
		out.file(resource.Join, marker, 0o644, nil, sourced("others see that nobody has looked for a way out", in.family.Sources.Registry))
	}
	planSandboxImage(in, out)
}

// planSandboxImage has the image of pods' sandboxes in place, and kept, before the kubelet starts. Otherwise the runtime would pull
// it for the first pod, as nobody, and where that fails the node would look well and run nothing. The kubelet removes images when the
// disk is full, but none that is pinned, as the runtime does with its sandbox image (containerd: pkg/cri, image pull).
func planSandboxImage(in *input, out *output) {
	out.addTo(kubeletGroup, resource.Resource{
		Phase:    resource.Join,
		Requires: []resource.ID{resource.IDOf(&resource.Unit{Unit: containerdUnit}), registryGroup.all()},
		Effects:  resource.Effects{Class: resource.None, Why: "pods that run keep the sandbox that they have", Source: "Kubernetes: a sandbox lives as long as its pod"},
		ExitCode: exitcode.SandboxImageFailed,
		Reason:   sourced("pods' sandboxes have their image, whoever is reachable later", in.family.Sources.Registry),
		Spec: &resource.Image{
			Image: in.sandboxImage(), Socket: strings.TrimPrefix(containerdSocket, "unix://"),
			Timeout: pullTimeout, ExitCodes: registryCodes,
		},
	})
}

package runtime

import (
	"strings"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/awsname"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
)

// pullTimeout bounds the pull of the sandbox image, which has less than a megabyte.
const pullTimeout = resource.Duration(5 * time.Minute)

// planSandboxImage has the image of pods' sandboxes in place, and kept, before the kubelet starts. Otherwise the runtime would pull
// it for the first pod without a login, and where that fails the node would look well and run nothing. The kubelet removes images when the
// disk is full, but none that is pinned, as the runtime does with its sandbox image (containerd: pkg/cri, image pull). A provider says
// how to log in; without one, the machine's own identity is shown to the registry.
func planSandboxImage(in *concern.Input, out *concern.Output, provider, source string) {
	out.AppendTo(concern.KubeletGroup, resource.Resource{
		Phase:    resource.Join,
		Requires: []resource.ID{resource.IDOf(&resource.Unit{Unit: concern.ContainerdUnit}), concern.RegistryGroup.All()},
		Effects:  resource.Effects{Class: resource.None, Why: "pods that run keep the sandbox that they have", Source: "Kubernetes: a sandbox lives as long as its pod"},
		ExitCode: exitcode.SandboxImageFailed,
		Reason:   concern.Sourced("pods' sandboxes have their image, even if no registry is reachable later", source),
		Spec: &resource.Image{
			Image: in.SandboxImage(), Provider: provider, ProviderEnv: providerEnvironment(in), Socket: strings.TrimPrefix(concern.ContainerdSocket, "unix://"),
			Timeout: pullTimeout, ExitCodes: concern.RegistryCodes,
		},
	})
}

// providerEnvironment returns the variables that a provider gets.
func providerEnvironment(in *concern.Input) map[string]string {
	if in.UsesFIPS() {
		return map[string]string{awsname.FIPSVariable: "true"}
	}
	return nil
}

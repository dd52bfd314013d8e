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

// planSandboxImage pulls and pins the image of pods' sandboxes before the kubelet starts. Otherwise the runtime would pull
// it for the first pod without a login; if that fails, the node would look healthy and run no pod. The kubelet removes images when the
// disk is full, but no pinned image; the runtime pins its sandbox image, too (containerd: pkg/cri, image pull). A provider
// supplies the login. Without a provider, the registry gets the machine's own identity.
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

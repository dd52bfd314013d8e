// Package runtime plans the container runtime: its packages, unit and configuration, the registries of images, runtimes and
// snapshotters, and the network plug-ins that it calls. internal/plan composes it.
package runtime

import "github.com/slipway-dev/slipway/internal/plan/concern"

// Concerns are all of this subject.
var Concerns = concern.Of("runtime",
	&cni,
	&cniPlugins,
	&containerd,
	&isolated,
	&registries,
	&runtimePackages,
	&sandboxImage,
	&streaming,
)

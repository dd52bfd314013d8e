// Package kubelet plans the kubelet: its program, arguments and configuration, its unit and start, and what is reserved for it.
// internal/plan composes it.
package kubelet

import "github.com/slipway-dev/slipway/internal/plan/concern"

// Concerns are all of this subject.
var Concerns = concern.Of("kubelet",
	&capacities,
	&cgroups,
	&freeName,
	&imageCredentialProvider,
	&installed,
	&kubeadmFiles,
	&kubeletBinary,
	&kubeletCommandLine,
	&kubeletConfig,
	&kubeletData,
	&kubeletNetwork,
	&kubeletPrepare,
	&kubeletStart,
	&providerBinary,
	&reserved,
	&servingCertificate,
	&shutdown,
	&supported,
)

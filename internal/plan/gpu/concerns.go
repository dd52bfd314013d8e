// Package gpu plans what graphics processors take: the driver of the image, partitions, and the services that show devices to
// Kubernetes. It installs nothing. internal/plan composes it.
package gpu

import "github.com/slipway-dev/slipway/internal/plan/concern"

// Concerns are all of this subject.
var Concerns = concern.Of("gpu",
	&gpu,
	&services,
)

// Package azure plans what a node of Azure's has beside every other: the cloud provider's configuration, and a custom cloud's sources of
// packages and time. internal/plan composes it.
package azure

import "github.com/slipway-dev/slipway/internal/plan/concern"

// Concerns are all of this subject.
var Concerns = concern.Of("azure",
	&azure,
	&customCloud,
)

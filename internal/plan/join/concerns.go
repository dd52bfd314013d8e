// Package join plans how a node joins its cluster: the cluster's authority, the node's credentials and certificate, and the look at the
// API server. internal/plan composes it.
package join

import "github.com/slipway-dev/slipway/internal/plan/concern"

// Concerns are all of this subject.
var Concerns = concern.Of("join",
	&apiServer,
	&attested,
	&attestedClient,
	&authority,
	&certificate,
	&credentials,
	&outpost,
)

// Package machine plans how what only the machine knows gets to its kubelet: from the agent, or from the cloud's metadata service, which
// a node without an agent asks. internal/plan composes it.
package machine

import "github.com/slipway-dev/slipway/internal/plan/concern"

// Concerns are all of this subject.
var Concerns = concern.Of("machine",
	&machineFacts,
)

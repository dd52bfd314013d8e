// Package nodeconfig is Slipway's contract: everything that is said to a machine to make it a
// Kubernetes node.
//
// A [NodeConfig] is grouped by concern and speaks Kubernetes' own terms, so that a reader who knows
// Kubernetes guesses right. It is what every dialect is translated to, and the only description of
// a node that the planner sees. [Decode] reads it tolerantly, [Default] completes it, [Validate]
// reports all its problems at once, and [Digest] names it.
//
// The package does no I/O and reads neither clock nor environment. It refuses to decide how a
// setting reaches the machine: that is the planner's work. Dialects (nodeconfig/aks and others),
// the planner, the renderers of user data and the command line call it.
package nodeconfig

// APIVersion and Kind identify a native contract.
const (
	APIVersion = "slipway.dev/v1"
	Kind       = "NodeConfig"
)

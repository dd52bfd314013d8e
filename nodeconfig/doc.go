// Package nodeconfig is Slipway's contract: everything that is said to a machine to make it a
// Kubernetes node.
//
// A [NodeConfig] is grouped by concern and speaks Kubernetes' own terms, so that a reader who knows
// Kubernetes guesses right. It is what every dialect is translated to, and the only description of
// a node that the planner sees. [FromTree] reads it tolerantly, [Default] completes it, [Repair]
// reports all its problems at once and leaves out what cannot be used, and [Digest] names it.
//
// A program that makes contracts fills in a NodeConfig, lets [Merge] put together what it has for all nodes and for
// one, and delivers what [Encode] writes with package userdata. Package node reads contracts and says what they make of
// a machine. A [Secret] is shown nowhere; only [Encode] writes it. Each [Problem] has a [ProblemKind] for programs.
//
// The package does no I/O and reads neither clock nor environment. It refuses to decide how a
// setting reaches the machine: that is the planner's work. It is for whoever makes contracts; dialects
// (nodeconfig/aks and others), the planner, the renderers of user data and the command line call it.
package nodeconfig

// APIVersion and Kind identify a native contract.
const (
	APIVersion = "slipway.dev/v1"
	Kind       = "NodeConfig"
)

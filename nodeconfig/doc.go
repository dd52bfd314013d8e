// Package nodeconfig is Slipway's contract: all that a machine needs to know to become a Kubernetes node.
//
// A [NodeConfig] is grouped by concern and uses Kubernetes' own terms, so that a reader who knows Kubernetes guesses right. Every
// dialect is translated to it, and it is the planner's only description of a node. [FromTree] reads it tolerantly. [Default]
// completes it. [Repair] reports all its problems at once and removes unusable values. [Digest] identifies it.
//
// A program that makes contracts fills in a NodeConfig, merges one for all nodes and one for a single node with [Merge], and
// delivers the result of [Encode] with package userdata. Package node reads contracts and plans what they change on a machine. A
// [Secret] is never shown; only [Encode] writes it. Each [Problem] has a [ProblemKind] for programs.
//
// The package does no I/O and reads neither clock nor environment. It does not decide how a setting reaches the machine: that is
// the planner's work. Programs that make contracts call it, and so do dialects (nodeconfig/aks and others), the planner, the
// renderers of user data and the command line.
package nodeconfig

// APIVersion and Kind identify a native contract.
const (
	APIVersion = "slipway.dev/v1"
	Kind       = "NodeConfig"
)

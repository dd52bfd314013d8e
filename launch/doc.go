// Package launch decides what a new node will be, before there is a machine: from settings, a pool, a class, a claim, an
// instance type and what is known of the cluster, to a [Launch]: the node's contract and the machine's properties.
//
// Values come in layers, one for each [Source]. [Render] makes one [Document] of them, and [Launch.Explain] says of each value which
// layer set it, what that layer overrode, and by which rule a value was computed. A [Cloud] has the cloud's decisions;
// package launch/azure is one, and nothing of a cloud is here. [Compare] compares the [Record] of a node that runs with the launch
// that is wanted.
//
// It is for autoscalers, and the command line calls it (slipway launch). It is pure: it does no I/O, reads no clock, no
// environment and no randomness, and the same input has the same bytes. It starts no machine, imports neither Kubernetes nor
// a cloud's SDK, and refuses to guess: what a decision needs and no source says is a problem.
package launch

// Package launch decides what a new node will be, before there is a machine. Settings, pool, class, claim and instance type become a
// [Launch]: the node's contract and the machine's properties.
//
// Each [Source] gives a [Layer] of values. [Render] merges them. [Launch.Explain] names the layer or the [Rule] of each value. A [Cloud],
// such as launch/azure, has the cloud's decisions. [Compare] compares the [Record] of a running node with a launch.
//
// Autoscalers and the command line (slipway launch) use it. It is pure: no I/O, clock, environment or randomness; the same input gives
// the same bytes. It does not guess: a needed value that no source has is a problem.
package launch

// Package integrity finds what changes what a node's kubelet and container runtime run, and is not part of the node: drop-ins, masks
// and names of its units, static pods, settings of registries, replaced programs, attributes of its files. What the node itself has
// is compared by internal/apply and internal/bundle.
//
// It reads files, within limits, and changes nothing. A node is described by a [Node], which is made of a plan and is plain data. An
// honest machine has such things, too: its image brought them. So [Since] leaves out what was found before. internal/generation,
// internal/transition and "slipway verify" call it.
package integrity

// Package integrity finds additions that change what a node's kubelet and container runtime run, and that are not part of the node:
// drop-ins, masks and names of its units, static pods, registry settings, replaced programs, attributes of its files. internal/apply
// and internal/bundle compare the node's own files.
//
// It reads files, within limits, and changes nothing. A [Node], which is plain data made from a plan, describes the node. A machine
// that was not tampered with has such additions, too: its image brought them. So [Since] leaves out earlier findings.
// internal/generation, internal/transition and "slipway verify" call it.
package integrity

// Package watch keeps a running node as its sources say: it follows them, applies what changes, looks for
// drift, and reports what came of both. It follows the machine's tag with the API server's address, too, where
// the node has that from there.
//
// It decides when something is done and when not again; what is done is internal/agent's, which it calls
// through [Node]. A source's bytes are tried once: a config that was refused or has failed is remembered,
// over restarts too, until the source holds other bytes. What is in the way of a config without being its
// fault, such as a lock or a disk, is tried again, later and later. It never provisions: a machine without
// a generation is left to "slipway-node provision". cmd/slipway-node wires it.
package watch

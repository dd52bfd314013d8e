// Package watch keeps a running node as its sources describe it: it follows the sources, applies what changes, looks for
// drift, and reports the outcome of both. If the node has the API server's address from the machine's tag, the package
// follows the tag, too.
//
// The package decides when to act and when not to act again; internal/agent acts, and the package calls it through [Node].
// It tries the bytes of a source once: it remembers a config that was refused or has failed, also over restarts, until the
// source holds other bytes. It retries with growing delays if the obstacle is not the config's fault, for example a lock
// or a full disk. It never provisions: it leaves a machine without a generation to "slipway-node provision".
// cmd/slipway-node wires it.
package watch

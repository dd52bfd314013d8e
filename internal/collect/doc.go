// Package collect makes a support bundle of a machine: what a supporter needs who never gets a shell. A table ([Items]) says what
// is wanted, where it is, and why; the rest of the package reads it, removes all secrets, and writes it as a stream
// (internal/supportbundle).
//
// Three nets keep secrets out. A secret of the contract is typed, and replaced before the contract is written. The values of all
// secrets that the machine holds are searched for in everything else (internal/redact). So are texts that look like secrets. What
// cannot be searched is left out, and the manifest names it.
//
// The package touches the machine through a [Machine] only, changes nothing on it, asks no network, and waits for nothing that a
// sick machine may not answer. cmd/slipway-node calls it.
package collect

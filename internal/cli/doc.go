// Package cli is how Slipway's programs speak to people and to scripts: exit codes, colour, tables,
// problems, JSON and the version.
//
// It holds presentation only. It reads no document and decides nothing about one, knows no flags and
// no commands, and never ends the process: [Report] returns the code with which main does. Both
// programs call it, cmd/slipway and cmd/slipway-node, hence it imports nothing that the small one
// could not afford.
package cli

import (
	"io"
	"os"
)

// Streams are the streams of a command: documents go to Out, what is said about them to Err.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// Standard returns the process's own streams.
func Standard() Streams { return Streams{os.Stdin, os.Stdout, os.Stderr} }

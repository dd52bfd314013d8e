// Package cli is the presentation of Slipway's programs for people and scripts: exit codes, colour, tables, problems,
// JSON and the version.
//
// It holds presentation only. It reads no document and decides nothing about one, knows no flags and no commands, and
// never ends the process: [Report] returns main's exit code. Both programs call it, cmd/slipway and cmd/slipway-node,
// so it imports nothing that is too large for the small one.
package cli

import (
	"io"
	"os"
)

// Streams are the streams of a command: documents go to Out, messages about them to Err.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// Standard returns the process's streams.
func Standard() Streams { return Streams{os.Stdin, os.Stdout, os.Stderr} }

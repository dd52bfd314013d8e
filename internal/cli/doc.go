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

// Recorder is a stream that records whether something was written to it.
type Recorder struct {
	to      io.Writer
	written bool
}

// NewRecorder returns a recorder that writes to a stream.
func NewRecorder(to io.Writer) *Recorder { return &Recorder{to: to} }

// Write implements io.Writer.
func (r *Recorder) Write(p []byte) (int, error) {
	r.written = r.written || len(p) > 0
	return r.to.Write(p)
}

// Written reports whether something was written.
func (r *Recorder) Written() bool { return r.written }

// Standard returns the process's streams.
func Standard() Streams { return Streams{os.Stdin, os.Stdout, os.Stderr} }

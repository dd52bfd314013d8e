package collect

import (
	"context"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/source"
)

// Machine is the machine, or a directory in its place.
type Machine interface {
	facts.Machine
	source.Machine
	generation.Files
	// ReadEnd reads the last limit bytes of a regular file, and returns its size. It follows no link at the last name, and never
	// blocks.
	ReadEnd(path string, limit int64) (end []byte, size int64, err error)
	// ReadJournal returns the records of the journal that match, oldest first, as lines of JSON. cut reports whether there are more.
	ReadJournal(ctx context.Context, query host.JournalQuery) (records []byte, cut bool, err error)
	// Snapshot returns what systemd knows of itself and of its units.
	Snapshot(ctx context.Context) (*host.Snapshot, error)
}

package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// Backlog is an output that nobody waits for: what is written to it is kept, and passed on by a goroutine of its own
// as fast as its reader takes it. Write does not block or fail. It is for a program that must get to the end
// of what it does, whatever becomes of the terminal, pipe or journal at the other end.
type Backlog struct {
	to    io.Writer
	limit int

	mu      sync.Mutex
	waiting [][]byte // the first is being passed on
	size    int      // of all that wait, in bytes
	dropped int
	err     error
	more    sync.Cond     // of mu, for when there is something to pass on
	idle    chan struct{} // closed when there is nothing
}

// NewBacklog returns an output to w that keeps at most limit bytes that w has not taken yet, and drops what is
// written beyond that; with a limit of 0 it keeps all.
func NewBacklog(w io.Writer, limit int) *Backlog {
	b := &Backlog{to: w, limit: limit, idle: make(chan struct{})}
	b.more.L = &b.mu
	close(b.idle)
	go b.pass()
	return b
}

// Write implements io.Writer. What is written at once is passed on at once, or dropped as a whole.
func (b *Backlog) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.limit > 0 && b.size+len(p) > b.limit {
		b.dropped++
		return len(p), nil
	}
	if len(b.waiting) == 0 {
		b.idle = make(chan struct{})
		b.more.Signal()
	}
	b.waiting = append(b.waiting, append([]byte(nil), p...))
	b.size += len(p)
	return len(p), nil
}

// pass passes on what is written, for as long as the program runs.
func (b *Backlog) pass() {
	b.mu.Lock()
	for {
		for len(b.waiting) == 0 {
			b.more.Wait()
		}
		first := b.waiting[0]
		b.mu.Unlock()
		_, err := b.to.Write(first)
		b.mu.Lock()
		b.waiting, b.size = b.waiting[1:], b.size-len(first)
		if err != nil {
			b.dropped++ // the next may arrive all the same, once a disk has room again
			b.err = cmp.Or(b.err, err)
		}
		if len(b.waiting) == 0 {
			close(b.idle)
		}
	}
}

// errUnread says that a reader did not take what was written.
var errUnread = errors.New("nobody reads it")

// Flush waits until all that was written is passed on, and no longer than ctx. The error is the first with
// which something was dropped, or that not everything was taken.
func (b *Backlog) Flush(ctx context.Context) error {
	b.mu.Lock()
	idle := b.idle
	b.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil && len(b.waiting) > 0 {
		return errUnread
	}
	return b.err
}

// Dropped is how much was written that nobody will read, counted in calls of Write.
func (b *Backlog) Dropped() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dropped
}

// IsTerminal reports whether a stream is one that a person looks at.
func IsTerminal(w io.Writer) bool {
	file := fileOf(w)
	return file != nil && term.IsTerminal(int(file.Fd()))
}

// fileOf returns the file that a stream writes to; nil if it writes to none.
func fileOf(w io.Writer) *os.File {
	if b, ok := w.(*Backlog); ok {
		w = b.to
	}
	file, _ := w.(*os.File)
	return file
}

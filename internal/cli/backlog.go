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

// Backlog is an output that never blocks its writer: it keeps what is written, and a goroutine passes it on as fast as
// the reader takes it. Write does not block or fail. It is for a program that must finish its work, whatever happens to
// the terminal, pipe or journal at the other end.
type Backlog struct {
	to    io.Writer
	limit int

	mu      sync.Mutex
	waiting [][]byte // the first is being passed on
	size    int      // of all that wait, in bytes
	dropped int
	err     error
	more    sync.Cond     // of mu, signals that there is something to pass on
	idle    chan struct{} // closed when there is nothing to pass on
}

// NewBacklog returns an output to w that keeps at most limit bytes that w has not taken yet, and drops more. If limit
// is 0, it keeps everything.
func NewBacklog(w io.Writer, limit int) *Backlog {
	b := &Backlog{to: w, limit: limit, idle: make(chan struct{})}
	b.more.L = &b.mu
	close(b.idle)
	go b.pass()
	return b
}

// Write implements io.Writer. The bytes of one call are passed on together, or dropped together.
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

// pass passes on what is written, as long as the program runs.
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
			b.dropped++ // the next one may still arrive, for example when a disk has space again
			b.err = cmp.Or(b.err, err)
		}
		if len(b.waiting) == 0 {
			close(b.idle)
		}
	}
}

// errUnread means that a reader did not take the output.
var errUnread = errors.New("the reader does not take what is written")

// Flush waits until everything is passed on, or ctx is done. The error is the first one that dropped output, or that
// not everything was taken.
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

// Dropped is how many calls of Write were dropped.
func (b *Backlog) Dropped() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dropped
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(w io.Writer) bool {
	file := fileOf(w)
	return file != nil && term.IsTerminal(int(file.Fd()))
}

// fileOf returns the file that a stream writes to; nil if it writes to none.
func fileOf(w io.Writer) *os.File {
	switch w := w.(type) {
	case *Backlog:
		return fileOf(w.to)
	case *Recorder:
		return fileOf(w.to)
	case *os.File:
		return w
	}
	return nil
}

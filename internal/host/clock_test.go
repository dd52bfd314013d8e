package host

import (
	"context"
	"sync"
	"testing"
	"time"
)

// began is when time begins in a bubble of testing/synctest. A server or a process that is started outside of one is
// waited for by no clock: time stands still until it answers, and then goes on to the next delay or deadline at once.
// So no test here waits, or fails because the machine is busy.
var began = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// timed is a context whose time is over when the test says so. It is for what hangs in a system call, at which a
// bubble's time stands still for good.
type timed struct {
	context.Context
	once sync.Once
	done chan struct{}
}

func newTimed(t *testing.T) *timed { return &timed{Context: t.Context(), done: make(chan struct{})} }

func (c *timed) over()                 { c.once.Do(func() { close(c.done) }) }
func (c *timed) Done() <-chan struct{} { return c.done }

func (c *timed) Err() error {
	select {
	case <-c.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// pause is a moment, in steps of 10 µs, in which what was begun usually gets as far as to wait. No test needs that it does,
// or that it takes no longer: it makes one order of things more likely than another, where all are to end alike.
func pause(steps int) { time.Sleep(time.Duration(steps) * 10 * time.Microsecond) }

// eventually wants something to become so, however long that takes.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for tries := 0; !is(); tries++ {
		if tries == 10_000 {
			t.Errorf("it does not come to be that %s", what)
			return
		}
		pause(1000)
	}
}

package hosttest

import (
	"context"
	"sync"
	"testing"
	"time"
)

// Began is when time begins in a bubble of testing/synctest. A server or a process that is started outside of one is
// waited for by no clock: time stands still until it answers, and then goes on to the next delay or deadline at once.
// So no test here waits, or fails because the machine is busy.
var Began = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Timed is a context whose time is over when the test says so. It is for what hangs in a system call, at which a
// bubble's time stands still for good.
type Timed struct {
	context.Context
	once sync.Once
	done chan struct{}
}

func NewTimed(t *testing.T) *Timed { return &Timed{Context: t.Context(), done: make(chan struct{})} }

func (c *Timed) Over()                 { c.once.Do(func() { close(c.done) }) }
func (c *Timed) Done() <-chan struct{} { return c.done }

func (c *Timed) Err() error {
	select {
	case <-c.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// Pause is a moment, in steps of 10 µs, in which what was begun usually gets as far as to wait. No test needs that it does,
// or that it takes no longer: it makes one order of things more likely than another, where all are to end alike.
func Pause(steps int) { time.Sleep(time.Duration(steps) * 10 * time.Microsecond) }

// Eventually wants something to become so, however long that takes.
func Eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for tries := 0; !is(); tries++ {
		if tries == 10_000 {
			t.Errorf("it does not come to be that %s", what)
			return
		}
		Pause(1000)
	}
}

package hosttest

import (
	"context"
	"sync"
	"testing"
	"time"
)

// Began is the first moment in a bubble of testing/synctest. If a server or a process was started outside of the bubble, no clock
// waits for it: time stands still until it answers, and then jumps to the next delay or deadline. So no test here waits, or fails
// because the machine is busy.
var Began = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Timed is a context whose deadline passes when the test says so. It is for code that hangs in a system call, during which a
// bubble's time stands still for ever.
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

// Pause waits a moment, in steps of 10 µs, in which started work usually begins to wait. No test depends on it: it only makes one
// order of events more likely than another, and all orders must end alike.
func Pause(steps int) { time.Sleep(time.Duration(steps) * 10 * time.Microsecond) }

// Eventually waits until a condition is true, without a time limit.
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

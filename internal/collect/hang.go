package collect

import (
	"context"
	"errors"
	"time"
)

// errHangs means that a source does not answer: its disk or its server hangs.
var errHangs = errors.New("does not answer in time: a disk or a service may hang")

// within returns what read returns, or errHangs after a limit. A system call that hangs cannot be ended, so read goes on then.
func within[T any](ctx context.Context, limit time.Duration, read func(ctx context.Context) (T, error)) (value T, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	done := make(chan func() (T, error), 1)
	go func() {
		defer cancel()
		read, err := read(ctx)
		done <- func() (T, error) { return read, err }
	}()
	select {
	case result := <-done:
		return result()
	case <-ctx.Done():
	}
	select {
	case result := <-done: // both were ready
		return result()
	default:
		return value, errHangs
	}
}

// Package poll waits between two looks at something without events, as long as a context is active.
package poll

import (
	"context"
	"time"
)

// Sleep waits for d, and reports whether the time passed before ctx was done.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}

// Until calls look until that has seen enough or fails, and returns look's error. It waits between two calls: first for
// the duration first, then twice as long each time, up to longest. If ctx ends a wait, Until returns ctx's error.
func Until(ctx context.Context, first, longest time.Duration, look func() (enough bool, err error)) error {
	for delay := first; ; delay = min(2*delay, longest) {
		if enough, err := look(); err != nil || enough {
			return err
		}
		if !Sleep(ctx, delay) {
			return ctx.Err()
		}
	}
}

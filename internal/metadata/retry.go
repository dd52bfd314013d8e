package metadata

import (
	"context"
	"time"

	"github.com/slipway-dev/slipway/internal/poll"
)

const (
	// firstTry limits the first try. The services are on the machine's host and answer within milliseconds, so after
	// two seconds an answer is lost. That leaves time for TCP to repeat a lost SYN once, after one second (RFC 6298,
	// section 2).
	firstTry = 2 * time.Second
	// longestTry limits all tries. After a try that reached its limit, the next one has twice the time, so that a slow
	// service still succeeds.
	longestTry = 10 * time.Second
	// firstPause and longestPause are between tries: the pause doubles each time, without randomness, because each
	// machine's host has a separate service and there is no thundering herd. Azure allows five requests a second.
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
	// longestRetryAfter limits the pause that a service can request.
	longestRetryAfter = 30 * time.Second
	// finalTry is what a pause leaves of the caller's time, so that the last action is a try.
	finalTry = time.Second
)

// retry tries until one try succeeds, one fails permanently, or ctx ends.
func retry[T any](ctx context.Context, try func(ctx context.Context) (T, *failure)) (T, error) {
	var last *failure
	var missing time.Time // since when the answer is "not found"
	begin, bound, pause := time.Now(), firstTry, firstPause
	for tries := 1; ; tries++ {
		value, f := bounded(ctx, bound, try)
		if f == nil {
			return value, nil
		}
		if ctx.Err() != nil && last != nil {
			f = last // the end of the caller's time is not the service's answer
		}
		last = f
		if f.kind != NotFound {
			missing = time.Time{}
		} else if missing.IsZero() {
			missing = time.Now()
		}
		if f.kind == Timeout {
			bound = min(2*bound, longestTry)
		}
		again := f.again || f.settle > 0 && time.Since(missing) < f.settle
		if !again || !sleep(ctx, max(pause, min(f.after, longestRetryAfter))) {
			return value, f.error(tries, time.Since(begin), ctx.Err())
		}
		pause = min(2*pause, longestPause)
	}
}

// once tries once.
func once[T any](ctx context.Context, try func(ctx context.Context) (T, *failure)) (T, error) {
	begin := time.Now()
	value, f := bounded(ctx, longestTry, try)
	if f != nil {
		return value, f.error(1, time.Since(begin), ctx.Err())
	}
	return value, nil
}

func bounded[T any](ctx context.Context, bound time.Duration, try func(ctx context.Context) (T, *failure)) (T, *failure) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	return try(ctx)
}

// sleep waits, but leaves time for a last try if ctx has a deadline. It reports whether ctx is still active.
func sleep(ctx context.Context, pause time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok {
		if left := time.Until(deadline) - finalTry; left > 0 {
			pause = min(pause, left)
		}
	}
	return poll.Sleep(ctx, pause)
}

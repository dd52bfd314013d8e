package metadata

import (
	"context"
	"time"

	"github.com/slipway-dev/slipway/internal/poll"
)

const (
	// firstTry bounds the first try. The services are on the machine's own host and answer within
	// milliseconds, so two seconds are an answer that was lost, and leave time for TCP to send a lost SYN once
	// more, after one second (RFC 6298, section 2).
	firstTry = 2 * time.Second
	// longestTry bounds all tries. A try that ended by its bound is followed by one of twice the time, so that
	// a service that is slow is not given up for ever.
	longestTry = 10 * time.Second
	// firstPause and longestPause are between tries: doubled each time, with no chance in it, as each
	// machine's host has its own service and there is no herd. Azure allows five requests a second.
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
	// longestRetryAfter bounds what a service can ask for.
	longestRetryAfter = 30 * time.Second
	// finalTry is what a pause leaves of the caller's time, so that the end is a try and no pause.
	finalTry = time.Second
)

// retry makes tries until one succeeds, one fails for good, or ctx ends.
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
			f = last // that the caller's time is over is no answer of the service's
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

// once makes one try.
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

// sleep waits, but leaves time for a last try where ctx has a deadline. It reports whether ctx goes on.
func sleep(ctx context.Context, pause time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok {
		if left := time.Until(deadline) - finalTry; left > 0 {
			pause = min(pause, left)
		}
	}
	return poll.Sleep(ctx, pause)
}

package watch

import (
	"hash/fnv"
	"strconv"
	"time"

	"github.com/slipway-dev/slipway/internal/agent"
)

// How long is waited after a failure: the first time, and at most.
const (
	firstBackoff = 10 * time.Second
	lastBackoff  = 10 * time.Minute
)

// attempts are those of a change that is tried until it succeeds.
type attempts struct {
	// due is the time of the next attempt, or of the next check that may start one.
	due time.Time
	// failures is how many have failed since one succeeded.
	failures int
}

// concluded records the outcome of an attempt, and reports whether it succeeded. The delay before the next attempt grows with each
// failure and is at least least. busy and failed are the log messages for the two outcomes, with args.
func (r *run) concluded(a *attempts, changed agent.Changed, least time.Duration, busy, failed string, args ...any) bool {
	if changed.Busy {
		r.Log.Info(busy, args...)
		a.due = time.Now().Add(firstBackoff)
		return false
	}
	r.Metrics.applied(changed.Status)
	if changed.Status.ExitCode == 0 {
		a.failures = 0
		return true
	}
	r.failed = true
	a.failures++
	delay := max(least, backoff(a.failures))
	a.due = time.Now().Add(delay)
	r.Log.Error(failed, append(args, "reason", why(changed), "retryIn", delay)...)
	return false
}

// backoff is how long is waited after so many failures in a row.
func backoff(failures int) time.Duration {
	delay := firstBackoff
	for range failures - 1 {
		if delay *= 2; delay >= lastBackoff {
			return lastBackoff
		}
	}
	return delay
}

// spread returns 90 to 110 per cent of an interval. The machine, the source and the time decide the value, not chance: a thousand
// machines ask at different times, and a run can be repeated.
func spread(interval time.Duration, seed, name string, now time.Time) time.Duration {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(seed + "\x00" + name + "\x00" + strconv.FormatInt(now.Unix(), 10))) // never fails
	thousandths := time.Duration(900 + sum.Sum32()%201)
	return interval / 1000 * thousandths
}

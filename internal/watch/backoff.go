package watch

import (
	"hash/fnv"
	"strconv"
	"time"
)

// How long is waited after a failure: the first time, and at most.
const (
	firstBackoff = 10 * time.Second
	lastBackoff  = 10 * time.Minute
)

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

// spread is an interval of 90 to 110 per cent of the one given. Which one is told by the machine, the source
// and the time, and not by chance: a thousand machines ask at a thousand times, and a run can be repeated.
func spread(interval time.Duration, seed, name string, now time.Time) time.Duration {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(seed + "\x00" + name + "\x00" + strconv.FormatInt(now.Unix(), 10))) // never fails
	thousandths := time.Duration(900 + sum.Sum32()%201)
	return interval / 1000 * thousandths
}

package agent

import (
	"context"
	"log/slog"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// lock is one run's view of the lock that keeps runs apart: the run holds it, or not.
type lock struct {
	host    apply.Host
	log     *slog.Logger
	release func() error
	// yielded reports whether the run gave up because it did not get the lock in time.
	yielded bool
}

func newLock(r *run) *lock { return &lock{host: r.host, log: r.log} }

func (l *lock) held() bool { return l.release != nil }

// lockQuiet is how long a run waits for another one before it logs that it waits.
const lockQuiet = time.Second

// take waits until no other run is at work. It logs a longer wait.
func (l *lock) take(ctx context.Context) error {
	if l.held() {
		return nil
	}
	quiet, cancel := context.WithTimeout(ctx, lockQuiet)
	defer cancel()
	release, err := apply.Lock(quiet, l.host)
	if err != nil && quiet.Err() != nil && ctx.Err() == nil {
		l.log.Warn("another run is working; waiting for its end", "lock", apply.LockPath)
		release, err = apply.Lock(ctx, l.host)
	}
	if err != nil {
		l.yielded = ctx.Err() != nil
		return err
	}
	l.release = release
	return nil
}

// takeWithin takes the lock, and waits no longer than another run may take.
func (l *lock) takeWithin(ctx context.Context, upTo time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, upTo)
	defer cancel()
	return l.take(ctx)
}

// giveBack gives the lock back, where it is held.
func (l *lock) giveBack() {
	if !l.held() {
		return
	}
	if err := apply.Guard(l.log, "agent", l.release); err != nil {
		l.log.Warn("the lock cannot be given back before the agent ends", "path", apply.LockPath, "error", err)
	}
	l.release = nil
}

// during holds the lock while f is at work.
func (l *lock) during(ctx context.Context, f func() error) error {
	if err := l.take(ctx); err != nil {
		return err
	}
	defer l.giveBack()
	return f()
}

// mayPublish takes the lock if the run ended before it did so. Only a lock that another run holds prevents publishing:
// that run ends within its timeout, and mayPublish waits for it.
func (l *lock) mayPublish(ctx context.Context) bool {
	if !l.held() && !l.yielded {
		take := func() error { return l.takeWithin(ctx, nodeconfig.DefaultTimeout.Std()) }
		if err := apply.Guard(l.log, "agent", take); err != nil {
			l.log.Warn("the lock cannot be taken", "path", apply.LockPath, "error", err)
		}
	}
	return !l.yielded
}

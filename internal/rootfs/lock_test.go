package rootfs

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

func TestLockExcludes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		withUmask(t, 0)
		first, at := newTree(t)
		second, err := Open(first.name)
		must(t, err)
		defer second.Close()
		unlock, err := first.Lock(t.Context(), "/run/slipway/lock")
		must(t, err)
		if info, err := os.Stat(at("run/slipway/lock")); err != nil || info.Mode() != 0o600 {
			t.Errorf("lock file: %v, %v", info.Mode(), err)
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = second.Lock(ctx, "/run/slipway/lock")
		wantError(t, err, "lock /run/slipway/lock")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v is not ctx's error", err)
		}

		var released atomic.Bool
		time.AfterFunc(time.Second, func() {
			released.Store(true)
			if err := unlock(); err != nil {
				t.Error(err)
			}
		})
		unlockSecond, err := second.Lock(t.Context(), "/run/slipway/lock")
		must(t, err)
		if !released.Load() {
			t.Error("two hold the lock")
		}
		must(t, unlockSecond())
		if err := unlockSecond(); err == nil {
			t.Error("unlocking twice is no error")
		}
	})
}

func TestLockCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tree, _ := newTree(t)
		unlock, err := tree.Lock(t.Context(), "/lock")
		must(t, err)
		defer unlock()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		start := time.Now()
		if _, err := tree.Lock(ctx, "/lock"); !errors.Is(err, context.Canceled) {
			t.Errorf("%v is not ctx's error", err)
		}
		if waited := time.Since(start); waited > lockRetry {
			t.Errorf("waited %s", waited)
		}
	})
}

func TestLockFileRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tree, at := newTree(t)
		// A caller that waits for a lock whose file is removed takes the new file, as all others will.
		unlock, err := tree.Lock(t.Context(), "/lock")
		must(t, err)
		must(t, os.Remove(at("lock")))
		unlockNew, err := tree.Lock(t.Context(), "/lock")
		must(t, err)
		must(t, unlock())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := tree.Lock(ctx, "/lock"); err == nil {
			t.Error("two hold the new lock")
		}
		must(t, unlockNew())
	})
}

func TestLockRefuses(t *testing.T) {
	tree, at := newTree(t)
	must(t, os.WriteFile(at("target"), nil, 0o644))
	must(t, os.Symlink("target", at("link")))
	must(t, unix.Mkfifo(at("pipe"), 0o600))
	for _, path := range []string{"/link", "/pipe", "/", "relative"} {
		if _, err := tree.Lock(t.Context(), path); err == nil {
			t.Errorf("%s can be locked", path)
		}
	}
}

package agent

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/state"
)

// A reset ends a trial: if the timer still fires, it does not make the machine a node again.
func TestResetOfATrial(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(op, name string) error{
		"the timer is stopped":    fine,
		"the timer does not stop": failing("StopUnit " + wayBack(2, tryFor, false).timer()),
	} {
		n, list := tried(t)
		n.host.before = before
		if _, err := n.Reset(t.Context()); err != nil || n.exists(brought) {
			t.Errorf("%s: %v", name, err)
		}
		if stopped := strings.HasSuffix(n.stopped(), list[1].timer()); stopped != (name == "the timer is stopped") {
			t.Errorf("%s: stopped are %s", name, n.stopped())
		}
		files := n.tree()
		got := n.Rollback(t.Context(), RollbackOptions{Unconfirmed: 2, Until: noon.Add(tryFor * time.Second)})
		if got.Status.ExitCode != 0 || len(got.Status.Changes) > 0 {
			t.Errorf("%s: the timer: %v, %v", name, got.Status.Error, got.Status.Changes)
		}
		same(t, name, n.tree(), files)
	}
}

// If the record cannot be read, nothing is removed, and neither the marker nor the reset reports that it was.
func TestResetWithoutRecord(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(n *node){
		"damaged": func(n *node) { n.deliver(state.Generation(2).Path, []byte("{")) },
		"lost":    func(n *node) { n.remove(state.Generation(2).Path) },
	} {
		n := running(t)
		n.change(better(t))
		damage(n)
		before := n.tree()
		changes, err := n.Reset(t.Context())
		if err == nil || len(changes) > 0 || !strings.Contains(err.Error(), "generation 2") || strings.Contains(err.Error(), "run the same command again") {
			t.Errorf("%s: %v, %v", name, changes, err)
		}
		same(t, name, n.tree(), before)
		if !n.exists(nativePlace.complete) {
			t.Errorf("%s: the marker is gone", name)
		}
	}
}

// A reset and a confirmation wait for another run, log that, and give up after a limit.
func TestPatience(t *testing.T) {
	for name, do := range map[string]func(*node, context.Context) error{
		"reset":   func(n *node, ctx context.Context) error { _, err := n.Reset(ctx); return err },
		"confirm": func(n *node, ctx context.Context) error { _, err := n.Confirm(ctx); return err },
	} {
		synctest.Test(t, func(t *testing.T) {
			n, _ := tried(t)
			unlock, err := apply.Lock(t.Context(), n.host)
			if err != nil {
				t.Fatal(err)
			}
			defer unlock()
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			begin := time.Now()
			if err := do(n, ctx); err == nil || !strings.Contains(err.Error(), "another run may hold it") || time.Since(begin) > 16*time.Minute {
				t.Errorf("%s: after %s: %v", name, time.Since(begin), err)
			}
			if !strings.Contains(n.log.String(), "another run is working; waiting for its end") {
				t.Errorf("%s: it waits without a word", name)
			}
		})
	}
}

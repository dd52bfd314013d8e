package apply_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// A panic in any of the host's methods becomes an error.
func TestPanics(t *testing.T) {
	p := aksPlan(t)
	p.Resources = append(p.Resources, resource.Resource{Spec: &resource.Command{Label: "c", Argv: []string{"true"}}})
	for _, op := range append(changing, "stat", "read", "state", "sysctl", "module", "probe") {
		if op == "syncfs" {
			continue // this plan's target does not exist until something takes its place
		}
		for _, sequential := range []bool{true, false} {
			m := newMemory()
			applied(t, m, aksPlan(t, changedConfig))
			delete(m.module, "overlay")
			delete(m.files, "/opt/cni/bin")
			delete(m.units, "containerd.service")
			m.units["stale.service"] = &unit{state: "active"}
			if op == "unstage" {
				m.before = failing("stage /etc/default/kubelet")
			}
			fail := m.before
			m.before = func(c call) error {
				if c.op == op {
					panic("broken " + op)
				}
				if fail != nil {
					return fail(c)
				}
				return nil
			}
			e := engine(m)
			e.Sequential = sequential
			e.Stale = planOf(&resource.Directory{Path: "/etc/stale"}, &resource.Unit{Unit: "stale.service"}).Resources
			report, err := e.Apply(t.Context(), p)
			if report == nil || err == nil || !strings.Contains(err.Error(), "broken "+op) {
				t.Errorf("%s: %v", op, err)
			}
			m.before = nil
			applied(t, m, p)
			converged(t, m, p)
		}
	}
}

// So does a panic in a method that only other kinds of resource call.
func TestPanicsOfKinds(t *testing.T) {
	broken := make(map[string]bool)
	for _, s := range situations(t) {
		for _, op := range append(changingKinds, "attribute", "mounted", "swapping", "swap-file", "syncfs") {
			if !slices.ContainsFunc(s.calls, func(c call) bool { return c.op == op }) {
				continue
			}
			broken[op] = true
			m := s.before.clone()
			err := interrupt(m, s.plan, func(_ int, c call) error {
				if c.op == op {
					panic("broken " + op)
				}
				return nil
			})
			if err == nil || !strings.Contains(err.Error(), "broken "+op) {
				t.Errorf("%s: %s: %v", s.name, op, err)
			}
			applied(t, m, s.plan)
			sameAs(t, s.name+": "+op, &s, m)
		}
	}
	if len(broken) != len(changingKinds)+5 {
		t.Errorf("only these were called: %v", broken)
	}
}

// After the timeout nothing more is begun.
func TestDeadline(t *testing.T) {
	slow := func(context.Context) resource.Plan {
		return with(
			started("a.service"), started("b.service", "Unit:a.service"),
			resource.Resource{Spec: &resource.Sysctl{Key: "vm.x", Value: "1"}, Requires: []resource.ID{"Unit:a.service"}},
		)
	}
	for _, sequential := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			m.before = func(c call) error {
				if c.op == "start" {
					time.Sleep(2 * time.Second)
				}
				return nil
			}
			e := engine(m)
			e.Sequential = sequential
			report, err := e.Apply(ctx, slow(ctx))
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
			equal(t, "calls", m.changed(), []string{"start a.service"})
			equal(t, "skipped", names(report.Skipped), []string{"Sysctl:vm.x", "Unit:b.service"})
		})
	}
	// An apply that is cancelled before it began has changed nothing.
	m := newMemory()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := engine(m).Apply(ctx, aksPlan(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	equal(t, "calls", m.changed(), nil)
	// An apply that has done everything in time is a success, even at the last moment.
	ctx, cancel = context.WithCancel(t.Context())
	m.before = func(c call) error {
		if c.op == "start" {
			cancel()
		}
		return nil
	}
	if _, err := engine(m).Apply(ctx, with(started("a.service"))); err != nil {
		t.Errorf("%v", err)
	}
}

// A caller that waits for the lock gives up after the timeout, and changes nothing.
func TestLockIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.lock <- struct{}{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		_, err := apply.Lock(ctx, m)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "/run/slipway/lock") || time.Since(start) != time.Minute {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		equal(t, "calls", m.changed(), nil)
	})
}

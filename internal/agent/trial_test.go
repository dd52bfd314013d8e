package agent

import (
	"context"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
)

// tried is a node with a change on trial, and what was run for that.
func tried(t *testing.T) (*node, []string) {
	t.Helper()
	n := running(t)
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	n.Now = func() time.Time { return now }
	var ran []string
	n.host.run = func(_ context.Context, c *resource.Command) ([]byte, error) {
		if n.exists(brought) {
			t.Error("the way back is asked for after the change")
		}
		ran = append(ran, c.Argv...)
		return nil, nil
	}
	got := n.change(better(t), func(o *ChangeOptions) { o.Try = 90 * time.Second })
	if got.Status.ExitCode != 0 || !got.ConfirmBy.Equal(now.Add(90*time.Second)) {
		t.Fatalf("%+v, %v", got, got.Status.Error)
	}
	equal(t, "generations", n.generations(), "1 provision good, 2 apply good unconfirmed")
	return n, ran
}

// A change on trial asks systemd for the way back, before anything is changed.
func TestTry(t *testing.T) {
	t.Parallel()
	n, ran := tried(t)
	want := []string{"systemd-run", "--quiet", "--collect", "--unit=slipway-revert-2", "--on-active=90s", "/usr/bin/slipway-node", "rollback", "--unconfirmed", "2"}
	if !slices.Equal(ran, want) {
		t.Errorf("run was %q", ran)
	}
	entries, err := n.Generations()
	if err != nil || !entries[1].ConfirmBy.Equal(n.Now().Add(90*time.Second)) {
		t.Errorf("%+v, %v", entries, err)
	}
}

// Nobody confirms it: it is taken back, whatever that takes. Once more does nothing.
func TestUnconfirmed(t *testing.T) {
	t.Parallel()
	n, _ := tried(t)
	for range 2 {
		got := n.Rollback(t.Context(), RollbackOptions{Unconfirmed: 2})
		if got.Status.ExitCode != 0 || n.exists(brought) || !n.exists(pruned) {
			t.Errorf("%v", got.Status.Error)
		}
		equal(t, "generations", n.generations(), "1 provision good, 2 apply good unconfirmed, 3 rollback good as 1")
	}
	if _, err := n.Confirm(t.Context()); err == nil {
		t.Error("what was taken back is confirmed")
	}
}

// It is taken back to what was there before it, were that the same but for its contract's number.
func TestUnconfirmedOfTheSame(t *testing.T) {
	t.Parallel()
	n := running(t)
	n.change(better(t))
	same := []byte(strings.Replace(string(better(t)), "revision: 4", "revision: 5", 1))
	n.change(same, func(o *ChangeOptions) { o.Try = time.Minute })
	if got := n.Rollback(t.Context(), RollbackOptions{Unconfirmed: 3}); got.Status.ExitCode != 0 || !n.exists(brought) {
		t.Errorf("%v", got.Status.Error)
	}
	equal(t, "generations", n.generations(), "1 provision good, 2 apply good, 3 apply good unconfirmed, 4 rollback good as 2")
}

// Somebody confirms it: the way back is cancelled, and does nothing were it taken.
func TestConfirmed(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(op, name string) error{
		"all is well":             func(string, string) error { return nil },
		"the timer does not stop": failing("StopUnit slipway-revert-2.timer"),
	} {
		n, _ := tried(t)
		n.host.before = before
		kept, err := n.Confirm(t.Context())
		if err != nil || kept.Number != 2 || !kept.ConfirmBy.IsZero() {
			t.Errorf("%s: %+v, %v", name, kept, err)
		}
		stopped := strings.Contains(string(n.read("/run/slipway/actions.jsonl")), `{"action":"stop","unit":"slipway-revert-2.timer"}`)
		if logged := strings.Contains(n.log.String(), "cannot be stopped"); stopped == logged {
			t.Errorf("%s: stopped: %t, logged: %t", name, stopped, logged)
		}
		after := n.snapshot()
		got := n.Rollback(t.Context(), RollbackOptions{Unconfirmed: 2})
		if got.Status.ExitCode != 0 || !maps.Equal(after, n.snapshot()) {
			t.Errorf("%s: %v", name, got.Status.Error)
		}
		equal(t, "generations", n.generations(), "1 provision good, 2 apply good")
		if _, err := n.Confirm(t.Context()); err == nil || !strings.Contains(err.Error(), "no generation waits") {
			t.Errorf("%s: once more: %v", name, err)
		}
	}
}

// A confirmation that cannot be recorded is none.
func TestConfirmFails(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"WriteFileAtomic", "Lock", "ReadFile"} {
		n, _ := tried(t)
		n.host.before = func(o, _ string) error {
			if o == op {
				return syscall.EROFS
			}
			return nil
		}
		if _, err := n.Confirm(t.Context()); err == nil {
			t.Errorf("%s fails, and it is confirmed", op)
		}
		n.host.before = func(string, string) error { return nil }
		equal(t, "generations", n.generations(), "1 provision good, 2 apply good unconfirmed")
	}
}

// Without a way back nothing is changed.
func TestNoWayBack(t *testing.T) {
	t.Parallel()
	n := running(t)
	files := n.tree()
	n.host.before = failing("Run schedule-revert")
	if got := n.change(better(t), func(o *ChangeOptions) { o.Try = time.Minute }); got.Status.ExitCode != 240 || !strings.Contains(got.Status.Error.Message, "the way back") {
		t.Errorf("%v", got.Status.Error)
	}
	same(t, "without a way back", n.tree(), files)
	equal(t, "generations", n.generations(), "1 provision good")
}

// A change on trial that fails is taken back at once, and its way back does nothing then.
func TestTryFails(t *testing.T) {
	t.Parallel()
	n := running(t)
	n.host.before = once("Probe health-kubelet-healthz")
	if got := n.change(better(t), func(o *ChangeOptions) { o.Try = time.Minute }); got.Status.ExitCode != 34 || got.Status.Restored != 1 || !got.ConfirmBy.IsZero() {
		t.Errorf("%+v", got.Status)
	}
	after := n.snapshot()
	n.Rollback(t.Context(), RollbackOptions{Unconfirmed: 2})
	if !maps.Equal(after, n.snapshot()) {
		t.Error("the way back changes something")
	}
}

// One that died is tried again: the way back is of the generation that is taken up again.
func TestTryAgain(t *testing.T) {
	t.Parallel()
	n := running(t)
	n.deliver(changedContract, better(t))
	opts := n.options()
	opts.Try = time.Minute
	// It dies after its generation was begun: nothing more reaches the disk.
	dead := false
	n.host.before = func(op, name string) error {
		dead = dead || op == "Stage" && strings.HasPrefix(name, "/etc/")
		if dead {
			return syscall.EIO
		}
		return nil
	}
	n.Change(t.Context(), opts)
	n.host.before = func(string, string) error { return nil }
	equal(t, "generations", n.generations(), "1 provision good, 2 apply applying unconfirmed")
	var ran []string
	n.host.run = func(_ context.Context, c *resource.Command) ([]byte, error) {
		ran = c.Argv
		return nil, nil
	}
	if got := n.Change(t.Context(), opts); got.Status.ExitCode != 0 || got.Status.Generation != 2 {
		t.Errorf("%v", got.Status.Error)
	}
	if len(ran) == 0 || ran[len(ran)-1] != "2" {
		t.Errorf("run was %q", ran)
	}
	if got := n.Rollback(t.Context(), RollbackOptions{Unconfirmed: 2}); got.Status.ExitCode != 0 || n.exists(brought) {
		t.Errorf("%v", got.Status.Error)
	}
}

// What is not as the current generation has it is told, and put right, without a generation of its own.
func TestDrift(t *testing.T) {
	t.Parallel()
	n := running(t)
	files := n.tree()
	if drift, err := n.Drift(t.Context()); err != nil || len(drift) > 0 {
		t.Errorf("%v, %v", drift, err)
	}
	n.deliver("/var/lib/kubelet/config.yaml", []byte("changed"))
	n.deliver(pruned, nil)
	if err := n.host.Remove("/etc/crictl.yaml"); err != nil {
		t.Fatal(err)
	}
	before := n.snapshot()
	drift, err := n.Drift(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, c := range drift {
		found = append(found, string(c.Action)+" "+string(c.ID))
	}
	if !slices.Contains(found, "updated File:/var/lib/kubelet/config.yaml") || !slices.Contains(found, "updated File:"+pruned) ||
		!slices.Contains(found, "restarted Unit:kubelet.service") || !maps.Equal(before, n.snapshot()) {
		t.Errorf("drift is %q", found)
	}
	// One that fails does not keep the next from repairing.
	n.host.before = once("RestartUnit kubelet.service")
	if got := n.Repair(t.Context(), RepairOptions{}); got.Status.ExitCode != 34 {
		t.Errorf("%v", got.Status.Error)
	}
	if got := n.Repair(t.Context(), RepairOptions{}); got.Status.ExitCode != 0 || len(got.Status.Changes) == 0 {
		t.Errorf("%v, %v", got.Status.Error, got.Status.Changes)
	}
	same(t, "after a repair", n.tree(), files)
	equal(t, "generations", n.generations(), "1 provision good")
}

package agent

import (
	"context"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/test/detector"
)

// If the machine is not healthy with a change, the change is rolled back: every file is as it was, pruned files are
// back, new files are gone, and the exit code is that of the failure.
func TestReverted(t *testing.T) {
	detector.Skip(t)
	t.Parallel()
	for _, c := range []struct {
		name   string
		before func(op, name string) error
		code   int
		says   string
	}{
		{"a unit does not start again", once("RestartUnit kubelet.service"), 34, "kubelet.service"},
		{"the runtime does not start again", once("RestartUnit containerd.service"), 4, "containerd.service"},
		{"the runtime is not well", once("Probe health-runtime-ready"), 4, "is not well"},
		{"the kubelet is not well", once("Probe health-kubelet-healthz"), 34, "is not well"},
		{"the Node's lease is not renewed", once("Probe health-node-lease"), 34, "is not well"},
		{"a file cannot be staged", once("Stage " + brought), 240, "failed"},
		{"a file cannot be renamed", once("Commit /var/lib/kubelet/config.yaml"), 240, "failed"},
		{"a file cannot be pruned", once("Remove " + pruned), 240, "failed"},
	} {
		n := running(t)
		files := n.tree()
		n.host.before = c.before
		got := n.change(better(t))
		s := got.Status
		if s.ExitCode != c.code || s.Restored != 1 || s.Generation != 2 || len(s.Errors) != 1 || !strings.Contains(s.Error.String(), c.says) || !got.ConfirmBy.IsZero() {
			t.Errorf("%s: %d, restored %d, %+v", c.name, s.ExitCode, s.Restored, s.Errors)
		}
		same(t, c.name, n.tree(), files)
		equal(t, c.name, n.generations(), "1 provision good, 2 apply failed, 3 rollback good as 1")
		if last, err := n.LastStatus(); err != nil || last.ExitCode != c.code || last.Restored != 1 {
			t.Errorf("%s: the status is %+v, %v", c.name, last, err)
		}
		// The machine's earlier state is also what later commands see.
		if drift, err := n.Drift(t.Context()); err != nil || len(drift) > 0 {
			t.Errorf("%s: drift: %v, %v", c.name, drift, err)
		}
		if got := n.provision(); got.ExitCode != 0 || len(got.Changes) > 0 {
			t.Errorf("%s: the next boot: %v, %v", c.name, got.Error, got.Changes)
		}
		if got := n.change(better(t)); got.Status.ExitCode != 0 || got.Status.Generation != 4 {
			t.Errorf("%s: once more: %v", c.name, got.Status.Error)
		}
		n.left()
	}
}

// Units that have read the changed files start again with the earlier ones.
func TestRevertedUnits(t *testing.T) {
	t.Parallel()
	n := running(t)
	before := strings.Count(string(n.read("/run/slipway/actions.jsonl")), "\n")
	n.host.before = once("Probe health-node-lease")
	n.change(better(t))
	lines := strings.Split(strings.TrimSpace(string(n.read("/run/slipway/actions.jsonl"))), "\n")[before:]
	restart := func(unit string) string { return `{"action":"restart","unit":"` + unit + `.service"}` }
	once := []string{`{"action":"daemon-reload"}`, restart("containerd"), restart("kubelet-prepare"), restart("kubelet")}
	if want := slices.Concat(once, once); !slices.Equal(lines, want) {
		t.Errorf("got %s", strings.Join(lines, "\n"))
	}
}

// If the rollback fails too, both errors are reported, and the exit code is the change's.
func TestRevertFails(t *testing.T) {
	t.Parallel()
	n := running(t)
	n.host.before = failing("Probe health-kubelet-healthz", "RestartUnit containerd.service")
	starts := 0
	n.host.before = func(op, name string) error {
		if op+" "+name == "RestartUnit containerd.service" {
			if starts++; starts == 1 {
				return nil
			}
		}
		return failing("Probe health-kubelet-healthz", "RestartUnit containerd.service")(op, name)
	}
	got := n.change(better(t)).Status
	if got.ExitCode != 34 || got.Restored != 0 || len(got.Errors) != 2 || got.Errors[0].Resource != "Check:health-kubelet-healthz" ||
		got.Errors[1].Resource != "Generation:1" || !strings.Contains(got.Errors[1].Message, "cannot be restored") || !strings.Contains(got.Errors[1].Message, "containerd.service") {
		t.Errorf("%d, %d, %+v", got.ExitCode, got.Restored, got.Errors)
	}
	equal(t, "generations", n.generations(), "1 provision good, 2 apply failed, 3 rollback failed as 1")
	// What failed twice is done by the next boot, from its contract.
	n.host.before = func(string, string) error { return nil }
	if got := n.provision(); got.ExitCode != 0 || n.exists(brought) || !n.exists(pruned) {
		t.Errorf("%v", got.Error)
	}
}

// A change that is stopped, by a signal or its timeout, is rolled back as well.
func TestStopped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stop     func(cancel context.CancelFunc)
		deadline time.Duration
		code     int
	}{
		"a signal": {func(cancel context.CancelFunc) { cancel() }, 0, 75},
		"its time": {func(context.CancelFunc) {}, time.Minute, 124},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := running(t)
			files := n.tree()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			hung := false
			n.host.hang = func(ctx context.Context, op, check string) error {
				if hung || op != "Probe" || check != "health-kubelet-healthz" {
					return nil
				}
				hung = true
				c.stop(cancel)
				<-ctx.Done()
				return ctx.Err()
			}
			n.deliver(changedContract, better(t))
			opts := n.options()
			opts.Deadline = c.deadline
			got := n.Change(ctx, opts).Status
			if got.ExitCode != c.code || got.Restored != 1 {
				t.Errorf("%s: %d, %d, %+v", name, got.ExitCode, got.Restored, got.Errors)
			}
			same(t, name, n.tree(), files)
		})
	}
}

// If the machine is unhealthy for a reason that the change did not cause, the change is not rolled back.
func TestNotTheChange(t *testing.T) {
	t.Parallel()
	n := running(t)
	n.host.before = failing("Probe health-kubelet-healthz")
	got := n.change(edited(t, "revision: 3", "revision: 4")).Status
	if got.ExitCode != 34 || got.Restored != 0 {
		t.Errorf("%+v", got)
	}
	equal(t, "generations", n.generations(), "1 provision good, 2 apply failed")
	equal(t, "again", n.change(edited(t, "revision: 3", "revision: 4")).Status.ExitCode, 34)
	n.host.before = func(string, string) error { return nil }
	equal(t, "once it is well", n.change(edited(t, "revision: 3", "revision: 4")).Status.ExitCode, 0)
	equal(t, "generations", n.generations(), "1 provision good, 2 apply good")
}

// A rollback restores all that was pruned and removes all that was added, as a new generation. Another rollback undoes
// it.
func TestRollback(t *testing.T) {
	t.Parallel()
	n := running(t)
	first := n.tree()
	n.change(better(t))
	second := n.tree()
	for i, c := range []struct {
		opts  RollbackOptions
		files map[string]string
	}{{RollbackOptions{}, first}, {RollbackOptions{}, second}, {RollbackOptions{Number: 1}, first}, {RollbackOptions{Number: 4}, second}} {
		c.opts.Allow = difference.Restart
		got := n.Rollback(t.Context(), c.opts)
		if got.Status.ExitCode != 0 || got.Status.Generation != 3+i || got.Status.Config.Dialect != "native" {
			t.Errorf("%d: %+v", i, got.Status)
		}
		same(t, "after a rollback", n.tree(), c.files)
	}
	equal(t, "generations", n.generations(), "1 provision good, 2 apply good, 3 rollback good as 1, 4 rollback good as 2, 5 rollback good as 1, 6 rollback good as 4")
}

// An impossible rollback is refused.
func TestRollbackRefused(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	if got := n.Rollback(t.Context(), RollbackOptions{}); got.Status.ExitCode != 1 || !strings.Contains(got.Refused, "no generation") {
		t.Errorf("%+v", got)
	}
	if _, err := n.Drift(t.Context()); err == nil {
		t.Error("a machine without a generation has drifted")
	}
	n = running(t)
	before := n.snapshot()
	for _, c := range []struct {
		opts RollbackOptions
		says string
	}{{RollbackOptions{}, "no good generation before"}, {RollbackOptions{Number: 7}, "no generation 7"}} {
		if got := n.Rollback(t.Context(), c.opts); got.Status.ExitCode != 1 || !strings.Contains(got.Refused, c.says) {
			t.Errorf("%+v: %q", c.opts, got.Refused)
		}
	}
	if !maps.Equal(before, n.snapshot()) {
		t.Error("something was written")
	}
	n.change(better(t))
	if got := n.Rollback(t.Context(), RollbackOptions{Allow: difference.None}); got.Status.ExitCode != 1 || !strings.Contains(got.Refused, "--allow restart") || !n.exists(brought) {
		t.Errorf("beyond what is allowed: %+v", got.Refused)
	}
	// A generation with a damaged file cannot be restored, and the node stays as it is.
	n.deliver("/var/lib/slipway/generations/000001.json", []byte("{"))
	if got := n.Rollback(t.Context(), RollbackOptions{Allow: difference.Restart}); got.Status.ExitCode != 240 || !n.exists(brought) {
		t.Errorf("%d, %v", got.Status.ExitCode, got.Status.Error)
	}
}

// The current generation's file is damaged: the difference lists everything as new, and the change is made.
func TestDamagedGeneration(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"000001.json", "index.json"} {
		n := running(t)
		n.deliver("/var/lib/slipway/generations/"+file, []byte("{"))
		if got := n.change(better(t)); got.Status.ExitCode != 0 || !n.exists(brought) {
			t.Errorf("%s: %d, %v", file, got.Status.ExitCode, got.Status.Error)
		}
		if !n.exists("/var/lib/slipway/generations/" + file + ".damaged") {
			t.Errorf("%s is not set aside", file)
		}
		if got := n.change(best(t)); got.Status.ExitCode != 0 || n.exists(brought) {
			t.Errorf("%s, the next: %d, %v", file, got.Status.ExitCode, got.Status.Error)
		}
	}
}

// If the generation cannot be recorded, nothing is changed.
func TestGenerationCannotBeRecorded(t *testing.T) {
	t.Parallel()
	n := running(t)
	files := n.tree()
	n.host.before = func(op, name string) error {
		if op == "WriteFileAtomic" && strings.HasPrefix(name, "/var/lib/slipway/generations/") {
			return syscall.ENOSPC
		}
		return nil
	}
	if got := n.change(better(t)); got.Status.ExitCode != 240 || got.Status.Generation != 0 || !strings.Contains(got.Status.Error.Message, "no space left") {
		t.Errorf("%v", got.Status.Error)
	}
	same(t, "a full disk", n.tree(), files)
}

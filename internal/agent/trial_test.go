package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/test/detector"
)

// noon is the time at which these tests try changes.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// scheduled is a rollback that systemd is to start.
type scheduled struct {
	unit, after, number, until string
	// before reports that nothing was changed by then.
	before bool
}

// schedules records the rollbacks that systemd gets, on a node whose clock stands still.
func (n *node) schedules() *[]scheduled {
	n.Now = func() time.Time { return noon }
	var list []scheduled
	n.host.run = func(_ context.Context, c *resource.Command) ([]byte, error) {
		want := []string{"systemd-run", "--quiet", "--collect", "", "", "/usr/bin/slipway-node", "rollback", "--unconfirmed", "", "--until", ""}
		s := scheduled{unit: c.Argv[3], after: c.Argv[4], number: c.Argv[8], until: c.Argv[10], before: !n.exists(brought)}
		want[3], want[4], want[8], want[10] = s.unit, s.after, s.number, s.until
		if !slices.Equal(c.Argv, want) {
			n.Errorf("run was %q", c.Argv)
		}
		list = append(list, s)
		return nil, nil
	}
	return &list
}

// wayBack is a generation's rollback, some seconds after noon.
func wayBack(number, seconds int, before bool) scheduled {
	until := strconv.FormatInt(noon.Unix()+int64(seconds), 10)
	return scheduled{fmt.Sprintf("--unit=slipway-revert-%d-%s", number, until), fmt.Sprintf("--on-active=%ds", seconds), strconv.Itoa(number), until, before}
}

// The times of a trial: the first rollback is due after the longest time of a change and its way back.
const (
	tryFor    = 90
	allOfTime = 300 + 180
)

// tried is a node with a change on trial, and the scheduled rollbacks.
func tried(t *testing.T) (*node, []scheduled) {
	t.Helper()
	n := running(t)
	list := n.schedules()
	got := n.change(better(t), onTrial)
	if got.Status.ExitCode != 0 || !got.ConfirmBy.Equal(noon.Add(tryFor*time.Second)) {
		t.Fatalf("%+v, %v", got, got.Status.Error)
	}
	equal(t, "generations", n.generations(), "1 provision good, 2 apply good unconfirmed")
	return n, *list
}

func onTrial(o *ChangeOptions) { o.Try, o.Deadline = tryFor*time.Second, 300*time.Second }

// A change on trial schedules the rollback before it changes anything, and again when it is made: from then on the
// requested time counts.
func TestTry(t *testing.T) {
	t.Parallel()
	n, list := tried(t)
	if want := []scheduled{wayBack(2, allOfTime+tryFor, true), wayBack(2, tryFor, false)}; !slices.Equal(list, want) {
		t.Errorf("%+v, want %+v", list, want)
	}
	entries, err := n.Generations()
	if err != nil || !entries[1].ConfirmBy.Equal(noon.Add(tryFor*time.Second)) {
		t.Errorf("%+v, %v", entries, err)
	}
	equal(t, "stopped", n.stopped(), list[0].timer())
	// If the first rollback still fires, it does nothing.
	first := noon.Add((allOfTime + tryFor) * time.Second)
	if got := n.Rollback(t.Context(), RollbackOptions{Unconfirmed: 2, Until: first}); got.Status.ExitCode != 0 || len(got.Status.Changes) > 0 {
		t.Errorf("%v, %v", got.Status.Error, got.Status.Changes)
	}
	if got := n.Rollback(t.Context(), RollbackOptions{Unconfirmed: 2, Until: entries[1].ConfirmBy}); got.Status.ExitCode != 0 || n.exists(brought) {
		t.Errorf("%v", got.Status.Error)
	}
}

func (s scheduled) timer() string { return strings.TrimPrefix(s.unit, "--unit=") + ".timer" }

// stopped are the timers that were stopped, in order.
func (n *node) stopped() string {
	n.Helper()
	var list []string
	for line := range strings.Lines(string(n.read("/run/slipway/actions.jsonl"))) {
		if unit, found := strings.CutPrefix(line, `{"action":"stop","unit":"`); found && strings.HasPrefix(unit, "slipway-revert") {
			list = append(list, strings.TrimRight(unit, "\"}\n"))
		}
	}
	return strings.Join(list, " ")
}

// The same change with --try is the same trial and starts it again. Without --try the trial goes on, and a message
// reports that.
func TestTryTheSame(t *testing.T) {
	t.Parallel()
	n, first := tried(t)
	list := n.schedules()
	n.Now = func() time.Time { return noon.Add(time.Minute) }
	got := n.change(better(t), onTrial)
	if want := noon.Add((60 + tryFor) * time.Second); got.Status.ExitCode != 0 || len(got.Status.Changes) > 0 || !got.ConfirmBy.Equal(want) {
		t.Errorf("%+v, %v", got, got.Status.Error)
	}
	if len(*list) != 1 || (*list)[0].after != "--on-active=90s" || (*list)[0].number != "2" {
		t.Errorf("%+v", *list)
	}
	equal(t, "stopped", n.stopped(), first[0].timer()+" "+first[1].timer())
	got = n.change(better(t))
	if want := noon.Add((60 + tryFor) * time.Second); got.Status.ExitCode != 0 || got.Status.Generation != 2 || !got.ConfirmBy.Equal(want) || len(*list) != 1 {
		t.Errorf("%+v, %v", got, got.Status.Error)
	}
	equal(t, "generations", n.generations(), "1 provision good, 2 apply good unconfirmed")
	n.Now = func() time.Time { return noon }
	if got := n.Rollback(t.Context(), RollbackOptions{Unconfirmed: 2, Until: noon.Add(tryFor * time.Second)}); len(got.Status.Changes) > 0 {
		t.Errorf("the timer of the first trial ends the second: %v", got.Status.Changes)
	}
}

// An unconfirmed change is rolled back, whatever class that needs. A second rollback does nothing.
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
		t.Error("what was rolled back is confirmed")
	}
}

// It is rolled back to the earlier state, even if only the contract's number differs.
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

// A confirmation cancels the rollback. If the rollback still fires, it does nothing.
func TestConfirmed(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(op, name string) error{
		"all is well":             func(string, string) error { return nil },
		"the timer does not stop": failing("StopUnit " + wayBack(2, tryFor, false).timer()),
	} {
		n, list := tried(t)
		n.host.before = before
		kept, err := n.Confirm(t.Context())
		if err != nil || kept.Number != 2 || !kept.ConfirmBy.IsZero() {
			t.Errorf("%s: %+v, %v", name, kept, err)
		}
		stopped := strings.HasSuffix(n.stopped(), " "+list[1].timer())
		if logged := strings.Contains(n.log.String(), "cannot stop the rollback timer"); stopped == logged {
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

// A node on trial is compared with its generation and repaired like any other. The trial goes on. It starts again only
// if the user requests that and the node has not drifted.
func TestTriedDrift(t *testing.T) {
	detector.Skip(t)
	t.Parallel()
	apply := func(with ...func(*ChangeOptions)) func(*node) Changed {
		return func(n *node) Changed { return n.change(better(n.T), with...) }
	}
	repair := func(n *node) Changed { return n.Repair(n.Context(), RepairOptions{}) }
	end := noon.Add(tryFor * time.Second)
	for _, c := range []struct {
		name   string
		do     func(*node) Changed
		before func(op, name string) error
		again  bool
		code   int
	}{
		{"apply", apply(), fine, false, 0},
		{"apply --try", apply(onTrial), fine, true, 0},
		{"repair", repair, fine, false, 0},
		{"apply, in vain", apply(), failing("RestartUnit kubelet.service"), false, 34},
		{"apply --try, in vain", apply(onTrial), failing("RestartUnit kubelet.service"), false, 34},
		{"repair, in vain", repair, failing("RestartUnit kubelet.service"), false, 34},
	} {
		n, list := tried(t)
		files, stopped, asked := n.tree(), n.stopped(), n.schedules()
		n.deliver("/var/lib/kubelet/config.yaml", []byte("somebody's"))
		n.host.before = c.before
		got := c.do(n)
		n.host.before = fine
		if got.Status.ExitCode != c.code || len(got.Status.Changes) == 0 || got.Status.Restored != 0 {
			t.Errorf("%s: %d, restored %d, %v, %v", c.name, got.Status.ExitCode, got.Status.Restored, got.Status.Error, got.Status.Changes)
		}
		if (len(*asked) == 1) != c.again || c.code == 0 && !got.ConfirmBy.Equal(end) {
			t.Errorf("%s: asked for %v, confirm by %s", c.name, *asked, got.ConfirmBy)
		}
		if c.again {
			stopped += " " + list[1].timer()
		}
		equal(t, c.name+": stopped", n.stopped(), stopped)
		same(t, c.name, n.tree(), files)
		equal(t, c.name, n.generations(), "1 provision good, 2 apply good unconfirmed")
	}
}

// If a repair finds the index lost, it applies the generation on trial again, and its timer stays.
func TestTriedRepairedWithoutIndex(t *testing.T) {
	t.Parallel()
	n, _ := tried(t)
	stopped, asked := n.stopped(), n.schedules()
	n.deliver(state.Index.Path, []byte("{"))
	if err := n.host.Remove("/etc/crictl.yaml"); err != nil {
		t.Fatal(err)
	}
	if got := n.Repair(t.Context(), RepairOptions{}); got.Status.ExitCode != 0 || len(*asked) > 0 {
		t.Errorf("%v, asked for %v", got.Status.Error, *asked)
	}
	equal(t, "stopped", n.stopped(), stopped)
	equal(t, "generations", n.generations(), "1 provision good, 2 apply good unconfirmed")
	if entries, err := n.Generations(); err != nil || !entries[1].ConfirmBy.Equal(noon.Add(tryFor*time.Second)) {
		t.Errorf("%+v, %v", entries, err)
	}
}

// A change that fails before it changes anything leaves another generation's trial as it is: its timer and its files.
func TestTriedWhileAnotherFails(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(op, name string) error{
		"read-only": func(op, _ string) error {
			if op == "Writable" {
				return syscall.EROFS
			}
			return nil
		},
		"the record cannot be written": failing("WriteFileAtomic " + state.Generation(3).Path),
		"nor the index":                failing("WriteFileAtomic " + state.Index.Path),
	} {
		n, _ := tried(t)
		stopped := n.stopped()
		n.host.before = before
		if got := n.change(best(t)); got.Status.ExitCode == 0 || got.Status.Restored != 0 {
			t.Errorf("%s: %+v", name, got.Status)
		}
		n.host.before = fine
		equal(t, name+": stopped", n.stopped(), stopped)
		equal(t, name, n.generations(), "1 provision good, 2 apply good unconfirmed")
		if !n.exists(brought) {
			t.Errorf("%s: the trial is rolled back", name)
		}
	}
}

// The index is lost: a confirmed change stays, and an unconfirmed one is rolled back, at its time or by the next boot.
func TestTrialWithoutIndex(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                string
		confirmed, rollback bool
		want                string
	}{
		{"confirmed, and its timer comes all the same", true, true, "2 apply unknown"},
		{"confirmed, and the machine boots", true, false, "2 apply good"},
		{"its timer comes", false, true, "2 apply unknown unconfirmed, 3 rollback good as 1"},
		{"the machine boots", false, false, "2 apply unknown unconfirmed, 3 provision good"},
	} {
		n, _ := tried(t)
		if c.confirmed {
			if _, err := n.Confirm(t.Context()); err != nil {
				t.Fatal(c.name, err)
			}
		}
		n.deliver(state.Index.Path, []byte("{"))
		if c.rollback {
			n.Rollback(t.Context(), RollbackOptions{Unconfirmed: 2, Until: noon.Add(tryFor * time.Second)})
		} else {
			n.provision()
		}
		equal(t, c.name, n.generations(), "1 provision good, "+c.want)
		equal(t, c.name+": what the change brought is there", n.exists(brought), c.confirmed)
	}
}

// If a confirmation cannot be recorded, the change is not confirmed.
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

// If no rollback can be scheduled, nothing is changed, and the error has systemd's reason.
func TestNoWayBack(t *testing.T) {
	t.Parallel()
	n := running(t)
	files := n.tree()
	const why = "Failed to start transient timer unit: it was already loaded"
	n.host.run = func(context.Context, *resource.Command) ([]byte, error) {
		return []byte(why + "\n"), errors.New("exit status 1")
	}
	got := n.change(better(t), onTrial)
	if got.Status.ExitCode != 240 || got.Status.Error.Message != "schedule the rollback: exit status 1: "+why {
		t.Errorf("%v", got.Status.Error)
	}
	same(t, "without a way back", n.tree(), files)
	equal(t, "generations", n.generations(), "1 provision good")
}

// If the second rollback cannot be scheduled, the change is rolled back.
func TestNoSecondWayBack(t *testing.T) {
	t.Parallel()
	n := running(t)
	files := n.tree()
	asked := 0
	n.host.run = func(context.Context, *resource.Command) ([]byte, error) {
		if asked++; asked == 2 {
			return nil, errors.New("exit status 1")
		}
		return nil, nil
	}
	if got := n.change(better(t), onTrial); got.Status.ExitCode != 240 || got.Status.Restored != 1 || !got.ConfirmBy.IsZero() {
		t.Errorf("%+v, %v", got, got.Status.Error)
	}
	same(t, "without a way back", n.tree(), files)
	equal(t, "generations", n.generations(), "1 provision good, 2 apply failed unconfirmed, 3 rollback good as 1")
}

// A change on trial that fails is rolled back at once, and its scheduled rollback does nothing then.
func TestTryFails(t *testing.T) {
	t.Parallel()
	n := running(t)
	unwell := once("Probe health-kubelet-healthz")
	n.host.before = func(op, name string) error {
		// Until then the timer exists, for a run that dies on its way back.
		if op == "StopUnit" && strings.HasPrefix(name, "slipway-revert") && !strings.HasSuffix(n.generations(), "3 rollback good as 1") {
			t.Errorf("the timer is stopped before the change is rolled back: %s", n.generations())
		}
		return unwell(op, name)
	}
	if got := n.change(better(t), func(o *ChangeOptions) { o.Try = time.Minute }); got.Status.ExitCode != 34 || got.Status.Restored != 1 || !got.ConfirmBy.IsZero() {
		t.Errorf("%+v", got.Status)
	}
	after := n.snapshot()
	n.Rollback(t.Context(), RollbackOptions{Unconfirmed: 2})
	if !maps.Equal(after, n.snapshot()) {
		t.Error("the way back changes something")
	}
}

// A change that fails before it begins leaves another generation's trial alone: the generation and its timer are still
// there.
func TestTrialOfAnother(t *testing.T) {
	t.Parallel()
	n, list := tried(t)
	files, stopped := n.tree(), n.stopped()
	n.host.before = func(op, _ string) error {
		if op == "Writable" {
			return syscall.EROFS
		}
		return nil
	}
	if got := n.change(best(t)); got.Status.ExitCode == 0 || got.Status.Restored != 0 {
		t.Errorf("%+v", got.Status)
	}
	same(t, "after the other", n.tree(), files)
	equal(t, "generations", n.generations(), "1 provision good, 2 apply good unconfirmed")
	equal(t, "stopped", n.stopped(), stopped)
	n.host.before = fine
	until, err := strconv.ParseInt(list[1].until, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if got := n.Rollback(t.Context(), RollbackOptions{Unconfirmed: 2, Until: time.Unix(until, 0)}); got.Status.ExitCode != 0 || n.exists(brought) {
		t.Errorf("the trial's end: %v", got.Status.Error)
	}
}

// The timer of a failed trial is stopped after the rollback: until then it guarantees the rollback.
func TestTimerStaysForTheWayBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		back bool
		want string
	}{{true, "1 provision good, 2 apply failed unconfirmed, 3 rollback good as 1"}, {false, "1 provision good, 2 apply failed unconfirmed"}} {
		n := running(t)
		list := n.schedules()
		failed, early := false, false
		n.host.before = func(op, name string) error {
			if op == "Probe" && name == "health-kubelet-healthz" && !failed {
				failed = true
				return failing("Probe health-kubelet-healthz")(op, name)
			}
			early = early || op == "StopUnit" && strings.HasPrefix(name, "slipway-revert") && n.exists(brought)
			if failed && !c.back && op == "WriteFileAtomic" && name == state.Generation(3).Path {
				return syscall.EIO
			}
			return nil
		}
		if got := n.change(better(t), onTrial); got.Status.ExitCode != 34 || (got.Status.Restored == 1) != c.back || early {
			t.Errorf("%+v: restored %d, %v; the timer was stopped before: %v", c, got.Status.Restored, got.Status.Error, early)
		}
		equal(t, "generations", n.generations(), c.want)
		if stopped := n.stopped() == (*list)[0].timer(); len(*list) != 1 || stopped != c.back {
			t.Errorf("%+v: stopped is %q", c, n.stopped())
		}
		n.host.before = fine
		if n.Rollback(t.Context(), RollbackOptions{Unconfirmed: 2}); n.exists(brought) {
			t.Errorf("%+v: it is not rolled back", c)
		}
	}
}

// A change that died is not on trial: it cannot be confirmed, and its first rollback is due. It can be tried again as
// if it had not happened, with new rollbacks.
func TestTryAgain(t *testing.T) {
	t.Parallel()
	n := running(t)
	n.deliver(changedContract, better(t))
	list := n.schedules()
	opts := n.options()
	onTrial(&opts)
	// It dies after its generation has begun: nothing more reaches the disk.
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
	if _, err := n.Confirm(t.Context()); err == nil || !strings.Contains(err.Error(), "refused: generation 2 is applying") {
		t.Errorf("it is confirmed: %v", err)
	}
	n.Now = func() time.Time { return noon.Add(time.Hour) }
	if got := n.Change(t.Context(), opts); got.Status.ExitCode != 0 || got.Status.Generation != 2 {
		t.Errorf("%v", got.Status.Error)
	}
	units := make(map[string]bool)
	for _, s := range *list {
		units[s.unit] = true
	}
	if len(*list) != 3 || len(units) != 3 || (*list)[2].number != "2" {
		t.Errorf("%+v", *list)
	}
	if got := n.Rollback(t.Context(), RollbackOptions{Unconfirmed: 2, Until: noon.Add((allOfTime + tryFor) * time.Second)}); len(got.Status.Changes) > 0 {
		t.Errorf("the way back of the run that died ends the next: %v", got.Status.Changes)
	}
	if got := n.Rollback(t.Context(), RollbackOptions{Unconfirmed: 2, Until: noon.Add(time.Hour + tryFor*time.Second)}); got.Status.ExitCode != 0 || n.exists(brought) {
		t.Errorf("%v", got.Status.Error)
	}
}

// What differs from the current generation is reported and repaired, without a new generation.
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
	// A failed repair does not prevent the next one.
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

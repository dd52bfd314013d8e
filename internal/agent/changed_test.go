package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/status"
	"github.com/slipway-dev/slipway/test/detector"
)

// mutating are the host's methods that change something; Unstage does only where something was staged.
var mutating = []string{
	"Stage", "Commit", "Remove", "RemoveDirectory", "SetAside", "Sync", "MakeDirectory", "MakeSymlink", "WriteFileAtomic",
	"CreateExclusive", "StartUnit", "RestartUnit", "StopUnit", "ReloadUnits", "SetSysctl", "LoadModule", "Run",
}

// edited is the native example with texts replaced, in pairs.
func edited(t *testing.T, pairs ...string) []byte {
	t.Helper()
	text := string(example(t, "native/full.yaml"))
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("the example does not hold %q", pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return []byte(text)
}

const limits = "  containerd:\n    limits: {NOFILE: \"1048576\"}\n"

// better is a change that brings a file and a secret, prunes a file and changes others.
func better(t *testing.T) []byte {
	return edited(t, "revision: 3", "revision: 4", "nodefs.available: 10%", "nodefs.available: 12%", limits, "",
		"checks:", "cloud: {azure: {identity: {clientSecret: s3cret}}}\nchecks:")
}

// best is another change, after that.
func best(t *testing.T) []byte {
	return edited(t, "revision: 3", "revision: 5", "nodefs.available: 10%", "nodefs.available: 14%")
}

const pruned, brought = "/etc/systemd/system/containerd.service.d/10-limits.conf", "/etc/kubernetes/azure.json"

// running is a node that has been provisioned from the example.
func running(t *testing.T) *node {
	t.Helper()
	n := newNode(t)
	n.Program = "/usr/bin/slipway-node"
	n.deliver(nativeContract, example(t, "native/full.yaml"))
	if got := n.provision(); got.ExitCode != 0 {
		t.Fatal(got.Error)
	}
	return n
}

const changedContract = "/root/changed.yaml"

// change changes the node to a contract, as far as a restart.
func (n *node) change(contract []byte, with ...func(*ChangeOptions)) Changed {
	n.Helper()
	n.deliver(changedContract, contract)
	opts := ChangeOptions{Config: changedContract, Facts: ubuntu(n.T), Allow: difference.Restart, Origin: generation.Apply}
	for _, set := range with {
		set(&opts)
	}
	return n.Change(n.Context(), opts)
}

// tree is all files of the node's disk, without Slipway's state and without the times of writing.
func (n *node) tree() map[string]string {
	n.Helper()
	files := make(map[string]string)
	for path := range n.snapshot() {
		if path == "" || path == changedContract || strings.HasPrefix(path, "/root") || strings.HasPrefix(path, "/var/lib/slipway") || strings.HasPrefix(path, "/run/slipway") {
			continue
		}
		info, err := os.Lstat(n.root + path)
		if err != nil {
			n.Fatal(err)
		}
		files[path] = info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			files[path] += string(n.read(path))
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(n.root + path)
			if err != nil {
				n.Fatal(err)
			}
			files[path] += target
		}
	}
	return files
}

// same requires that two trees are equal.
func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for _, path := range slices.Sorted(maps.Keys(got)) {
		if got[path] != want[path] {
			t.Errorf("%s: %s is\n%s\nand was\n%s", what, path, got[path], want[path])
		}
	}
	for path := range want {
		if _, ok := got[path]; !ok {
			t.Errorf("%s: %s is gone", what, path)
		}
	}
}

// generations are the node's, "1 good" each.
func (n *node) generations() string {
	n.Helper()
	entries, err := n.Generations()
	if err != nil {
		n.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		text := fmt.Sprint(e.Number, " ", e.Origin, " ", e.Outcome)
		if e.Restores > 0 {
			text += fmt.Sprint(" as ", e.Restores)
		}
		if !e.ConfirmBy.IsZero() {
			text += " unconfirmed"
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

// failing makes calls of the host fail: a unit does not start, a check does not pass.
func failing(calls ...string) func(op, name string) error {
	return func(op, name string) error {
		if !slices.Contains(calls, op+" "+name) {
			return nil
		}
		if op == "Probe" {
			return &apply.CheckError{Cause: resource.CauseUnit, Endpoint: name, Err: errors.New("is not well")}
		}
		return errors.New("failed: " + name)
	}
}

// once makes the first of some calls fail, and not the later ones.
func once(call string) func(op, name string) error {
	done := false
	return func(op, name string) error {
		if done || op+" "+name != call {
			return nil
		}
		done = true
		return failing(call)(op, name)
	}
}

// A successful change is a new generation, and what the previous contract brought is removed.
func TestChange(t *testing.T) {
	t.Parallel()
	n := running(t)
	got := n.change(better(t))
	if got.Status.ExitCode != 0 || got.Refused != "" || got.Status.Generation != 2 || got.Status.Restored != 0 || !got.ConfirmBy.IsZero() {
		t.Fatalf("%+v %+v", got, got.Status)
	}
	var changes []string
	for _, c := range got.Status.Changes {
		changes = append(changes, string(c.Action)+" "+c.ID)
	}
	for _, change := range []string{"removed File:" + pruned, "created File:" + brought, "updated File:/var/lib/kubelet/config.yaml", "restarted Unit:containerd.service", "restarted Unit:kubelet.service"} {
		if !slices.Contains(changes, change) {
			t.Errorf("%q is not among %q", change, changes)
		}
	}
	if n.exists(pruned) || !n.exists(brought) || got.Difference.Class != difference.Restart {
		t.Error("the files are as they were")
	}
	equal(t, "generations", n.generations(), "1 provision good, 2 apply good")
	last, err := n.LastStatus()
	if err != nil || last.Generation != 2 || last.Config.Digest != got.Status.Config.Digest {
		t.Errorf("%+v, %v", last, err)
	}
	n.left()
}

// If there is nothing to change, no requester changes a file, the status or a unit.
func TestChangeOfNothing(t *testing.T) {
	t.Parallel()
	n := running(t)
	n.change(better(t))
	before := n.snapshot()
	var calls []string
	n.host.before = func(op, name string) error {
		if slices.Contains(mutating, op) {
			calls = append(calls, op+" "+name)
		}
		return nil
	}
	for name, do := range map[string]func() Changed{
		"apply": func() Changed { return n.Change(t.Context(), n.options()) },
		"apply on trial": func() Changed {
			opts := n.options()
			opts.Try = time.Minute
			return n.Change(t.Context(), opts)
		},
		"repair":         func() Changed { return n.Repair(t.Context(), RepairOptions{}) },
		"rollback to it": func() Changed { return n.Rollback(t.Context(), RollbackOptions{Number: 2}) },
		"a dry run":      func() Changed { opts := n.options(); opts.DryRun = true; return n.Change(t.Context(), opts) },
		"a dry rollback": func() Changed {
			return n.Rollback(t.Context(), RollbackOptions{DryRun: true, Allow: difference.Restart})
		},
		"way back of 1":     func() Changed { return n.Rollback(t.Context(), RollbackOptions{Unconfirmed: 1}) },
		"way back, not due": func() Changed { return n.Rollback(t.Context(), RollbackOptions{Unconfirmed: 2}) },
	} {
		got := do()
		if got.Status.ExitCode != 0 || got.Refused != "" || len(got.Status.Changes) > 0 || !got.ConfirmBy.IsZero() {
			t.Errorf("%s: %+v, %v", name, got, got.Status.Error)
		}
		if len(calls) > 0 || !maps.Equal(before, n.snapshot()) {
			t.Errorf("%s: something was written: %q", name, calls)
		}
		calls = nil
	}
}

// A watcher requests changes often: if there is nothing to change, it does not read the generation's record.
func TestChangeOfNothingReadsNoRecord(t *testing.T) {
	t.Parallel()
	n := running(t)
	n.change(better(t))
	n.host.before = func(op, name string) error {
		if op == "ReadFile" && strings.HasPrefix(name, generation.Dir) && !strings.HasSuffix(name, "/index.json") {
			t.Errorf("%s is read", name)
		}
		return nil
	}
	if got := n.Change(t.Context(), n.options()); got.Status.ExitCode != 0 || len(got.Status.Changes) > 0 {
		t.Errorf("%+v", got.Status)
	}
}

// options are those of the last change.
func (n *node) options() ChangeOptions {
	return ChangeOptions{Config: changedContract, Facts: ubuntu(n.T), Allow: difference.Restart, Origin: generation.Apply}
}

// A refused change touches nothing, not even the record of facts, and writes no status.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		contract []byte
		with     func(*ChangeOptions)
		code     int
		says     string
	}{
		{"beyond what is allowed", edited(t, "api.cluster.example", "b.cluster.example", "revision: 3", "revision: 4"), nil, 1, "--allow replace"},
		{"nothing is allowed", better(t), func(o *ChangeOptions) { o.Allow = difference.None }, 1, "--allow restart"},
		{"an older contract", edited(t, "revision: 3", "revision: 2", "nodefs.available: 10%", "nodefs.available: 12%"), nil, exitcode.ContractOlder, "--force"},
		{"a contract without a number", edited(t, "  revision: 3\n", ""), nil, exitcode.ContractOlder, "--force"},
		{"an invalid contract", []byte("{}"), nil, exitcode.ContractInvalid, ""},
		{"a contract that is not there", nil, func(o *ChangeOptions) { o.Config = "/nowhere" }, exitcode.ContractNotFound, ""},
	} {
		n := running(t)
		n.Called = ""
		n.deliver(changedContract, c.contract)
		before := n.snapshot()
		var calls []string
		n.host.before = func(op, name string) error {
			if slices.Contains(mutating, op) {
				calls = append(calls, op+" "+name)
			}
			return nil
		}
		opts := n.options()
		opts.Facts = nil // the directory's facts, which differ from the recorded ones
		if c.with != nil {
			c.with(&opts)
		}
		if c.name == "beyond what is allowed" || c.name == "nothing is allowed" {
			opts.Facts = ubuntu(t)
		}
		got := n.Change(t.Context(), opts)
		if got.Status.ExitCode != c.code || (got.Refused != "") != (c.code == 1 || c.code == exitcode.ContractOlder) || !strings.Contains(got.Refused, c.says) {
			t.Errorf("%s: %d, %q, %v", c.name, got.Status.ExitCode, got.Refused, got.Status.Error)
		}
		if len(calls) > 0 || !maps.Equal(before, n.snapshot()) {
			t.Errorf("%s: something was written: %q", c.name, calls)
		}
	}
}

// A dry run reports the difference. On a fresh machine it leaves nothing behind.
func TestChangeDryRun(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.deliver(changedContract, example(t, "native/full.yaml"))
	before := n.snapshot()
	shown := 0
	got := n.Change(t.Context(), ChangeOptions{Config: changedContract, DryRun: true, Show: func(d *difference.Difference) { shown = len(d.Added) }})
	if got.Status.ExitCode != 0 || got.Difference == nil || shown < 20 || !maps.Equal(before, n.snapshot()) {
		t.Errorf("%d, %v; %v", got.Status.ExitCode, got.Status.Error, slices.Sorted(maps.Keys(n.snapshot())))
	}
	// A dry run neither waits for another run nor refuses a change of a greater class.
	n = running(t)
	unlock, err := apply.Lock(t.Context(), n.host)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	for _, contract := range [][]byte{better(t), edited(t, "api.cluster.example", "b.cluster.example")} {
		got := n.change(contract, func(o *ChangeOptions) { o.DryRun, o.Allow = true, difference.None })
		if got.Status.ExitCode != 0 || got.Difference.Same || got.Refused != "" {
			t.Errorf("%+v, %v", got, got.Status.Error)
		}
	}
	// A change waits for another run, but no longer than its deadline.
	if got := n.change(better(t), func(o *ChangeOptions) { o.Deadline = time.Second }); got.Status.ExitCode == 0 {
		t.Error("two runs at once")
	}
	equal(t, "generations", n.generations(), "1 provision good")
}

// With Force an older contract is applied, and the next one need not be newer than the contract that this one replaced.
func TestForce(t *testing.T) {
	t.Parallel()
	n := running(t)
	older := edited(t, "revision: 3", "revision: 2", "nodefs.available: 10%", "nodefs.available: 12%")
	if got := n.change(older, func(o *ChangeOptions) { o.Force = true }); got.Status.ExitCode != 0 {
		t.Error(got.Status.Error)
	}
	if got := n.change(example(t, "native/full.yaml")); got.Status.ExitCode != 0 {
		t.Error(got.Status.Error)
	}
	equal(t, "generations", n.generations(), "1 provision good, 2 apply good, 3 apply good")
}

// The first apply on a machine without a generation is its first one, and cannot be rolled back.
func TestFirstChange(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	if got := n.change(better(t), func(o *ChangeOptions) { o.Try = time.Minute }); got.Refused == "" {
		t.Errorf("on trial: %+v", got.Status)
	}
	n.host.before = failing("StartUnit kubelet.service")
	got := n.change(better(t))
	if got.Status.ExitCode != 34 || got.Status.Restored != 0 || !n.exists(brought) {
		t.Errorf("%d, %v", got.Status.ExitCode, got.Status.Error)
	}
	equal(t, "generations", n.generations(), "1 apply failed")
	n.host.before = func(string, string) error { return nil }
	if got := n.change(better(t)); got.Status.ExitCode != 0 {
		t.Error(got.Status.Error)
	}
	equal(t, "generations", n.generations(), "1 apply good")
}

// The requester of a change learns at once that the agent waits for the API server, and for how long: no longer than
// the check takes.
func TestWaitingForTheAPIServer(t *testing.T) {
	t.Parallel()
	n := running(t)
	var told []string
	n.host.before = func(op, name string) error {
		if op == "Probe" && strings.HasPrefix(name, "health-") {
			told = append(told, name)
		}
		return nil
	}
	got := n.change(better(t), func(o *ChangeOptions) {
		o.Waiting = func(server string, upTo time.Duration) { told = append(told, server+" "+upTo.String()) }
	})
	if got.Status.ExitCode != 0 || len(told) < 2 || told[0] != "https://api.cluster.example:6443 30s" {
		t.Errorf("%v, %q", got.Status.Error, told)
	}
}

// A node is reported healthy only if it was checked. A directory cannot be checked, and a generation that an older
// version recorded has no health checks.
func TestChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ answers, known bool }{{true, true}, {true, false}, {false, true}} {
		n := running(t)
		n.host.answers = c.answers
		if got := n.change(better(t)); got.Status.ExitCode != 0 || got.Checked != c.answers {
			t.Errorf("%+v: a change: checked %v, %v", c, got.Checked, got.Status.Error)
		}
		if !c.known {
			n.forgetHealth(1)
		}
		if got := n.Rollback(t.Context(), RollbackOptions{Allow: difference.Restart}); got.Status.ExitCode != 0 || got.Checked != (c.answers && c.known) {
			t.Errorf("%+v: a rollback: checked %v, %v", c, got.Checked, got.Status.Error)
		}
	}
}

// forgetHealth turns a generation's record into one of an older version.
func (n *node) forgetHealth(number int) {
	n.Helper()
	file := state.Generation(number)
	var record map[string]any
	if err := json.Unmarshal(n.read(file.Path), &record); err != nil {
		n.Fatal(err)
	}
	plan := record["resources"].(map[string]any)
	if plan["health"] == nil {
		n.Fatal("the record has no health checks")
	}
	delete(plan, "health")
	document, err := json.Marshal(record)
	if err != nil {
		n.Fatal(err)
	}
	n.deliver(file.Path, document)
}

// Every way back checks the node's health as a change does: a rollback, a timer's rollback, the way back of a failed
// change, a repair, and a boot that rolls back. An unreachable API server, or one where a side rejects the other's
// certificate, does not count against a generation that was good before.
func TestWellAfterTheWayBack(t *testing.T) {
	detector.Skip(t)
	t.Parallel()
	ways := []struct {
		name string
		// node is a node to roll back to its first generation; back does that.
		node func(n *node)
		back func(n *node) (*status.Status, bool)
	}{
		{"a rollback", func(n *node) { n.change(better(n.T)) }, func(n *node) (*status.Status, bool) {
			got := n.Rollback(n.Context(), RollbackOptions{Allow: difference.Restart})
			return got.Status, got.Checked
		}},
		{"a trial's", func(n *node) { n.change(better(n.T), onTrial) }, func(n *node) (*status.Status, bool) {
			got := n.Rollback(n.Context(), RollbackOptions{Unconfirmed: 2})
			return got.Status, got.Checked
		}},
		{"a repair", func(n *node) {
			n.host.before = dead("RestartUnit kubelet.service")
			n.change(better(n.T))
		}, func(n *node) (*status.Status, bool) {
			got := n.Repair(n.Context(), RepairOptions{})
			return got.Status, got.Checked
		}},
		{"a repair of drift", func(n *node) { n.deliver("/var/lib/kubelet/config.yaml", []byte("drift")) }, func(n *node) (*status.Status, bool) {
			got := n.Repair(n.Context(), RepairOptions{})
			return got.Status, got.Checked
		}},
		{"a boot's", func(n *node) {
			n.change(best(n.T))
			n.change(better(n.T), onTrial, func(o *ChangeOptions) { o.Force = true })
		}, func(n *node) (*status.Status, bool) { return n.provision(), true }},
	}
	probes := func(name string, cause resource.Cause) func(op, probe string) error {
		return func(op, probe string) error {
			if op == "Probe" && probe == name {
				return &apply.CheckError{Cause: cause, Endpoint: "somewhere", Err: errors.New("is not well")}
			}
			return nil
		}
	}
	for _, way := range ways {
		for _, c := range []struct {
			probe   string
			cause   resource.Cause
			code    int
			checked bool
		}{
			{"", "", 0, true},
			{"health-kubelet-healthz", resource.CauseConnection, 34, false},
			{"health-node-lease", resource.CauseUnhealthy, 34, false},
			{"health-kubelet-healthz", resource.CauseCredential, 34, false},
			{"health-node-lease", resource.CauseCredential, 0, false},
			{"health-node-lease", resource.CauseTLS, 0, false},
			{"health-node-lease", resource.CauseConnection, 0, false},
			{"health-node-lease", resource.CauseMissing, 0, false},
		} {
			n := running(t)
			n.host.answers = true
			n.host.run = func(context.Context, *resource.Command) ([]byte, error) { return nil, nil }
			way.node(n)
			n.host.before = probes(c.probe, c.cause)
			got, checked := way.back(n)
			if got.ExitCode != c.code || checked != c.checked && way.name != "a boot's" {
				t.Errorf("%s, %s %s: %d, checked %v, %+v", way.name, c.probe, c.cause, got.ExitCode, checked, got.Errors)
			}
			if c.code == 0 && c.probe != "" && !strings.Contains(n.log.String(), "cannot be asked") {
				t.Errorf("%s, %s %s: the log does not report that the check was skipped", way.name, c.probe, c.cause)
			}
			if drift, err := n.Drift(t.Context()); err != nil || len(drift) > 0 {
				t.Errorf("%s, %s %s: %v %v", way.name, c.probe, c.cause, drift, err)
			}
		}
	}
}

// After a good change, a boot starts what is not running. It does not check the node's health, because the kubelet may
// need longer to join than a change waits.
func TestBootOfAChangedNode(t *testing.T) {
	t.Parallel()
	n := running(t)
	n.host.answers = true
	n.change(better(n.T))
	n.deliver("/var/lib/kubelet/config.yaml", []byte("drift"))
	n.host.before = func(op, probe string) error {
		if op == "Probe" && strings.HasPrefix(probe, "health-") {
			return &apply.CheckError{Cause: resource.CauseUnhealthy, Endpoint: "somewhere", Err: errors.New("is not well yet")}
		}
		return nil
	}
	if got := n.provision(); got.ExitCode != 0 || len(got.Changes) == 0 {
		t.Errorf("exit code %d, changes %v: %+v", got.ExitCode, got.Changes, got.Errors)
	}
}

// If a node is not healthy after a repair, the next repair checks it again, although it has nothing else to do, and the
// status has the outcome.
func TestRepairedAndNotWell(t *testing.T) {
	t.Parallel()
	n := running(t)
	n.host.answers = true
	n.deliver("/var/lib/kubelet/config.yaml", []byte("drift"))
	n.host.before = failing("Probe health-kubelet-healthz")
	if got := n.Repair(t.Context(), RepairOptions{}); got.Status.ExitCode != 34 {
		t.Errorf("%+v", got.Status)
	}
	if got := n.Repair(t.Context(), RepairOptions{Attempt: 1}); got.Status.ExitCode != 34 || len(got.Status.Changes) > 0 {
		t.Errorf("again: %+v", got.Status)
	}
	n.host.before = fine
	if got := n.Repair(t.Context(), RepairOptions{Attempt: 2}); got.Status.ExitCode != 0 || !got.Checked {
		t.Errorf("once it is well: %+v", got.Status)
	}
	if last, err := n.LastStatus(); err != nil || last.Outcome != status.OutcomeSuccess {
		t.Errorf("the status is %+v, %v", last, err)
	}
}

// If the change fails and the node is not healthy after the rollback either, both errors are reported.
func TestRevertedAndNotWell(t *testing.T) {
	t.Parallel()
	n := running(t)
	files := n.tree()
	n.host.before = failing("Probe health-kubelet-healthz")
	got := n.change(better(t)).Status
	if got.ExitCode != 34 || got.Restored != 1 || len(got.Errors) != 2 || got.Errors[1].Resource != "Generation:1" || !strings.Contains(got.Errors[1].Message, "is restored, and the node is not well") {
		t.Errorf("%d, %d, %+v", got.ExitCode, got.Restored, got.Errors)
	}
	same(t, "after the way back", n.tree(), files)
	equal(t, "generations", n.generations(), "1 provision good, 2 apply failed, 3 rollback failed as 1")
}

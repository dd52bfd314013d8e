package agent

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/internal/transition"
	"github.com/slipway-dev/slipway/status"
	"github.com/slipway-dev/slipway/test/detector"
)

// dead makes every changing call fail from a certain call on: the rest is what a killed process leaves.
func dead(call string) func(op, name string) error {
	died := false
	return func(op, name string) error {
		died = died || op+" "+name == call
		if died && slices.Contains(mutating, op) {
			return errors.New("killed")
		}
		return nil
	}
}

func fine(string, string) error { return nil }

// unfinished are nodes with an unfinished generation, and the generations after a repair.
var unfinished = []struct {
	name string
	// node is a node after an incident.
	node    func(t *testing.T) *node
	attempt int
	// before and after are the generations.
	before, after string
	brought       bool
}{
	{"a change that died when its files were there", func(t *testing.T) *node {
		n := running(t)
		n.host.before = dead("RestartUnit containerd.service")
		n.change(better(t))
		return n
	}, 0, "1 provision good, 2 apply applying", "1 provision good, 2 apply applying, 3 rollback good as 1", false},
	{"a change that died with its first file", func(t *testing.T) *node {
		n := running(t)
		n.host.before = dead("Commit " + brought)
		n.change(better(t))
		return n
	}, 0, "1 provision good, 2 apply applying", "1 provision good, 2 apply applying, 3 rollback good as 1", false},
	{"a change that failed, and its way back died", func(t *testing.T) *node {
		n := running(t)
		n.host.before = once("Probe health-kubelet-healthz")
		failed := n.host.before
		dies := dead("Remove " + brought)
		n.host.before = func(op, name string) error { return errors.Join(failed(op, name), dies(op, name)) }
		n.change(better(t))
		return n
	}, 0, "1 provision good, 2 apply failed, 3 rollback applying as 1", "1 provision good, 2 apply failed, 3 rollback good as 1", false},
	{"a change that failed, and its way back too", func(t *testing.T) *node {
		n := running(t)
		n.host.before = failing("RestartUnit kubelet.service")
		n.change(better(t))
		return n
	}, 0, "1 provision good, 2 apply failed, 3 rollback failed as 1", "1 provision good, 2 apply failed, 3 rollback good as 1", false},
	{"a way back that has failed often, with an older good generation", func(t *testing.T) *node {
		n := running(t)
		n.change(best(t))
		n.change(better(t), func(o *ChangeOptions) { o.Force = true })
		n.host.before = failing("RestartUnit kubelet.service")
		n.change(best(t), func(o *ChangeOptions) { o.Force = true })
		return n
	}, transition.TriesEach, "1 provision good, 2 apply good, 3 apply good, 4 apply failed, 5 rollback failed as 3",
		"1 provision good, 2 apply good, 3 apply good, 4 apply failed, 5 rollback failed as 3, 6 rollback good as 2", false},
	{"the same, all in turn", func(t *testing.T) *node {
		n := running(t)
		n.change(better(t))
		n.host.before = failing("RestartUnit kubelet.service")
		n.change(best(t))
		return n
	}, 2 * transition.TriesEach, "1 provision good, 2 apply good, 3 apply failed, 4 rollback failed as 2",
		"1 provision good, 2 apply good, 3 apply failed, 4 rollback good as 2", true},
	{"a way back whose generation is damaged", func(t *testing.T) *node {
		n := running(t)
		n.change(better(t))
		n.host.before = failing("RestartUnit kubelet.service")
		n.change(best(t))
		n.deliver("/var/lib/slipway/generations/000002.json", []byte("{"))
		return n
	}, 0, "1 provision good, 2 apply good, 3 apply failed, 4 rollback failed as 2",
		"1 provision good, 2 apply good, 3 apply failed, 4 rollback failed as 2, 5 rollback good as 1", false},
	{"a first change that died", func(t *testing.T) *node {
		n := newNode(t)
		n.host.before = dead("StartUnit kubelet.service")
		n.change(better(t))
		return n
	}, 0, "1 apply applying", "1 apply good", true},
	{"a provisioning that failed", func(t *testing.T) *node {
		n := newNode(t)
		n.deliver(nativeContract, better(t))
		n.host.before = failing("StartUnit kubelet.service")
		n.provision()
		return n
	}, 7, "1 provision failed", "1 provision good", true},
	{"a new contract's, that failed", func(t *testing.T) *node {
		n := running(t)
		n.deliver(nativeContract, better(t))
		n.host.before = failing("RestartUnit kubelet.service")
		n.provision()
		return n
	}, 0, "1 provision good, 2 provision failed", "1 provision good, 2 provision good", true},
	{"the index is lost", func(t *testing.T) *node {
		n := running(t)
		n.change(better(t))
		n.deliver("/var/lib/slipway/generations/index.json", []byte("{"))
		return n
	}, 0, "", "1 provision good, 2 apply good", true},
}

// A repair finishes an unfinished generation as the next boot would.
func TestRepairUnfinished(t *testing.T) {
	detector.Skip(t)
	t.Parallel()
	for _, c := range unfinished {
		t.Run(c.name, func(t *testing.T) {
			n := c.node(t)
			n.host.before = fine
			if c.before != "" {
				equal(t, "before", n.generations(), c.before)
			}
			if got := n.Repair(t.Context(), RepairOptions{Attempt: c.attempt}); got.Status.ExitCode != 0 || got.Refused != "" || got.Busy {
				t.Errorf("%+v", got.Status.Errors)
			}
			equal(t, "generations", n.generations(), c.after)
			equal(t, "what the change brought is there", n.exists(brought), c.brought)
			if drift, err := n.Drift(t.Context()); err != nil || len(drift) > 0 {
				t.Errorf("drift: %v, %v", drift, err)
			}
			if last, err := n.LastStatus(); err != nil || last.Outcome != status.OutcomeSuccess {
				t.Errorf("the status is %+v, %v", last, err)
			}
			before := n.snapshot()
			if got := n.Repair(t.Context(), RepairOptions{}); got.Status.ExitCode != 0 || len(got.Status.Changes) > 0 {
				t.Errorf("once more: %+v", got.Status)
			}
			if after := n.snapshot(); len(after) != len(before) {
				t.Error("once more: something was written")
			}
			n.left()
		})
	}
}

// A failed repair is left to the next one: it does not roll back by itself. If it repairs a published failure, that
// failure stays published. A published success is replaced.
func TestRepairFails(t *testing.T) {
	t.Parallel()
	n := running(t)
	n.host.before = dead("RestartUnit kubelet.service")
	n.change(better(t))
	n.host.before = failing("RestartUnit kubelet.service")
	for range 2 {
		if got := n.Repair(t.Context(), RepairOptions{}); got.Status.ExitCode != 34 || got.Status.Restored != 0 {
			t.Errorf("%+v", got.Status)
		}
		equal(t, "generations", n.generations(), "1 provision good, 2 apply applying, 3 rollback failed as 1")
		if last, err := n.LastStatus(); err != nil || last.ExitCode != 34 || last.Generation != 3 {
			t.Errorf("the status is %+v, %v", last, err)
		}
	}
	n = newNode(t)
	n.deliver(nativeContract, better(t))
	n.host.before = failing("StartUnit kubelet.service")
	n.provision()
	before := string(n.read(state.Status.Path))
	if got := n.Repair(t.Context(), RepairOptions{}); got.Status.ExitCode != 34 {
		t.Errorf("%+v", got.Status)
	}
	equal(t, "the status", string(n.read(state.Status.Path)), before)
}

// If another run is at work on the generation, a repair neither repairs it nor waits.
func TestRepairWhileAnotherIsAtWork(t *testing.T) {
	t.Parallel()
	n := running(t)
	n.host.before = dead("RestartUnit kubelet.service")
	n.change(better(t))
	n.host.before = fine
	unlock, err := apply.Lock(t.Context(), n.host)
	if err != nil {
		t.Fatal(err)
	}
	before := n.tree()
	var begun []generation.Entry
	opts := RepairOptions{Begin: func(e generation.Entry) { begun = append(begun, e) }}
	if got := n.Repair(t.Context(), opts); len(begun) > 0 || !got.Busy || got.Status.ExitCode == 0 || !strings.Contains(got.Status.Error.Message, apply.LockPath) {
		t.Errorf("%+v", got)
	}
	same(t, "nothing is done", n.tree(), before)
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if got := n.Repair(t.Context(), opts); len(begun) != 1 || begun[0].Number != 2 || got.Busy || got.Status.ExitCode != 0 {
		t.Errorf("%+v", got)
	}
}

// If a repair finishes a provisioning, it publishes the result that the provisioning would have published. Programs
// that wait, or that have read the failure, get the new result, and the next boot finds nothing to do.
func TestRepairPublishesTheProvisioning(t *testing.T) {
	t.Parallel()
	for _, contract := range []struct {
		path  string
		text  []byte
		place destination
	}{
		{nativeContract, example(t, "native/full.yaml"), nativePlace},
		{aksContract, aksWith(t, "minimal.json", nil), aksPlace},
	} {
		for name, ends := range map[string]func(op, name string) error{
			"failed": failing("StartUnit kubelet.service"),
			"died":   dead("StartUnit kubelet.service"),
		} {
			n := newNode(t)
			n.Called = ""
			n.deliver(contract.path, contract.text)
			n.host.before = ends
			n.provision()
			if published := n.exists(contract.place.complete); published != (name == "failed") {
				t.Fatalf("%s: published: %v", name, published)
			}
			n.host.before = failing("StartUnit kubelet.service")
			if got := n.Repair(t.Context(), RepairOptions{}); got.Status.ExitCode != 34 {
				t.Errorf("%s: the first repair: %+v", name, got.Status)
			}
			n.published(contract.place, 34)
			if _, code, err := n.Wait(t.Context()); code != 34 || err != nil {
				t.Errorf("%s: Wait returns %d, %v", name, code, err)
			}
			n.host.before = fine
			if got := n.Repair(t.Context(), RepairOptions{Attempt: 1}); got.Status.ExitCode != 0 {
				t.Errorf("%s: the second repair: %+v", name, got.Status.Errors)
			}
			n.published(contract.place, 0)
			if _, code, err := n.Wait(t.Context()); code != 0 || err != nil {
				t.Errorf("%s: once repaired, Wait returns %d, %v", name, code, err)
			}
			result := n.read(contract.place.result.Path)
			if got := n.provision(); got.ExitCode != 0 || len(got.Changes) > 0 {
				t.Errorf("%s: the next boot: %+v", name, got)
			}
			equal(t, name+": the result after the next boot", string(n.read(contract.place.result.Path)), string(result))
		}
	}
}

// A healthy node is not reported as failed: if a provisioning has failed and a later change or rollback succeeds,
// waiting programs get that result, wherever the failure was published. The next boot finds nothing to do.
func TestChangePublishesWhatItMends(t *testing.T) {
	t.Parallel()
	full := example(t, "native/full.yaml")
	for _, c := range []struct {
		name          string
		before, fails []byte
		how           func(op, name string) error
		mends         func(n *node) Changed
		boots         bool // whether the contract of the boot can be applied
	}{
		{"a change", nil, full, failing("StartUnit kubelet.service"), func(n *node) Changed { return n.change(better(t)) }, true},
		{"a change after a contract that cannot be read", nil, []byte("{"), fine, func(n *node) Changed {
			return n.change(full, func(o *ChangeOptions) { o.Allow = difference.Replace })
		}, false},
		{"a rollback", full, best(t), failing("RestartUnit kubelet.service"), func(n *node) Changed {
			return n.Rollback(t.Context(), RollbackOptions{Allow: difference.Restart})
		}, true},
	} {
		n := newNode(t)
		n.Program = "/usr/bin/slipway-node"
		if c.before != nil {
			n.deliver(nativeContract, c.before)
			n.provision()
		}
		n.deliver(nativeContract, c.fails)
		n.host.before = c.how
		failed := n.provision()
		n.published(n.placeOf(failed), failed.ExitCode)
		if failed.ExitCode == 0 {
			t.Fatalf("%s: provisioning must fail", c.name)
		}
		if c.before == nil { // no rollback is possible: a change that fails, too, leaves the failure
			n.host.before = failing("StartUnit kubelet.service")
			n.change(full, func(o *ChangeOptions) { o.Allow = difference.Replace })
			if _, code, err := n.Wait(t.Context()); code != failed.ExitCode || err != nil {
				t.Errorf("%s: after a failed change, Wait returns %d, %v", c.name, code, err)
			}
		}
		n.host.before = fine
		if got := c.mends(n); got.Status.ExitCode != 0 {
			t.Errorf("%s: %+v", c.name, got.Status.Errors)
		}
		n.published(nativePlace, 0)
		if _, code, err := n.Wait(t.Context()); code != 0 || err != nil {
			t.Errorf("%s: Wait returns %d, %v", c.name, code, err)
		}
		result := n.read(nativePlace.result.Path)
		if got := n.provision(); c.boots && (got.ExitCode != 0 || len(got.Changes) > 0 || !bytes.Equal(n.read(nativePlace.result.Path), result)) {
			t.Errorf("%s: the next boot: %+v", c.name, got)
		}
	}
}

//go:build failpoint

package crash

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/status"
)

// application is a running node that gets another contract. base is the node, and want the machine after an uninterrupted change.
type application struct {
	*scenario
	contract source.Contract
	// other is the machine after the other contract.
	other tree
	// fails reports whether the kubelet does not start again after the change: then the change is rolled back.
	fails bool
}

// applied returns a change that succeeds or, if fails, one whose kubelet does not start again, so that the node rolls back.
func applied(t *testing.T, fails bool) *application {
	t.Helper()
	c := &application{scenario: &scenario{name: "apply", facts: ubuntu(t), base: tree{}}}
	c.deliver(t, example(t, "aks/azure-cni.json"))
	c.scenario.learn(t)
	c.base = c.want
	before := c.plan
	document := edited(t, "aks/kubenet.json", map[string]any{
		"custom_linux_os_config": map[string]any{"sysctl_config": map[string]any{"net_core_somaxconn": 40001}},
	})
	read := compile.ReadOne("", document)
	desired, problems := read.Plan(c.facts)
	if read.ExitCode(problems) != 0 {
		t.Fatal(problems)
	}
	c.plan = desired
	c.differ(t, before)
	c.contract = source.Contract{Source: "a test", Path: "/root/other.json", Data: document}
	c.learn(t)
	c.other = c.want
	if c.fails = fails; fails {
		c.name = "apply and its way back"
		c.learn(t)
	}
	return c
}

// learn makes the change without interruption, to record its result and the points where it can be interrupted.
func (c *application) learn(t *testing.T) {
	t.Helper()
	n, err := c.node()
	if err != nil {
		t.Fatal(err)
	}
	defer n.remove()
	got := c.apply(n, &session{death: death{at: -1}})
	if (got.ExitCode != 0) != c.fails {
		t.Fatalf("%s: exit code %d: %v", c.name, got.ExitCode, got.Error)
	}
	c.events = n.runs[0].events
	if c.want, err = snapshot(n.root); err != nil {
		t.Fatal(err)
	}
	if c.fails && !c.want.hasFiles(c.base) {
		t.Fatalf("%s: the machine is not as before", c.name)
	}
}

// apply makes the change under a session.
func (c *application) apply(n *node, run *session) (got *status.Status) {
	if c.fails {
		wrong, failed := run.fault, false
		run.fault = func(s *session, n int, m *failpoint.Mutation) failpoint.Fate {
			if wrong != nil {
				if fate := wrong(s, n, m); fate.Err != nil {
					return fate
				}
			}
			if failed || m.Path != "kubelet.service" {
				return failpoint.Fate{}
			}
			failed = true
			return failpoint.Fate{Err: syscall.EIO}
		}
	}
	known := c.facts
	n.run(run, func(a *agent.Agent) {
		got = a.Change(context.Background(), agent.ChangeOptions{
			Config: c.contract.Path, Contract: &c.contract, Facts: &known, Allow: difference.Replace, Origin: generation.Apply,
		}).Status
	})
	return got
}

// A change that succeeds, and one that rolls back, dies at any point, or the disk fails there, or the power goes. After the next
// boot every file and unit of the machine is as one of the two contracts requires, and a reported success is true.
func TestApplyInterrupted(t *testing.T) {
	for _, fails := range []bool{false, true} {
		s := applied(t, fails)
		s.interrupted(t, s.settles)
	}
}

// settles checks that the boot after an interrupted change leaves the machine as one of the contracts requires.
func (c *application) settles(left tree, interrupted *session) error {
	n, err := c.nodeOf(left)
	if err != nil {
		return err
	}
	defer n.remove()
	if interrupted != nil {
		got := c.apply(n, interrupted)
		if left, err = snapshot(n.root); err != nil {
			return err
		}
		if !interrupted.dead && got.ExitCode == 0 && !left.hasFiles(c.other) {
			return errors.New("the change ends as a success, and the machine is not as the other contract says")
		}
	}
	if err := c.true(left); err != nil {
		return err
	}
	for range 2 { // the second boot has nothing to do
		got := n.provision(&session{death: death{at: -1}})
		if got.ExitCode != 0 {
			return fmt.Errorf("the boot ends with %d: %v", got.ExitCode, got.Error)
		}
		if len(n.runs) > 2 && len(got.Changes) > 0 {
			return fmt.Errorf("one more boot changes %v", got.Changes)
		}
		now, err := snapshot(n.root)
		if err != nil {
			return err
		}
		if err := c.settled(now); err != nil {
			return err
		}
	}
	return nil
}

// settled checks that the machine is as one of the contracts requires; if the change fails, as the first.
func (c *application) settled(now tree) error {
	for _, want := range []tree{c.other, c.base} {
		if now.hasFiles(want) && (!c.fails || !c.other.hasFiles(want)) {
			have, err := now.machine()
			wanted, wantErr := want.machine()
			if err := errors.Join(err, wantErr); err != nil || maps.Equal(have.active, wanted.active) {
				return err
			}
			return fmt.Errorf("active units are %v, want %v", have.active, wanted.active)
		}
	}
	var errs []error
	for _, path := range slices.Sorted(maps.Keys(union(now, union(c.base, c.other)))) {
		if lasting(path) && now[path] != c.base[path] {
			errs = append(errs, fmt.Errorf("%s is %s, was %s, is to be %s", path, now[path], c.base[path], c.other[path]))
		}
	}
	return errors.Join(errs...)
}

// lasting reports whether a path belongs to a contract and not to a single run.
func lasting(path string) bool {
	return !isRecord(path) && !isEvent(path) && !volatile(path) && !strings.HasPrefix(path, ownDir)
}

// hasFiles reports whether every lasting file is as in want.
func (t tree) hasFiles(want tree) bool {
	for path := range union(t, want) {
		if lasting(path) && t[path] != want[path] {
			return false
		}
	}
	return true
}

// true checks that a reported success with the other contract is true.
func (c *application) true(now tree) error {
	last, err := status.Parse([]byte(now[statusPath].content))
	if err == nil && last.Outcome == status.OutcomeSuccess && last.Config.Digest == c.plan.Config && !now.hasFiles(c.other) {
		return errors.New("success with the other contract is published, and the machine is not as it says")
	}
	return nil
}

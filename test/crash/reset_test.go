//go:build failpoint

package crash

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/state"
)

// earlier are files on a machine before Slipway, at paths that a plan writes.
var earlier = map[string]string{
	"/etc/containerd/config.toml":         "version = 2\n",
	"/etc/systemd/system/kubelet.service": "[Service]\nExecStart=/usr/bin/false\n",
}

// reset is a node that will be reset: base is the node, and want is the machine after an uninterrupted reset. The files that were
// there before Slipway are back.
func reset(t *testing.T) *scenario {
	t.Helper()
	s := &scenario{name: "reset", facts: ubuntu(t), base: tree{}}
	for path, content := range earlier {
		s.put(t, path, []byte(content))
	}
	s.deliver(t, example(t, "aks/azure-cni.json"))
	s.learn(t)
	s.base = s.want
	n, err := s.node()
	if err != nil {
		t.Fatal(err)
	}
	defer n.remove()
	if err := n.reset(&session{death: death{at: -1}}); err != nil {
		t.Fatal(err)
	}
	s.events = n.runs[0].events
	if s.want, err = snapshot(n.root); err != nil {
		t.Fatal(err)
	}
	return s
}

// The documented state: all that Slipway brought is gone, the earlier files are back, no result reports success, no unit of a plan
// runs, and the records and the contract stay.
func TestReset(t *testing.T) {
	s := reset(t)
	for _, r := range s.plan.Resources {
		if have := s.want[r.Spec.Name()]; have.content != earlier[r.Spec.Name()] || have.mode.IsRegular() && have.mode != 0 && earlier[r.Spec.Name()] == "" {
			t.Errorf("%s is %s", r.Spec.Name(), have)
		}
	}
	for _, path := range []string{markerPath, resultPath, statusPath, state.Reserve.Path, state.Intent.Path} {
		if have := s.want[path]; have.mode != 0 {
			t.Errorf("%s is %s", path, have)
		}
	}
	for path := range earlier {
		if s.want[path].content != earlier[path] {
			t.Errorf("%s is %s", path, s.want[path])
		}
	}
	for _, path := range []string{state.Index.Path, state.Generation(1).Path, contractPath} {
		if s.want[path].mode == 0 {
			t.Errorf("%s is gone", path)
		}
	}
	if m, err := s.want.machine(); err != nil || len(m.active) > 0 {
		t.Errorf("what runs is %v, %v", m.active, err)
	}
}

// A reset dies at any point, or the disk fails there, or the power goes. No record then reports success of a machine that is no
// longer a node, and the next reset ends like an uninterrupted one. After that the machine can become a node again.
func TestResetInterrupted(t *testing.T) {
	s := reset(t)
	s.interrupted(t, s.undone)
}

// interrupted lets the scenario's run die at any point, a call fail there, or the power go. It then calls after, which checks that
// a following run ends well. after gets the machine before the run and the run's session, or the disk after a power cut and no
// session.
func (s *scenario) interrupted(t *testing.T, after func(left tree, run *session) error) {
	t.Helper()
	c := begin(t, "one death, "+s.name)
	deaths := sample(s.deaths(), size{part: 30}.now(), s.kind)
	each(len(deaths), func(i int) { c.point(s.label(deaths[i]), after(s.base, &session{death: deaths[i]})) })
	c.end()
	for _, stays := range []bool{false, true} {
		c := begin(t, fmt.Sprintf("a call fails, and stays so: %t, %s", stays, s.name))
		faults := sample(s.faults(stays), size{part: 30}.now(), func(f fault) string { return fmt.Sprint(s.events[f.at].Kind, errName[f.errno]) })
		each(len(faults), func(i int) {
			c.point(fmt.Sprintf("%s, %s", faults[i], s.events[faults[i].at].Path), after(s.base, &session{death: death{at: -1}, fault: faults[i].fate}))
		})
		c.end()
	}
	c = begin(t, "power cut, "+s.name)
	s.outages(func(o outage) {
		c.point(fmt.Sprintf("power goes after mutation %d, %s %s", o.at, s.events[o.at].Kind, s.events[o.at].Path), after(o.left, nil))
	})
	c.end()
}

// undone checks that a reset after an interrupted one ends like an uninterrupted one.
func (s *scenario) undone(left tree, interrupted *session) error {
	n, err := s.nodeOf(left)
	if err != nil {
		return err
	}
	defer n.remove()
	if interrupted != nil {
		_ = n.reset(interrupted)
		if left, err = snapshot(n.root); err != nil {
			return err
		}
	}
	if err := s.claimsNothing(left); err != nil {
		return err
	}
	if err := n.reset(&session{death: death{at: -1}}); err != nil {
		return fmt.Errorf("the next reset: %w", err)
	}
	now, err := snapshot(n.root)
	if err != nil {
		return err
	}
	var errs []error
	for path := range union(now, s.want) {
		if now[path] != s.want[path] && !isRecord(path) && !volatile(path) {
			errs = append(errs, fmt.Errorf("%s is %s, want %s", path, now[path], s.want[path]))
		}
	}
	if err := errors.Join(append(errs, now.sameMachine(s.want))...); err != nil && interrupted != nil || len(errs) > 0 {
		return err
	}
	got := n.provision(&session{death: death{at: -1}})
	if got.ExitCode != 0 {
		return fmt.Errorf("it cannot be made a node again: %v", got.Error)
	}
	if now, err = snapshot(n.root); err != nil {
		return err
	}
	for path := range union(now, s.base) {
		if now[path].timeless() != s.base[path].timeless() && !isRecord(path) && !isEvent(path) && !volatile(path) {
			errs = append(errs, fmt.Errorf("made a node again, %s is %s, want %s", path, now[path], s.base[path]))
		}
	}
	return errors.Join(append(errs, now.published(s.base))...)
}

// claimsNothing checks that no success is published while something of the node is gone.
func (s *scenario) claimsNothing(now tree) error {
	if now[markerPath].mode == 0 && now[statusPath].mode == 0 {
		return nil
	}
	for path, was := range s.base {
		if isRecord(path) || strings.HasPrefix(path, ownDir) || isEvent(path) || volatile(path) || path == markerPath {
			continue
		}
		if now[path] != was {
			return fmt.Errorf("success is published, and %s is %s", path, now[path])
		}
	}
	return nil
}

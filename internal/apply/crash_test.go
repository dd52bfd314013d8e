package apply_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

var errDead = errors.New("the agent is dead")

// dies applies a plan with an agent that dies before its nth call: from then on nothing is done.
func dies(m *memory, p resource.Plan, n int) {
	_ = interrupt(m, p, func(at int, _ call) error {
		if at >= n {
			return errDead
		}
		return nil
	})
}

// cut is the machine after a power cut and the boot that follows: of the names that were not synced
// some are there and some are not, and what ran before is running again, with what is there now.
func cut(m *memory, random *rand.Rand) *memory {
	c := m.rebooted()
	for name, e := range m.files {
		if random.IntN(2) == 0 {
			c.files[name] = e
		}
	}
	for name := range m.synced {
		if _, ok := m.files[name]; !ok && random.IntN(2) == 0 {
			delete(c.files, name)
		}
	}
	for name := range c.files { // a name is only in a directory that is there
		c.parents(name)
	}
	c.loaded = unitFiles(c.files)
	for name := range m.units {
		c.units[name] = &unit{"active", c.inputs(name)}
	}
	return c
}

// The agent dies before every call that it makes; the next one gets as far as one that was left
// alone.
func TestDeathAtEveryCall(t *testing.T) {
	for _, s := range situations(t) {
		for n := range s.calls {
			label := fmt.Sprintf("%s: dies before call %d, %s", s.name, n+1, s.calls[n])
			m := s.before.clone()
			dies(m, s.plan, n+1)
			wholeFiles(t, label, &s, m)
			if err := try(m, s.plan); err != nil {
				t.Errorf("%s: %v", label, err)
			}
			sameAs(t, label, &s, m)
			if t.Failed() {
				return
			}
		}
	}
}

// The power goes at every call, and whatever a file system may keep of what was not synced is kept.
func TestPowerCutAtEveryCall(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, s := range situations(t) {
		for n := range s.calls {
			for range 3 {
				label := fmt.Sprintf("%s: power goes at call %d, %s", s.name, n+1, s.calls[n])
				m := s.before.clone()
				dies(m, s.plan, n+1)
				m = cut(m, random)
				if err := try(m, s.plan); err != nil {
					t.Errorf("%s: %v", label, err)
				}
				sameAs(t, label, &s, m)
				if t.Failed() {
					return
				}
			}
		}
	}
}

// The agent dies twice, anywhere.
func TestTwoDeaths(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	all := situations(t)
	for range 600 {
		s := all[random.IntN(len(all))]
		i, j := 1+random.IntN(len(s.calls)), 1+random.IntN(len(s.calls))
		label := fmt.Sprintf("%s: dies before call %d, then before call %d", s.name, i, j)
		m := s.before.clone()
		dies(m, s.plan, i)
		dies(m, s.plan, j)
		if err := try(m, s.plan); err != nil {
			t.Errorf("%s: %v", label, err)
		}
		sameAs(t, label, &s, m)
		if t.Failed() {
			return
		}
	}
}

// A contract that changes again after a death: the machine ends as the last one says.
func TestDeathThenAnotherPlan(t *testing.T) {
	for _, s := range situations(t) {
		last := aksPlan(t)
		for n := range s.calls {
			m := s.before.clone()
			dies(m, s.plan, n+1)
			applied(t, m, last)
			if len(m.staged) > 0 {
				t.Fatalf("%s: call %d: staged files are left behind: %v", s.name, n+1, m.staged)
			}
			for _, r := range last.Resources {
				if f, ok := r.Spec.(*resource.File); ok && !asPlanned["File"](m, f) {
					t.Fatalf("%s: call %d: %s is not as planned", s.name, n+1, f.Path)
				}
			}
			for name, u := range m.units {
				if u.state == "active" && !u.inputs["/etc/default/kubelet"].equal(m.files["/etc/default/kubelet"]) && name == "kubelet.service" {
					t.Fatalf("%s: call %d: the kubelet runs with an earlier environment", s.name, n+1)
				}
			}
			if m.files[intentPath].Kind != apply.Absent {
				t.Fatalf("%s: call %d: the record is left behind", s.name, n+1)
			}
		}
	}
}

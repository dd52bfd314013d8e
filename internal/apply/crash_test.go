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

// dies applies a plan with an agent that dies before its nth call: from then on it does nothing.
func dies(m *memory, p resource.Plan, n int) {
	_ = interrupt(m, p, func(at int, _ call) error {
		if at >= n {
			return errDead
		}
		return nil
	})
}

// cut is the machine after a power cut and the following boot: some unsynced names exist and some do not, and the units
// that ran before run again, with the present files.
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
	for name := range c.files { // a name exists only if its directory does
		c.parents(name)
	}
	c.loaded = unitFiles(c.files)
	for name := range m.units {
		c.units[name] = &unit{"active", c.inputs(name)}
	}
	return c
}

// The agent dies before each of its calls. The next run reaches the same state as an uninterrupted one.
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

// The power fails at every call, with every subset of unsynced changes that a file system may keep.
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

// The agent dies twice, at any calls.
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

// If the contract changes again after a death, the machine ends with the last contract.
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

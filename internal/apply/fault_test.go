package apply_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/internal/resource"
)

// situation is a machine and the plan to apply.
type situation struct {
	name   string
	before *memory
	plan   resource.Plan
	// want is the machine after an undisturbed apply; calls are the calls of that apply.
	want  *memory
	calls []call
}

func situations(t *testing.T) []situation {
	t.Helper()
	running := newMemory()
	applied(t, running, aksPlan(t))
	changed := aksPlan(t, changedConfig)
	// An agent died between the renames and the restarts.
	owing := running.clone()
	dies := len(m2calls(owing, changed)) / 2
	owing = running.clone()
	interrupt(owing, changed, func(n int, c call) error {
		if c.op == "reload" || n > dies*2 {
			return errDead
		}
		return nil
	})
	list := []situation{
		{name: "fresh", before: newMemory(), plan: aksPlan(t)},
		{name: "changed", before: running, plan: changed},
		{name: "died before", before: owing.clone(), plan: changed},
	}
	shared := newMemory()
	for path, content := range othersFiles {
		shared.parents(path)
		shared.files[path] = fileEntry(&resource.File{Path: path, Mode: 0o640, Content: []byte(content)})
	}
	shared.units["image.service"] = &unit{"active", nil}
	shared.units["resolved.service"] = &unit{"active", nil}
	shared.synced = maps.Clone(shared.files)
	withKinds := shared.clone()
	applied(t, withKinds, kindsPlan("1"))
	changing := withKinds.clone()
	changing.stale = []resource.Resource{file("/etc/ca/1.crt", "1")}
	list = append(list,
		situation{name: "every kind", before: shared, plan: kindsPlan("1")},
		situation{name: "every kind changed", before: changing, plan: kindsPlan("2")},
		situation{name: "every kind gone", before: withKinds, plan: kindsPlan("")},
	)
	withKinds.stale = kindsPlan("1").Resources
	token, certificate := tokenPlan()
	served, wanted := servingPlan()
	list = append(list,
		situation{name: "certificate", before: joining(certificate), plan: token},
		situation{name: "serving certificate", before: serving(wanted), plan: served},
	)
	for i := range list {
		s := &list[i]
		s.want = s.before.clone()
		s.calls = m2calls(s.want, s.plan)
		converged(t, s.want, s.plan)
	}
	return list
}

func m2calls(m *memory, p resource.Plan) []call {
	applyAll := try(m, p)
	if applyAll != nil {
		panic(applyAll)
	}
	return m.calls
}

// interrupt applies a plan. It calls fail with each call's number; if that returns an error, the call fails.
func interrupt(m *memory, p resource.Plan, fail func(n int, c call) error) error {
	n := 0
	m.before = func(c call) error {
		n++
		return fail(n, c)
	}
	err := try(m, p)
	m.before = nil
	return err
}

// leaves are the joined errors.
func leaves(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var list []error
		for _, e := range joined.Unwrap() {
			list = append(list, leaves(e)...)
		}
		return list
	}
	return []error{err}
}

// touched are the started or restarted units, each once.
func touched(calls []string) []string {
	set := make(map[string]bool)
	for _, c := range calls {
		if op, name, _ := strings.Cut(c, " "); op == "start" || op == "restart" {
			set[name] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// wholeFiles requires that each file has its old or its new content.
func wholeFiles(t *testing.T, label string, s *situation, m *memory) {
	t.Helper()
	before, want := s.before.lasting(), s.want.lasting()
	for name, e := range m.lasting() {
		if name != intentPath && !e.equal(before[name]) && !e.equal(want[name]) {
			t.Errorf("%s: %s is neither old nor new", label, name)
		}
	}
	for name := range s.before.files {
		_, there := m.files[name]
		if _, wanted := s.want.files[name]; !there && wanted && name != intentPath {
			t.Errorf("%s: %s is gone", label, name)
		}
	}
}

// sameAs requires that a machine is as after an undisturbed apply.
func sameAs(t *testing.T, label string, s *situation, m *memory) {
	t.Helper()
	if !maps.EqualFunc(m.lasting(), s.want.lasting(), entry.equal) {
		t.Errorf("%s: the files differ", label)
	}
	converged(t, m, s.plan)
}

// Every call of an apply fails once, with every disk error: one error names what failed and where, every file is old or
// new, nothing is left behind, and the next apply reaches the same state as an undisturbed one.
func TestEveryCallFails(t *testing.T) {
	for _, s := range situations(t) {
		for n, c := range s.calls {
			for _, errno := range []error{syscall.ENOSPC, syscall.EROFS, syscall.EIO, syscall.EACCES} {
				label := fmt.Sprintf("%s: call %d, %s: %v", s.name, n+1, c, errno)
				m := s.before.clone()
				err := interrupt(m, s.plan, func(at int, c call) error {
					if at == n+1 {
						return fmt.Errorf("%s: %w", c, errno)
					}
					return nil
				})
				switch {
				case c == (call{"read", intentPath}), c.op == "request", c.op == "self-sign", c == (call{"probe", "kubelet-network"}): // the kubelet does it itself, or works without it
					if err != nil {
						t.Errorf("%s: is an error: %v", label, err)
					}
				case c == (call{"state", "kubelet.service"}) && err == nil: // this state is read again later
				case !errors.Is(err, errno) || !strings.Contains(err.Error(), steady(c.name)) || len(leaves(err)) != 1:
					t.Errorf("%s: %v", label, err)
				}
				wholeFiles(t, label, &s, m)
				if len(m.staged) > 0 {
					t.Errorf("%s: staged files are left behind", label)
				}
				if err := try(m, s.plan); err != nil {
					t.Errorf("%s: the next apply: %v", label, err)
				}
				sameAs(t, label, &s, m)
				if t.Failed() {
					return
				}
			}
		}
	}
}

// After a failure, the next apply acts on the same units as an undisturbed one.
func TestUnitsAfterFailure(t *testing.T) {
	for _, s := range situations(t) {
		for n, c := range s.calls {
			if c == (call{"read", intentPath}) {
				continue
			}
			m := s.before.clone()
			_ = interrupt(m, s.plan, func(at int, _ call) error {
				if at == n+1 {
					return errInjected
				}
				return nil
			})
			applied(t, m, s.plan)
			equal(t, fmt.Sprintf("%s: call %d, %s", s.name, n+1, c), touched(m.changed()), touched(s.want.changed()))
		}
	}
}

package apply_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
)

var errInjected = errors.New("injected")

// failing makes the listed calls fail, such as "start a.service".
func failing(calls ...string) func(call) error {
	return func(c call) error {
		if slices.Contains(calls, c.String()) {
			return fmt.Errorf("%s: %w", c, errInjected)
		}
		return nil
	}
}

// diamond is d, which requires b and c, which require a. e requires nothing.
func diamond() resource.Plan {
	return with(
		started("a.service"),
		started("b.service", "Unit:a.service"),
		started("c.service", "Unit:a.service", "Module:of another phase", "File:/etc/x"),
		started("d.service", "Unit:b.service", "Unit:c.service"),
		started("e.service"),
	)
}

func TestRequires(t *testing.T) {
	for _, c := range []struct {
		fail, skipped string
		started       []string // before the rest is skipped
	}{
		{"", "", []string{"a", "b", "c", "d", "e"}},
		{"a", "b c d", []string{"e"}},
		{"b", "d", []string{"a", "c", "e"}},
		{"d", "", []string{"a", "b", "c", "e"}},
		{"e", "", []string{"a", "b", "c", "d"}},
	} {
		for _, sequential := range []bool{true, false} {
			m := newMemory()
			m.before = failing("start " + c.fail + ".service")
			e := engine(m)
			e.Sequential = sequential
			report, err := e.Apply(t.Context(), diamond())
			var skipped, done []string
			for _, id := range names(report.Skipped) {
				skipped = append(skipped, strings.TrimSuffix(strings.TrimPrefix(id, "Unit:"), ".service"))
			}
			for _, change := range report.Changes {
				done = append(done, strings.TrimSuffix(strings.TrimPrefix(string(change.ID), "Unit:"), ".service"))
			}
			equal(t, "skipped after "+c.fail, skipped, strings.Fields(c.skipped))
			equal(t, "started in spite of "+c.fail, done, c.started)
			var failed *apply.Error
			if c.fail == "" && err != nil || c.fail != "" && (!errors.Is(err, errInjected) || !errors.As(err, &failed) || failed.Resource != resource.ID("Unit:"+c.fail+".service")) {
				t.Errorf("%s fails: %v", c.fail, err)
			}
			at := func(name string) int { return slices.Index(m.changed(), "start "+name+".service") }
			if c.fail == "" && (at("a") > at("b") || at("a") > at("c") || at("b") > at("d") || at("c") > at("d")) {
				t.Errorf("started too early: %q", m.changed())
			}
		}
	}
}

// Actions that do not require each other run at the same time.
func TestParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		var now, most atomic.Int32
		m.before = func(c call) error {
			if c.op == "start" {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(time.Second)
				now.Add(-1)
			}
			return nil
		}
		e := engine(m)
		e.Sequential = false
		start := time.Now()
		report, err := e.Apply(t.Context(), diamond())
		if took := time.Since(start); err != nil || took != 3*time.Second || most.Load() != 2 {
			t.Errorf("%v, %s, %d at once", err, took, most.Load())
		}
		if len(report.Steps) < 6 || !slices.IsSortedFunc(report.Steps, func(a, b apply.Step) int { return a.Start.Compare(b.Start) }) {
			t.Errorf("steps are %v", report.Steps)
		}
	})
}

// A plan that cannot be applied is refused before anything is changed.
func TestCycle(t *testing.T) {
	for name, p := range map[string]resource.Plan{
		"itself": with(file("/etc/a", "a"), started("a.service", "Unit:a.service")),
		"three": with(file("/etc/a", "a"), started("a.service", "Unit:b.service"), started("b.service", "Unit:c.service"),
			started("c.service", "Unit:a.service")),
	} {
		m := newMemory()
		if err := try(m, p); err == nil || !strings.Contains(err.Error(), "cycle") || !strings.Contains(err.Error(), ".service") {
			t.Errorf("%s: %v", name, err)
		}
		equal(t, "changes", m.changed(), nil)
		if _, err := engine(m).Preview(t.Context(), p); err == nil {
			t.Errorf("%s: a preview finds nothing wrong", name)
		}
	}
}

func TestKernel(t *testing.T) {
	parameter := func(optional bool) resource.Spec {
		return &resource.Sysctl{Key: "net.ipv6.x", Value: "1", Optional: optional}
	}
	module := &resource.Module{Module: "overlay"}
	for _, c := range []struct {
		name     string
		spec     resource.Spec
		prepare  func(*memory)
		calls    []string
		skipped  bool
		mustFail bool
	}{
		{name: "set", spec: parameter(false), calls: []string{"set net.ipv6.x"}},
		{name: "set already", spec: parameter(false), prepare: func(m *memory) { m.sysctl["net.ipv6.x"] = "1" }},
		{name: "missing", spec: parameter(false), prepare: func(m *memory) { m.missing = map[string]bool{"net.ipv6.x": true} }, mustFail: true},
		{name: "missing and optional", spec: parameter(true), prepare: func(m *memory) { m.missing = map[string]bool{"net.ipv6.x": true} }, skipped: true},
		{name: "optional and refused", spec: parameter(true), prepare: func(m *memory) { m.before = failing("set net.ipv6.x") }, calls: []string{"set net.ipv6.x"}, mustFail: true},
		{name: "unreadable", spec: parameter(true), prepare: func(m *memory) { m.before = failing("sysctl net.ipv6.x") }, mustFail: true},
		{name: "loaded", spec: module, calls: []string{"load overlay"}},
		{name: "loaded already", spec: module, prepare: func(m *memory) { m.module["overlay"] = true }},
		{name: "not to be loaded", spec: module, prepare: func(m *memory) { m.before = failing("load overlay") }, calls: []string{"load overlay"}, mustFail: true},
		{name: "not known", spec: module, prepare: func(m *memory) { m.before = failing("module overlay") }, mustFail: true},
	} {
		m := newMemory()
		if c.prepare != nil {
			c.prepare(m)
		}
		report, err := engine(m).Apply(t.Context(), with(resource.Resource{Spec: c.spec, ExitCode: 7}))
		var failed *apply.Error
		if c.mustFail != (err != nil) || err != nil && (!errors.As(err, &failed) || failed.ExitCode != 7) {
			t.Errorf("%s: %v", c.name, err)
		}
		equal(t, c.name, m.changed(), c.calls)
		if c.skipped != (len(report.Skipped) == 1) {
			t.Errorf("%s: skipped %v", c.name, report.Skipped)
		}
	}
}

func TestChecks(t *testing.T) {
	check := &resource.Check{Label: "api-server", ExitCodes: map[resource.Cause]int{resource.CauseDNS: 52}}
	because := func(cause resource.Cause) error {
		return &apply.CheckError{Cause: cause, Endpoint: "https://api:443", Err: errInjected}
	}
	for _, c := range []struct {
		name    string
		err     error
		code    int
		skipped bool
	}{
		{name: "true"},
		{name: "cause with a code", err: because(resource.CauseDNS), code: 52},
		{name: "wrapped", err: fmt.Errorf("probe: %w", because(resource.CauseDNS)), code: 52},
		{name: "other cause", err: because(resource.CauseTLS), code: 51},
		{name: "no cause", err: errInjected, code: 51},
		{name: "not probed", err: apply.ErrNotProbed, skipped: true},
		{name: "not probed, wrapped", err: fmt.Errorf("probe: %w", apply.ErrNotProbed), skipped: true},
	} {
		m := newMemory()
		var deadline time.Duration
		m.probe = func(ctx context.Context, _ *resource.Check) error {
			at, _ := ctx.Deadline()
			deadline = time.Until(at)
			return c.err
		}
		p := with(resource.Resource{Spec: check, ExitCode: 51}, started("u.service", "Check:api-server"))
		report, err := engine(m).Apply(t.Context(), p)
		var failed *apply.Error
		switch {
		case c.code == 0 && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.code != 0 && (!errors.As(err, &failed) || failed.ExitCode != c.code || !errors.Is(err, errInjected)):
			t.Errorf("%s: %v", c.name, err)
		}
		if want := c.code == 0; want != (m.units["u.service"] != nil) {
			t.Errorf("%s: what requires it was started: %v", c.name, !want)
		}
		if c.skipped != slices.Contains(report.Skipped, "Check:api-server") {
			t.Errorf("%s: skipped %v", c.name, report.Skipped)
		}
		if deadline <= 4*time.Second || deadline > 5*time.Second {
			t.Errorf("%s: deadline is %s", c.name, deadline)
		}
	}
}

func TestCommand(t *testing.T) {
	for _, timeout := range []resource.Duration{0, resource.Duration(time.Minute)} {
		m := newMemory()
		var argv []string
		m.run = func(ctx context.Context, c *resource.Command) ([]byte, error) {
			argv = c.Argv
			if _, bounded := ctx.Deadline(); bounded != (timeout > 0) {
				t.Errorf("timeout %s: bounded is %v", timeout, bounded)
			}
			return []byte("said"), ctx.Err()
		}
		report := applied(t, m, planOf(&resource.Command{Label: "c", Argv: []string{"true", "x"}, Timeout: timeout}))
		equal(t, "arguments", argv, []string{"true", "x"})
		equal(t, "changes", changes(report), []string{"ran Command:c"})
		if string(report.Output) != "said" {
			t.Errorf("output is %q", report.Output)
		}
	}
	m := newMemory()
	m.run = func(context.Context, *resource.Command) ([]byte, error) { return []byte("why"), syscall.EIO }
	report, err := engine(m).Apply(t.Context(), planOf(&resource.Command{Label: "c", Argv: []string{"false"}}))
	if !errors.Is(err, syscall.EIO) || string(report.Output) != "why" || len(report.Changes) > 0 {
		t.Errorf("%v, %q, %v", err, report.Output, report.Changes)
	}
}

// A command that reports that it is done does not run. When it does not report that any more, it runs again.
func TestCommandDone(t *testing.T) {
	m := newMemory()
	m.done = map[string]bool{}
	runs := 0
	m.run = func(context.Context, *resource.Command) ([]byte, error) {
		runs++
		m.done["c"] = true
		return nil, nil
	}
	c := &resource.Command{Label: "c", Argv: []string{"true"}, Done: &resource.Printed{Argv: []string{"show"}, Lines: []string{"done"}}}
	equal(t, "changes", changes(applied(t, m, planOf(c))), []string{"ran Command:c"})
	equal(t, "changes of the second time", changes(applied(t, m, planOf(c))), nil)
	m.done["c"] = false
	equal(t, "changes after it was undone", changes(applied(t, m, planOf(c))), []string{"ran Command:c"})
	if runs != 2 {
		t.Errorf("it ran %d times", runs)
	}
}

// A command that runs once runs again only under another name. A plan without it in between, or the return of an
// earlier plan, does not run it again. If it failed, or was not recorded, it runs again.
func TestCommandOnce(t *testing.T) {
	m := newMemory()
	once := func(name string) resource.Plan {
		return planOf(&resource.Command{Label: "c", Argv: []string{"true"}, Once: name})
	}
	ran := []string{"ran Command:c"}
	for i, step := range []struct {
		plan resource.Plan
		want []string
	}{
		{once("a"), ran}, {once("a"), nil}, {with(), nil}, {once("a"), nil}, {once("b"), ran}, {once("a"), nil}, {once("b"), nil},
	} {
		equal(t, fmt.Sprint("changes of step ", i), changes(applied(t, m, step.plan)), step.want)
	}
	for _, call := range []string{"run c", "commit " + state.Commands.Path} {
		m.before = failing(call)
		if try(m, once(call)) == nil {
			t.Errorf("%s fails without an error", call)
		}
		m.before = nil
		equal(t, "changes after "+call, changes(applied(t, m, once(call))), ran)
	}
}

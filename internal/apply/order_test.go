package apply_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/resource"
)

func TestFreshApply(t *testing.T) {
	m := newMemory()
	p := with(
		file("/etc/b.conf", "b", "b.service"),
		file("/etc/systemd/system/a.service", "a", "a.service"),
		resource.Resource{Spec: &resource.Directory{Path: "/etc/dir", Mode: 0o755}},
		resource.Resource{Spec: &resource.Symlink{Path: "/etc/link", Target: "/etc/b.conf"}},
		resource.Resource{Spec: &resource.Module{Module: "overlay"}},
		resource.Resource{Spec: &resource.Sysctl{Key: "vm.swappiness", Value: "1"}},
		started("a.service", "Unit:b.service"),
		started("b.service", "Module:overlay"),
	)
	report := applied(t, m, p)
	converged(t, m, p)
	equal(t, "calls", m.changed(), []string{
		"stage " + intentPath, "commit " + intentPath, "sync",
		"mkdir /etc/dir", "stage /etc/b.conf", "stage /etc/systemd/system/a.service",
		"commit /etc/b.conf", "symlink /etc/link", "commit /etc/systemd/system/a.service", "sync",
		"load overlay", "set vm.swappiness", "start b.service", "start a.service",
		"remove " + intentPath, "sync",
	})
	equal(t, "changes", changes(report), []string{
		"created Directory:/etc/dir", "created File:/etc/b.conf", "created File:/etc/systemd/system/a.service",
		"loaded Module:overlay", "created Symlink:/etc/link", "set Sysctl:vm.swappiness",
		"started Unit:a.service", "started Unit:b.service",
	})
}

// systemd reads its units again only if it has one of them in memory: the image's unit, or one that the plan changes
// later.
func TestReloadIsForUnitsInMemory(t *testing.T) {
	p := with(file("/etc/systemd/system/a.service", "a", "a.service"), started("a.service"))
	for _, c := range []struct {
		name, inMemory string
		want           []string
	}{
		{"none", "", []string{"start a.service"}},
		{"another", "b.service", []string{"start a.service"}},
		{"the planned one", "a.service", []string{"reload", "restart a.service"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			if c.inMemory != "" {
				m.units[c.inMemory] = &unit{"active", m.inputs(c.inMemory)}
			}
			applied(t, m, p)
			converged(t, m, p)
			equal(t, "done", restarts(m), c.want)
		})
	}
}

// The order of an apply, with a real plan and an image's containerd: none of these comes after any of the next.
func TestOrderOfPhases(t *testing.T) {
	m := newMemory()
	m.units["containerd.service"] = &unit{"active", m.inputs("containerd.service")}
	p := aksPlan(t)
	applied(t, m, p)
	converged(t, m, p)
	phases := []string{"intent", "stage", "rename", "reload", "unit"}
	at := 0
	reloads := 0
	for _, c := range m.changed() {
		op, name, _ := strings.Cut(c, " ")
		phase := ""
		switch {
		case name == intentPath && op != "remove":
			phase = "intent"
		case op == "stage" || op == "mkdir":
			phase = "stage"
		case op == "commit" || op == "symlink":
			phase = "rename"
		case op == "reload":
			phase = "reload"
			reloads++
		case op == "start" || op == "restart":
			phase = "unit"
		default:
			continue
		}
		next := slices.Index(phases, phase)
		if next < at {
			t.Fatalf("%q, after %s", c, phases[at])
		}
		at = next
	}
	if reloads != 1 {
		t.Errorf("%d reloads, want 1", reloads)
	}
}

func TestNothingToDo(t *testing.T) {
	m := newMemory()
	p := aksPlan(t)
	applied(t, m, p)
	for _, sequential := range []bool{true, false} {
		m.forget()
		e := engine(m)
		e.Sequential = sequential
		report, err := e.Apply(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "calls that change something", m.changed(), nil)
		equal(t, "changes", changes(report), nil)
		if got := report.Unchanged + len(report.Skipped); got != len(p.Resources) {
			t.Errorf("%d of %d resources are unchanged", got, len(p.Resources))
		}
	}
}

// A value of several fields is the same however they are separated.
func TestParameterOfSeveralFields(t *testing.T) {
	m := newMemory()
	p := planOf(&resource.Sysctl{Key: "net.ipv4.ip_local_port_range", Value: " 1024\t 65000 "})
	applied(t, m, p)
	m.forget()
	equal(t, "changes", changes(applied(t, m, p)), nil)
	equal(t, "calls that change something", m.changed(), nil)
}

// The report is in the order of the plan, independent of speed. Units that are not in the plan come last.
func TestOrderOfReport(t *testing.T) {
	p := with(
		file("/etc/a", "1", "x.service", "y.service", "z.service"),
		resource.Resource{Spec: &resource.Module{Module: "a"}},
		resource.Resource{Spec: &resource.Module{Module: "b"}},
	)
	want := []string{
		"created File:/etc/a", "loaded Module:a", "loaded Module:b",
		"restarted Unit:x.service", "restarted Unit:y.service", "restarted Unit:z.service",
	}
	for range 20 {
		m := newMemory()
		for _, name := range []string{"x.service", "y.service", "z.service"} {
			m.units[name] = &unit{state: "active"}
		}
		e := engine(m)
		e.Sequential = false
		report, err := e.Apply(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "changes", changes(report), want)
	}
}

// The lock is the caller's, which holds it for longer than an apply.
func TestLockIsTheCallers(t *testing.T) {
	m := newMemory()
	applied(t, m, aksPlan(t))
	if slices.ContainsFunc(m.calls, func(c call) bool { return c.op == "lock" || c.op == "unlock" }) {
		t.Error("the lock is taken or given back")
	}
}

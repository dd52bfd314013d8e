package apply_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// earlier are resources of an earlier plan.
func earlier() []resource.Resource {
	return with(
		file("/etc/kept", "k"),
		file("/etc/systemd/system/a.service.d/10-old.conf", "old", "a.service"),
		resource.Resource{Spec: &resource.Directory{Path: "/etc/old"}},
		resource.Resource{Spec: &resource.Directory{Path: "/etc/old/sub"}},
		resource.Resource{Spec: &resource.Directory{Path: "/etc/shared"}},
		file("/etc/old/sub/f", "f"),
		resource.Resource{Spec: &resource.Symlink{Path: "/etc/link", Target: "x"}},
		resource.Resource{Spec: &resource.Sysctl{Key: "vm.x", Value: "1"}},
		started("a.service"), started("old.service"),
	).Resources
}

// What an earlier plan created and this one lacks is removed, its units stop, and its readers start again. What the
// plan still has, and other programs' files, stay.
func TestStale(t *testing.T) {
	m := newMemory()
	applied(t, m, resource.Plan{Resources: earlier()})
	m.files["/etc/shared/other"] = fileEntry(&resource.File{Path: "/etc/shared/other"})
	m.forget()
	e := engine(m)
	e.Stale = earlier()
	p := with(file("/etc/kept", "k"), started("a.service"))
	preview, err := e.Preview(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "calls of a preview", m.changed(), nil)
	report, err := e.Apply(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	converged(t, m, p)
	want := []string{
		"restarted Unit:a.service", "removed File:/etc/old/sub/f", "removed File:/etc/systemd/system/a.service.d/10-old.conf",
		"removed Symlink:/etc/link", "stopped Unit:old.service",
	}
	equal(t, "changes", changes(report), want)
	equal(t, "preview", changes(preview), want)
	for _, path := range []string{"/etc/old", "/etc/old/sub", "/etc/old/sub/f", "/etc/link", "/etc/systemd/system/a.service.d/10-old.conf"} {
		if m.files[path].Kind != apply.Absent {
			t.Errorf("%s is still there", path)
		}
	}
	if m.files["/etc/shared/other"].Kind != apply.RegularFile || m.units["old.service"].state != "inactive" {
		t.Error("what others put there is gone, or the unit runs")
	}
	m.forget()
	if report, err = e.Apply(t.Context(), p); err != nil || len(report.Changes) > 0 {
		t.Errorf("again: %v, %v", report.Changes, err)
	}
}

// If another program has replaced a stale file, that file stays. A unit stops while systemd still knows its stop
// commands. A unit whose file stays stops with all others. If a unit does not stop, it is tried once more.
func TestStopsBeforeItsFileGoes(t *testing.T) {
	old := with(file("/etc/systemd/system/old.service", "ExecStop=x"), started("old.service"), started("image.service")).Resources
	stop, remove := "stop old.service", "remove /etc/systemd/system/old.service"
	for name, c := range map[string]struct {
		fails int
		want  []string
	}{
		"it stops":           {want: []string{stop, remove, "stop image.service"}},
		"it does not":        {fails: 1, want: []string{stop, remove, "stop image.service", stop}},
		"it does not at all": {fails: 2, want: []string{stop, remove, "stop image.service", stop}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			applied(t, m, resource.Plan{Resources: old})
			m.forget()
			failures := 0
			m.before = func(done call) error {
				if done.String() == stop && failures < c.fails {
					failures++
					return syscall.ETIMEDOUT
				}
				return nil
			}
			e := engine(m)
			e.Stale = old
			_, err := e.Apply(t.Context(), with(file("/etc/kept", "k")))
			if failed := c.fails > 1; errors.Is(err, syscall.ETIMEDOUT) != failed {
				t.Errorf("error %v", err)
			}
			got := slices.DeleteFunc(m.changed(), func(done string) bool {
				return !slices.Contains(c.want, strings.TrimSpace(done))
			})
			for i := range got {
				got[i] = strings.TrimSpace(got[i])
			}
			equal(t, "calls", got, c.want)
		})
	}
}

func TestStaleIsSomethingElse(t *testing.T) {
	m := newMemory()
	m.files["/etc/f"] = entry{Entry: apply.Entry{Kind: apply.Directory, Mode: 0o755}}
	e := engine(m)
	e.Stale = with(file("/etc/f", "x")).Resources
	if report, err := e.Apply(t.Context(), resource.Plan{}); err != nil || len(report.Changes) > 0 {
		t.Errorf("%v, %v", report.Changes, err)
	}
}

// A file that is needed until others exist is written before them and removed after them, and restarts nothing then.
func TestUntil(t *testing.T) {
	m := newMemory()
	p := with(
		resource.Resource{Effects: resource.Restarting("a.service"), Spec: &resource.File{Path: "/etc/credential", Mode: 0o600, Content: []byte("c"), Until: []string{"/etc/own", "/etc/name"}}},
		started("a.service"),
	)
	applied(t, m, p)
	converged(t, m, p)
	// A link to a missing or empty file does not count as that file.
	m.files["/etc/own"] = entry{Entry: apply.Entry{Kind: apply.Symlink, Target: "own-1"}}
	equal(t, "changes", changes(applied(t, m, p)), nil)
	m.files["/etc/own-1"] = fileEntry(&resource.File{Path: "/etc/own-1"})
	equal(t, "changes", changes(applied(t, m, p)), nil)
	m.files["/etc/own-1"] = fileEntry(&resource.File{Path: "/etc/own-1", Content: []byte("c")})
	equal(t, "changes", changes(applied(t, m, p)), nil)
	// Nor does one of them count, if a power cut has left the other empty.
	m.files["/etc/name"] = fileEntry(&resource.File{Path: "/etc/name"})
	equal(t, "changes", changes(applied(t, m, p)), nil)
	m.files["/etc/name"] = fileEntry(&resource.File{Path: "/etc/name", Content: []byte("n")})
	m.forget()
	equal(t, "changes", changes(applied(t, m, p)), []string{"removed File:/etc/credential"})
	calls := m.changed()
	for _, sync := range []string{"syncfs /etc/own", "syncfs /etc/name"} {
		if slices.Index(calls, sync) > slices.Index(calls, "remove /etc/credential") || !slices.Contains(calls, sync) {
			t.Errorf("what takes its place is not durable before it goes: %q", calls)
		}
	}
	equal(t, "changes", changes(applied(t, m, p)), nil)
	if m.files["/etc/credential"].Kind != apply.Absent {
		t.Error("the credential is still there")
	}
}

// A file that stays when the others exist is written as before, also with other content, and restarts nothing then.
func TestUntilStays(t *testing.T) {
	m := newMemory()
	p := func(content string) resource.Plan {
		return with(
			resource.Resource{Effects: resource.Restarting("a.service"), Spec: &resource.File{Path: "/etc/credential", Mode: 0o600, Content: []byte(content), Until: []string{"/etc/own"}, Stays: true}},
			started("a.service"),
		)
	}
	applied(t, m, p("1"))
	equal(t, "changes", changes(applied(t, m, p("2"))), []string{"updated File:/etc/credential", "restarted Unit:a.service"})
	m.files["/etc/own"] = fileEntry(&resource.File{Path: "/etc/own", Content: []byte("o")})
	converged(t, m, p("2"))
	equal(t, "changes", changes(applied(t, m, p("3"))), []string{"updated File:/etc/credential"})
	if got := string(m.files["/etc/credential"].content); got != "3" {
		t.Errorf("the credential is %q, want 3", got)
	}
	delete(m.files, "/etc/credential")
	equal(t, "changes", changes(applied(t, m, p("3"))), []string{"created File:/etc/credential"})
}

// The output of an earlier plan's command, made from the remaining inputs, exists before a unit that reads it starts.
func TestStaleCommandBeforeUnits(t *testing.T) {
	command := resource.Resource{Spec: &resource.Command{Label: "update-ca", Argv: []string{"update-ca"}, Inputs: []string{"/etc/ca"}}}
	unit := started("a.service")
	m := newMemory()
	e := engine(m)
	e.Stale = with(file("/etc/ca/1.crt", "1", "a.service"), command, unit).Resources
	applied(t, m, resource.Plan{Resources: e.Stale})
	m.forget()
	m.run = func(context.Context, *resource.Command) ([]byte, error) { return nil, syscall.EIO }
	if _, err := e.Apply(t.Context(), with(unit)); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if slices.Contains(m.changed(), "restart a.service") {
		t.Error("the unit starts and reads what was there before")
	}
	m.run = nil
	if _, err := e.Apply(t.Context(), with(unit)); err != nil {
		t.Fatal(err)
	}
	calls := m.changed()
	if !slices.Contains(calls, "run update-ca") || !slices.Contains(calls, "restart a.service") {
		t.Errorf("calls are %q", calls)
	}
}

// A server's configuration is tested before the server reads it again, only while it runs. A command that may fail does
// not fail the run.
func TestConfigurationIsTestedBeforeItIsRead(t *testing.T) {
	config := file("/etc/app.conf", "1")
	config.Reloads = []string{"app.service"}
	test := resource.Resource{Spec: &resource.Command{Label: "test", Argv: []string{"test"}, Inputs: []string{"/etc/app.conf"}, While: "app.service"}}
	p := with(config, test)

	m := newMemory()
	applied(t, m, p)
	if calls := m.changed(); slices.Contains(calls, "run test") || slices.Contains(calls, "reload-unit app.service") {
		t.Errorf("a server that does not run is tested, or reads its configuration: %q", calls)
	}
	m = newMemory()
	m.units["app.service"] = &unit{state: "active"}
	applied(t, m, p)
	calls := m.changed()
	if at := slices.Index(calls, "run test"); at < 0 || slices.Index(calls, "reload-unit app.service") < at {
		t.Errorf("want the test, then the reload: %q", calls)
	}
	m = newMemory()
	m.units["app.service"] = &unit{state: "active"}
	m.run = func(context.Context, *resource.Command) ([]byte, error) { return nil, syscall.EIO }
	if err := try(m, p); !errors.Is(err, syscall.EIO) || slices.Contains(m.changed(), "reload-unit app.service") {
		t.Errorf("the server reads a configuration that it refuses: %v, %q", err, m.changed())
	}
	test.Spec.(*resource.Command).Optional = true
	m.units["app.service"] = &unit{state: "active"}
	if err := try(m, p); err != nil {
		t.Errorf("a command that may fail: %v", err)
	}
}

// A change of systemd's configuration makes systemd read it again, as changed units do.
func TestManagerConfigurationIsReadAgain(t *testing.T) {
	for path, want := range map[string]bool{"/etc/systemd/system.conf.d/a.conf": true, "/etc/systemd/journald.conf.d/a.conf": false} {
		m := newMemory()
		applied(t, m, with(file(path, "x")))
		if got := slices.ContainsFunc(m.changed(), func(call string) bool { return strings.HasPrefix(call, "reload") }); got != want {
			t.Errorf("%s: systemd reads its configuration again: %v", path, got)
		}
	}
}

package apply_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// tampering are the ways in which a resource can differ, and the action for each.
var tampering = []struct {
	name   string
	action apply.Action
	tamper func(e *entry) bool // false if it does not apply
}{
	{"gone", apply.Created, func(e *entry) bool { *e = entry{}; return true }},
	{"other content of the same size", apply.Updated, func(e *entry) bool {
		if len(e.content) == 0 {
			return false
		}
		e.content = append(slices.Clone(e.content[:len(e.content)-1]), e.content[len(e.content)-1]^1)
		return true
	}},
	{"longer", apply.Updated, func(e *entry) bool {
		e.content = append(slices.Clone(e.content), 'x')
		e.Size++
		return e.Kind == apply.RegularFile
	}},
	{"other mode", apply.Corrected, func(e *entry) bool { e.Mode ^= 0o004; return e.Kind != apply.Symlink }},
	{"other owner", apply.Corrected, func(e *entry) bool { e.UID = 1000; return e.Kind != apply.Symlink }},
	{"other group", apply.Corrected, func(e *entry) bool { e.GID = 1000; return e.Kind != apply.Symlink }},
	{"owner of no meaning", "", func(e *entry) bool { e.UID, e.Owned = 1000, false; return e.Kind != apply.Symlink }},
	{"other target", apply.Updated, func(e *entry) bool { e.Target += "x"; return e.Kind == apply.Symlink }},
	{"a link", apply.Updated, func(e *entry) bool {
		is := e.Kind == apply.RegularFile
		*e = entry{Entry: apply.Entry{Kind: apply.Symlink, Target: "/etc/passwd"}}
		return is
	}},
	{"a file", apply.Updated, func(e *entry) bool {
		is := e.Kind == apply.Symlink
		*e = entry{Entry: apply.Entry{Kind: apply.RegularFile}}
		return is
	}},
}

// Each file, directory and link of a real plan is changed alone. The apply repairs it, restarts the units that depend
// on it, reloads systemd if it is a unit file, and does nothing else.
func TestOnlyWhatChanged(t *testing.T) {
	p := aksPlan(t)
	whole := newMemory()
	applied(t, whole, p)
	cases := 0
	for _, r := range p.Resources {
		for _, change := range tampering {
			name := r.Spec.Name()
			e, isFile := whole.files[name]
			if !isFile || !change.tamper(&e) {
				continue
			}
			cases++
			m := whole.clone()
			m.files[name] = e
			report := applied(t, m, p)
			label := string(r.ID()) + ", " + change.name
			var want, done []string
			if change.action != "" {
				want = append(want, string(change.action)+" "+string(r.ID()))
				for _, u := range r.Restarts {
					want, done = append(want, "restarted Unit:"+u), append(done, "restart "+u)
				}
				if strings.HasPrefix(name, units) {
					done = append(done, "reload")
				}
				converged(t, m, p)
			}
			equal(t, label, changes(report), want)
			acts := slices.DeleteFunc(m.changed(), func(c string) bool {
				return strings.HasSuffix(c, name) || strings.HasSuffix(c, intentPath) || c == "sync"
			})
			equal(t, label, slices.Sorted(slices.Values(acts)), slices.Sorted(slices.Values(done)))
		}
	}
	if cases < 150 {
		t.Errorf("only %d cases", cases)
	}
}

// An obstacle that is neither a file nor a link is not removed.
func TestInTheWay(t *testing.T) {
	specs := map[apply.EntryKind]resource.Spec{
		apply.RegularFile: &resource.File{Path: "/etc/x"},
		apply.Directory:   &resource.Directory{Path: "/etc/x"},
		apply.Symlink:     &resource.Symlink{Path: "/etc/x", Target: "y"},
	}
	for _, kind := range []apply.EntryKind{apply.RegularFile, apply.Directory, apply.Symlink, apply.Other} {
		for want, spec := range specs {
			if kind == want || kind != apply.Directory && kind != apply.Other && want != apply.Directory {
				continue // it is correct, or is replaced
			}
			m := newMemory()
			m.files["/etc/x"] = entry{Entry: apply.Entry{Kind: kind}}
			err := try(m, planOf(spec, &resource.File{Path: "/etc/y"}))
			if err == nil || !strings.Contains(err.Error(), "/etc/x is a "+string(kind)) {
				t.Errorf("%s in place of a %s: %v", kind, want, err)
			}
			equal(t, "changes", m.changed(), nil)
		}
	}
}

func TestUnits(t *testing.T) {
	for _, c := range []struct {
		state            string // the unit's state before
		changed, planned bool   // whether its input changes, and whether the plan starts it
		want             []string
	}{
		{state: "", planned: true, want: []string{"start u.service"}},
		{state: "", changed: true, planned: true, want: []string{"start u.service"}},
		{state: "", changed: true},
		{state: "inactive", planned: true, want: []string{"start u.service"}},
		{state: "inactive", changed: true, planned: true, want: []string{"start u.service"}},
		{state: "inactive", changed: true},
		{state: "failed", planned: true, want: []string{"start u.service"}},
		{state: "failed", changed: true},
		{state: "deactivating", changed: true, planned: true, want: []string{"start u.service"}},
		{state: "deactivating", changed: true},
		{state: "active", planned: true},
		{state: "active", changed: true, planned: true, want: []string{"restart u.service"}},
		{state: "active", changed: true, want: []string{"restart u.service"}},
		{state: "reloading", planned: true},
		{state: "reloading", changed: true, planned: true, want: []string{"restart u.service"}},
		// Another program is just starting it, with the earlier files.
		{state: "activating", planned: true, want: []string{"start u.service"}},
		{state: "activating", changed: true, planned: true, want: []string{"restart u.service"}},
		{state: "activating", changed: true, want: []string{"restart u.service"}},
	} {
		p := with(file("/etc/u.conf", "new", "u.service"))
		if c.planned {
			p = with(p.Resources[0], started("u.service"))
		}
		m := newMemory()
		applied(t, m, with(file("/etc/u.conf", "new")))
		if c.changed {
			applied(t, m, with(file("/etc/u.conf", "old")))
		}
		if c.state != "" {
			m.units["u.service"] = &unit{c.state, m.inputs("u.service")}
		}
		m.forget()
		applied(t, m, p)
		acts := slices.DeleteFunc(m.changed(), func(s string) bool { return !strings.HasSuffix(s, ".service") })
		if !slices.Equal(acts, c.want) {
			t.Errorf("%+v: got %q", c, acts)
		}
		if c.planned {
			converged(t, m, p)
		}
	}
}

// unaware is a host whose systemd sees no change of any unit.
type unaware struct{ *memory }

func (unaware) NeedReload(context.Context, []string) (bool, error) { return false, nil }

// systemd does not notice a new link that pulls in another unit, so the engine reloads it.
func TestPullingIsNoticed(t *testing.T) {
	const units = resource.UnitDir + "/"
	link := func(path string) resource.Resource {
		return resource.Resource{Effects: resource.Restarting("kubelet.service"), Spec: &resource.Symlink{Path: path, Target: units + "client.service"}}
	}
	for path, want := range map[string]bool{
		units + "kubelet.service.wants/client.service":     true,
		units + "multi-user.target.wants/client.service":   false, // nothing starts it at this time
		units + "other.service.wants/client.service":       false,
		"/etc/elsewhere/kubelet.service.wants/client.link": false,
	} {
		m := newMemory()
		applied(t, m, with(started("kubelet.service")))
		m.forget()
		applied(t, unaware{m}, with(link(path), started("kubelet.service")))
		if got := slices.Contains(m.changed(), "reload"); got != want {
			t.Errorf("%s: reloaded: %v", path, got)
		}
	}
}

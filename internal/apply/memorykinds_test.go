package apply_test

import (
	"context"
	"maps"
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// change is a method that changes something of the memory, if it may.
func (m *memory) change(op, name string, f func()) error {
	err := m.enter(op, name)
	defer m.mu.Unlock()
	if err == nil {
		f()
	}
	return err
}

// ReloadUnit has a unit see what it saw before, and what has changed since of its inputs but not of its own files.
func (m *memory) ReloadUnit(_ context.Context, name string) error {
	return m.change("reload-unit", name, func() { m.units[name] = &unit{"active", m.inputs(name)} })
}

func (m *memory) MaskUnit(_ context.Context, name string) error {
	return m.change("mask", name, func() { m.masked[name] = true })
}

func (m *memory) UnmaskUnit(_ context.Context, name string) error {
	return m.change("unmask", name, func() { delete(m.masked, name) })
}

func (m *memory) EnableUnit(_ context.Context, name string) error {
	return m.change("enable", name, func() { delete(m.disabled, name) })
}

func (m *memory) DisableUnit(_ context.Context, name string) error {
	return m.change("disable", name, func() { m.disabled[name] = true })
}

func (m *memory) Attribute(path string) (string, error) {
	err := m.enter("attribute", path)
	defer m.mu.Unlock()
	return m.attributes[path], err
}

func (m *memory) SetAttribute(path, value string) error {
	return m.change("attribute-set", path, func() { m.attributes[path] = value })
}

func (m *memory) Mounted(mount *resource.Mount) (bool, error) {
	err := m.enter("mounted", mount.Where)
	defer m.mu.Unlock()
	return m.mounts[mount.Where] == mount.What, err
}

func (m *memory) Mount(_ context.Context, mount *resource.Mount) error {
	return m.change("mount", mount.Where, func() { m.mounts[mount.Where] = mount.What })
}

func (m *memory) Unmount(_ context.Context, mount *resource.Mount) error {
	return m.change("unmount", mount.Where, func() { delete(m.mounts, mount.Where) })
}

func (m *memory) Swapping(swap *resource.Swap) (bool, error) {
	err := m.enter("swapping", swap.Path)
	defer m.mu.Unlock()
	return m.swaps[swap.Path] == swap.Bytes, err
}

func (m *memory) SwapFile(swap *resource.Swap) (bool, error) {
	err := m.enter("swap-file", swap.Path)
	defer m.mu.Unlock()
	return m.swaps[swap.Path] != 0, err
}

func (m *memory) MakeSwap(_ context.Context, swap *resource.Swap) error {
	return m.change("swapon", swap.Path, func() { m.swaps[swap.Path] = swap.Bytes })
}

func (m *memory) RemoveSwap(_ context.Context, swap *resource.Swap) error {
	return m.change("swapoff", swap.Path, func() { delete(m.swaps, swap.Path) })
}

// ran is a command that was run, and what it worked on.
type ran struct {
	command *resource.Command
	seen    map[string]entry
}

// inputsOf is what a command works on, as it is now.
func (m *memory) inputsOf(c *resource.Command) map[string]entry {
	seen := maps.Clone(m.files)
	maps.DeleteFunc(seen, func(name string, e entry) bool { return e.Kind != apply.RegularFile || !c.Reads(name) })
	return seen
}

// othersFiles are files that others own, too, and what they have in them.
var othersFiles = map[string]string{"/etc/hosts": "127.0.0.1 localhost\n", "/etc/fstab": "# none"}

// kindsPlan has a resource of every kind that is not of a node's alone, in one of two versions; in none, nothing of them is
// left.
func kindsPlan(version string) resource.Plan {
	app := started("app.service", "Mount:/var/lib/app")
	if version == "" {
		return with(app)
	}
	sizes := map[string]int64{"1": 1 << 20, "2": 2 << 20}
	pages := map[string]string{"1": "madvise", "2": "never"}
	config := file("/var/lib/app/config", version)
	config.Reloads = []string{"app.service"}
	certificate := file("/etc/ca/"+version+".crt", version)
	specs := []resource.Spec{
		&resource.Attribute{Path: "/sys/kernel/mm/transparent_hugepage/enabled", Value: pages[version]},
		&resource.Block{Path: "/etc/hosts", Label: "private", Content: "10.0.0." + version + " api\n"},
		&resource.Block{Path: "/etc/hosts", Label: "second", Content: "10.0.0.9 other\n"},
		&resource.Block{Path: "/etc/environment", Label: "proxy", Content: "http_proxy=" + version + "\n"},
		&resource.Command{Label: "update-ca", Argv: []string{"update-ca-certificates"}, Inputs: []string{"/etc/ca"}},
		&resource.Mount{Where: "/var/lib/app", What: "/mnt/" + version},
		&resource.Swap{Path: "/mnt/swapfile", Bytes: sizes[version]},
		&resource.UnitState{Unit: "image.service", State: resource.UnitMasked, Was: []string{resource.WasEnabled, resource.WasActive}},
		&resource.UnitState{Unit: "resolved.service", State: resource.UnitDisabled, Was: []string{resource.WasEnabled, resource.WasActive}},
	}
	resources := []resource.Resource{app, config, certificate}
	for _, spec := range specs {
		resources = append(resources, resource.Resource{Spec: spec})
	}
	return with(resources...)
}

// undone wants nothing to be left of what is stale, and others' files and units to be as they were.
func undone(t *testing.T, m *memory) {
	t.Helper()
	for _, r := range m.stale {
		switch spec := r.Spec.(type) {
		case *resource.Block:
			want, others := othersFiles[spec.Path]
			if e := m.files[spec.Path]; string(e.content) != want && string(e.content) != want+"\n" || (e.Kind == apply.Absent) == others {
				t.Errorf("%s is left: %q", r.ID(), e.content)
			}
		case *resource.Mount:
			if m.mounts[spec.Where] != "" {
				t.Errorf("%s is left", r.ID())
			}
		case *resource.Swap:
			if m.swaps[spec.Path] != 0 {
				t.Errorf("%s is left", r.ID())
			}
		case *resource.UnitState:
			if u := m.units[spec.Unit]; m.masked[spec.Unit] || m.disabled[spec.Unit] || u.state != "active" {
				t.Errorf("%s is left", r.ID())
			}
		}
	}
}

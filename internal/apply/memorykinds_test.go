package apply_test

import (
	"context"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// change is a method that changes the memory, unless before returns an error.
func (m *memory) change(op, name string, f func()) error {
	if !(call{op, name}).changes() {
		panic(op + " is missing in changingKinds")
	}
	err := m.enter(op, name)
	defer m.mu.Unlock()
	if err == nil {
		f()
	}
	return err
}

// ReloadUnit updates the inputs that a unit sees, but not its unit files.
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

// has is the machine's state for a thing. The question can fail.
func (m *memory) has(op string, live map[thing]string, of thing) (string, error) {
	err := m.enter(op, of.name)
	defer m.mu.Unlock()
	return live[of], err
}

func attributeOf(path string) thing       { return thing{"attribute", path} }
func mountOf(mount *resource.Mount) thing { return thing{"mount", mount.Where} }
func swapOf(swap *resource.Swap) thing    { return thing{"swap", swap.Path} }
func swapSize(swap *resource.Swap) string { return strconv.FormatInt(swap.Bytes, 10) }
func imageOf(image *resource.Image) thing { return thing{"image", image.Image} }

func (m *memory) Attribute(path string) (string, error) {
	return m.has("attribute", m.live, attributeOf(path))
}

func (m *memory) SetAttribute(path, value string) error {
	return m.change("attribute-set", path, func() { m.live[attributeOf(path)] = value })
}

func (m *memory) Mounted(mount *resource.Mount) (bool, error) {
	what, err := m.has("mounted", m.live, mountOf(mount))
	return what == mount.What, err
}

func (m *memory) Mount(_ context.Context, mount *resource.Mount) error {
	return m.change("mount", mount.Where, func() { m.live[mountOf(mount)] = mount.What })
}

func (m *memory) Unmount(_ context.Context, mount *resource.Mount) error {
	return m.change("unmount", mount.Where, func() { delete(m.live, mountOf(mount)) })
}

func (m *memory) Swapping(swap *resource.Swap) (bool, error) {
	size, err := m.has("swapping", m.live, swapOf(swap))
	return size == swapSize(swap), err
}

func (m *memory) SwapFile(swap *resource.Swap) (bool, error) {
	size, err := m.has("swap-file", m.live, swapOf(swap))
	return size != "", err
}

func (m *memory) MakeSwap(_ context.Context, swap *resource.Swap) error {
	return m.change("swapon", swap.Path, func() { m.live[swapOf(swap)] = swapSize(swap) })
}

func (m *memory) RemoveSwap(_ context.Context, swap *resource.Swap) error {
	return m.change("swapoff", swap.Path, func() { delete(m.live, swapOf(swap)) })
}

func (m *memory) HasImage(_ context.Context, image *resource.Image) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stored[imageOf(image)] != "", nil
}

func (m *memory) PullImage(_ context.Context, image *resource.Image) error {
	return m.change("pull", image.Image, func() { m.stored[imageOf(image)] = image.Image })
}

// ran is a command that has run, and its inputs.
type ran struct {
	command *resource.Command
	seen    map[string]entry
}

// inputsOf are a command's present inputs.
func (m *memory) inputsOf(c *resource.Command) map[string]entry {
	seen := maps.Clone(m.files)
	maps.DeleteFunc(seen, func(name string, e entry) bool { return e.Kind != apply.RegularFile || !c.Reads(name) })
	return seen
}

// othersFiles are files that other programs also write, with their content.
var othersFiles = map[string]string{"/etc/hosts": "127.0.0.1 localhost\n", "/etc/fstab": "# none", downloads + "1/plugin": "1", downloads + "2/plugin": "2", packaged: "package\n", "/etc/ca.conf": "x.crt\n"}

// packaged is a certificate of a package.
const packaged = "/usr/share/ca/x.crt"

const downloads = "/opt/cni/downloads/"

// kindsPlan has a resource of every kind that is not specific to nodes, in one of two versions. In the version "" it
// has none.
func kindsPlan(version string) resource.Plan {
	app := started("app.service", "Mount:/var/lib/app")
	if version == "" {
		return with(app)
	}
	config := file("/var/lib/app/config", version)
	config.Reloads = []string{"app.service"}
	certificate := file("/etc/ca/"+version+".crt", version)
	others := map[string]string{"1": "2", "2": "1"}
	brought := component("tool", version)
	specs := []resource.Spec{
		brought,
		&resource.Copy{Path: "/opt/bin/tool", Source: brought.Path("tool")},
		&resource.Copy{Path: "/opt/cni/bin/plugin", Source: downloads + version + "/plugin", Over: []string{downloads + others[version] + "/plugin"}},
		&resource.Block{Path: "/etc/hosts", Label: "private", Content: "10.0.0." + version + " api\n"},
		&resource.Block{Path: "/etc/hosts", Label: "second", Content: "10.0.0.9 other\n"},
		&resource.Block{Path: "/etc/environment", Label: "proxy", Content: "http_proxy=" + version + "\n"},
		&resource.Command{Label: "update-ca", Argv: []string{"update-ca-certificates"}, Inputs: []string{"/etc/ca"}},
		&resource.TrustStore{
			Label: "trust", Bundle: "/etc/certs/bundle.crt", Links: "/etc/certs", Anchors: "/etc/ca", Packages: "/usr/share/ca", Selection: "/etc/ca.conf",
			Added: []string{"/etc/ca/" + version + ".crt"},
		},
		&resource.Command{Label: "install", Argv: []string{"install"}, Once: "install-" + version},
		&resource.UnitState{Unit: "image.service", State: resource.UnitMasked, Was: []string{resource.WasEnabled, resource.WasActive}},
		&resource.UnitState{Unit: "resolved.service", State: resource.UnitDisabled, Was: []string{resource.WasEnabled, resource.WasActive}},
	}
	resources := []resource.Resource{app, config, certificate}
	for _, kind := range slices.Sorted(maps.Keys(kindSpecs)) {
		specs = append(specs, kindSpecs[kind](version))
	}
	for _, spec := range specs {
		resources = append(resources, resource.Resource{Spec: spec})
	}
	return with(resources...)
}

// kindSpecs are the specs of kindsPlan that require no others. The tests of a kind add theirs, and rows of asPlanned
// and isLeft.
var kindSpecs = map[string]func(version string) resource.Spec{
	"Attribute": func(version string) resource.Spec {
		return &resource.Attribute{Path: "/sys/kernel/mm/transparent_hugepage/enabled", Value: map[string]string{"1": "madvise", "2": "never"}[version]}
	},
	"Image": func(version string) resource.Spec {
		return &resource.Image{Image: "registry.example/pause:" + version, Socket: "/run/containerd/containerd.sock", Timeout: resource.Duration(time.Minute)}
	},
	"Mount": func(version string) resource.Spec {
		return &resource.Mount{Where: "/var/lib/app", What: "/mnt/" + version}
	},
	"Swap": func(version string) resource.Spec {
		return &resource.Swap{Path: "/mnt/swapfile", Bytes: map[string]int64{"1": 1 << 20, "2": 2 << 20}[version]}
	},
}

// asPlanned reports, for each kind with a state, whether the machine matches a plan.
var asPlanned = map[string]func(m *memory, spec resource.Spec) bool{
	"File": func(m *memory, spec resource.Spec) bool {
		f := spec.(*resource.File)
		if f.Temporary() && !f.Stays && !slices.ContainsFunc(f.Until, func(name string) bool {
			e := m.files[name]
			if e.Kind == apply.Symlink {
				e = m.files[e.Target]
			}
			return len(e.content) == 0
		}) {
			// The next run removes it, or its reader does when the replacement is there.
			if m.files[f.Path].Kind == apply.Absent {
				return true
			}
		}
		return m.files[f.Path].equal(fileEntry(f))
	},
	"Directory": func(m *memory, spec resource.Spec) bool {
		e := m.files[spec.Name()]
		return e.Kind == apply.Directory && e.Mode == spec.(*resource.Directory).Mode
	},
	"Copy": func(m *memory, spec resource.Spec) bool {
		e := m.files[spec.Name()]
		return e.Kind == apply.RegularFile && e.equal(m.files[spec.(*resource.Copy).Source])
	},
	"Symlink": func(m *memory, spec resource.Spec) bool {
		e := m.files[spec.Name()]
		return e.Kind == apply.Symlink && e.Target == spec.(*resource.Symlink).Target
	},
	"Sysctl": func(m *memory, spec resource.Spec) bool {
		s := spec.(*resource.Sysctl)
		return m.sysctl[s.Key] == s.Value
	},
	"Module": func(m *memory, spec resource.Spec) bool { return m.module[spec.Name()] },
	"Block": func(m *memory, spec resource.Spec) bool {
		b := spec.(*resource.Block)
		have := string(m.files[b.Path].content)
		return strings.Count(have, "slipway "+b.Label+"\n"+b.Content) == 1 && strings.Contains(have, othersFiles[b.Path])
	},
	"Attribute": func(m *memory, spec resource.Spec) bool {
		a := spec.(*resource.Attribute)
		return m.live[attributeOf(a.Path)] == a.Value
	},
	"Mount": func(m *memory, spec resource.Spec) bool {
		mount := spec.(*resource.Mount)
		return m.live[mountOf(mount)] == mount.What
	},
	"Swap": func(m *memory, spec resource.Spec) bool {
		s := spec.(*resource.Swap)
		return m.live[swapOf(s)] == swapSize(s)
	},
	"TrustStore": func(m *memory, spec resource.Spec) bool {
		s := spec.(*resource.TrustStore)
		anchor := string(m.files[s.Added[0]].content)
		link := m.files[s.Links+"/"+strings.TrimSuffix(path.Base(s.Added[0]), ".crt")+".pem"]
		return string(m.files[s.Bundle].content) == othersFiles[packaged]+anchor+"\n" && link.Target == s.Added[0]
	},
	"UnitState": func(m *memory, spec resource.Spec) bool {
		u := spec.(*resource.UnitState)
		return m.masked[u.Unit] == (u.State == resource.UnitMasked) && m.disabled[u.Unit] == (u.State == resource.UnitDisabled) &&
			m.units[u.Unit].state != "active"
	},
	"Certificate":        isJoined,
	"Download":           inStore,
	"Image":              func(m *memory, spec resource.Spec) bool { return m.stored[imageOf(spec.(*resource.Image))] != "" },
	"ServingCertificate": canServe,
	"Unit": func(m *memory, spec resource.Spec) bool {
		u := m.units[spec.Name()]
		return u != nil && (u.state == "active" || u.state == "reloading")
	},
}

// isLeft reports, for each kind that is undone and is not a file of the plan, whether a part of it still exists.
var isLeft = map[string]func(m *memory, spec resource.Spec) bool{
	"Block": func(m *memory, spec resource.Spec) bool {
		path := spec.(*resource.Block).Path
		want, others := othersFiles[path]
		e := m.files[path]
		return string(e.content) != want && string(e.content) != want+"\n" || (e.Kind == apply.Absent) == others
	},
	"Copy":  func(m *memory, spec resource.Spec) bool { return m.files[spec.Name()].Kind != apply.Absent },
	"Mount": func(m *memory, spec resource.Spec) bool { return m.live[mountOf(spec.(*resource.Mount))] != "" },
	"Swap":  func(m *memory, spec resource.Spec) bool { return m.live[swapOf(spec.(*resource.Swap))] != "" },
	"TrustStore": func(m *memory, spec resource.Spec) bool {
		s := spec.(*resource.TrustStore)
		return string(m.files[s.Bundle].content) != othersFiles[packaged] || m.files[s.Links+"/1.pem"].Kind != apply.Absent
	},
	"UnitState": func(m *memory, spec resource.Spec) bool {
		unit := spec.(*resource.UnitState).Unit
		return m.masked[unit] || m.disabled[unit] || m.units[unit].state != "active"
	},
}

// Every kind is in a plan during which the agent dies at every point, and its state is checked.
func TestEveryKindIsTried(t *testing.T) {
	tried := make(map[string]bool)
	for _, p := range []resource.Plan{aksPlan(t), kindsPlan("1")} {
		for _, r := range p.Resources {
			tried[r.Spec.Kind()] = true
		}
	}
	for kind := range resource.Kinds {
		if !tried[kind] && kind != "Check" { // a check changes nothing
			t.Errorf("%s: no plan has one; add it to kindSpecs", kind)
		}
		// A command's inputs at its run are compared with its present inputs.
		if asPlanned[kind] == nil && kind != "Check" && kind != "Command" {
			t.Errorf("%s: no test checks its state; add it to asPlanned", kind)
		}
	}
}

func undone(t *testing.T, m *memory) {
	t.Helper()
	for _, r := range m.stale {
		if is := isLeft[r.Spec.Kind()]; is != nil && is(m, r.Spec) {
			t.Errorf("%s is left", r.ID())
		}
	}
}

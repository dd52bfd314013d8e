package apply_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// component is a component of a plan, with a program.
func component(name, version string) *resource.Download {
	return &resource.Download{
		Component: name, Version: version, From: []string{"https://example/" + name + "-" + version + ".tar.gz"},
		Files: []resource.Unpacked{{Name: name, Members: []string{name}}},
	}
}

func (m *memory) Downloaded(d *resource.Download) (*apply.Origin, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, file := range d.Files {
		if m.files[d.Path(file.Name)].Kind != apply.RegularFile {
			return nil, nil
		}
	}
	return originOf(d), nil
}

func originOf(d *resource.Download) *apply.Origin {
	return &apply.Origin{From: d.From[0], SHA256: strings.Repeat("0", 64), Bytes: 7}
}

// Download fills a store at once. The tests of stores cover incomplete ones.
func (m *memory) Download(_ context.Context, d *resource.Download, _ func(string)) (*apply.Origin, error) {
	err := m.enter("download", d.Component)
	defer m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	for _, file := range d.Files {
		name := d.Path(file.Name)
		m.parents(name)
		m.files[name] = fileEntry(&resource.File{Path: name, Mode: 0o755, Content: []byte(file.Name + " " + d.Version)})
	}
	m.synced = maps.Clone(m.files)
	return originOf(d), nil
}

func (m *memory) Stores(component string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var stores []string
	for name := range m.files {
		if of, _, ok := resource.StoreOf(name); ok && of == component {
			stores = append(stores, path.Dir(name))
		}
	}
	slices.Sort(stores)
	return slices.Compact(stores), nil
}

func inStore(m *memory, spec resource.Spec) bool {
	origin, err := m.Downloaded(spec.(*resource.Download))
	return origin != nil && err == nil
}

// brings is a plan with components, each with a link to its program.
func brings(downloads ...*resource.Download) resource.Plan {
	var specs []resource.Spec
	for _, d := range downloads {
		specs = append(specs, d, &resource.Symlink{Path: "/opt/bin/" + d.Component, Target: d.Path(d.Component)})
	}
	return planOf(specs...)
}

// A component is downloaded before anything else is done, once. Its origin is reported then and later.
func TestDownload(t *testing.T) {
	m := newMemory()
	kubelet := component("kubelet", "1.30.1")
	p := brings(kubelet)
	report := applied(t, m, p)
	if m.calls[0].op != "download" {
		t.Errorf("the first of all calls is %s", m.calls[0])
	}
	const origin = "from https://example/kubelet-1.30.1.tar.gz, 7 bytes, sha256 0000000000000000000000000000000000000000000000000000000000000000: nothing says which it had to be"
	want := []apply.Change{{ID: "Download:kubelet", Action: apply.Downloaded}, {ID: "Symlink:/opt/bin/kubelet", Action: apply.Created}}
	if !slices.Equal(report.Changes, want) || detail(report) != origin {
		t.Errorf("got %v, %q", report.Changes, detail(report))
	}
	m.calls = nil
	report = applied(t, m, p)
	if len(report.Changes) > 0 || len(m.changed()) > 0 || detail(report) != "was there: "+origin {
		t.Errorf("again: %v, %v, %q", report.Changes, m.changed(), detail(report))
	}
	// Another version's store stays for a rollback, which then needs no server.
	m.stale = p.Resources
	applied(t, m, brings(component("kubelet", "1.30.2")))
	m.calls = nil
	applied(t, m, p)
	if slices.ContainsFunc(m.calls, func(c call) bool { return c.op == "download" }) {
		t.Error("the way back has brought the component again")
	}
}

func detail(report *apply.Report) string {
	i := slices.IndexFunc(report.Steps, func(s apply.Step) bool { return s.Name == "Download:kubelet" })
	if i < 0 {
		return ""
	}
	return report.Steps[i].Detail
}

// If a component cannot be downloaded, nothing has changed, all others are tried, and each failure has its code.
func TestDownloadFails(t *testing.T) {
	m := newMemory()
	cni, kubelet := component("azure-cni", "1"), component("kubelet", "1.30.1")
	kubelet.ExitCodes = map[resource.Cause]int{resource.CauseUnpack: 204}
	p := brings(cni, component("runc", "1"), kubelet)
	for i := range p.Resources {
		p.Resources[i].ExitCode = 31
	}
	var tried []string
	err := interrupt(m, p, func(_ int, c call) error {
		if c.op == "download" {
			tried = append(tried, c.name)
		}
		switch c {
		case call{"download", "azure-cni"}:
			return io.ErrUnexpectedEOF
		case call{"download", "kubelet"}:
			return &apply.CheckError{Cause: resource.CauseUnpack, Endpoint: "https://example", Err: io.ErrUnexpectedEOF}
		}
		return nil
	})
	var got []string
	for _, leaf := range leaves(err) {
		var failed *apply.Error
		if errors.As(leaf, &failed) {
			got = append(got, fmt.Sprint(failed.Resource, " ", failed.ExitCode))
		}
	}
	if want := []string{"Download:azure-cni 31", "Download:kubelet 204"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if want := []string{"azure-cni", "kubelet", "runc"}; !slices.Equal(tried, want) {
		t.Errorf("tried %v, want %v", tried, want)
	}
	for name := range m.files {
		if !strings.HasPrefix(name, "/opt/slipway") && m.files[name].Kind != apply.Directory {
			t.Errorf("%s is there", name)
		}
	}
}

// If another version was downloaded before, the component's copies are replaced. Another program's file stays.
func TestCopyOfAnotherStore(t *testing.T) {
	of := func(version string) resource.Plan {
		d := component("azure-cni", version)
		return planOf(d, &resource.Copy{Path: "/opt/cni/bin/azure-vnet", Source: d.Path("azure-cni")},
			&resource.Copy{Path: "/opt/cni/bin/telemetry", Source: d.Path("telemetry"), Optional: true})
	}
	m := newMemory()
	applied(t, m, of("1"))
	applied(t, m, of("2"))
	if got := string(m.files["/opt/cni/bin/azure-vnet"].content); got != "azure-cni 2" {
		t.Errorf("got %q", got)
	}
	m.files["/opt/cni/bin/azure-vnet"] = fileEntry(&resource.File{Mode: 0o755, Content: []byte("a pod's")})
	applied(t, m, of("1"))
	if got := string(m.files["/opt/cni/bin/azure-vnet"].content); got != "a pod's" {
		t.Errorf("another program's file is replaced: %q", got)
	}
	if m.files["/opt/cni/bin/telemetry"].Kind != apply.Absent {
		t.Error("there is a copy of nothing")
	}
}

// A component is not downloaded if another program's file is at each of its copies' paths. It is downloaded as soon as
// one of those files is gone.
func TestDownloadInVain(t *testing.T) {
	d := component("azure-cni", "1")
	p := planOf(d, &resource.Copy{Path: "/opt/cni/bin/azure-vnet", Source: d.Path("azure-cni")},
		&resource.Copy{Path: "/opt/cni/bin/telemetry", Source: d.Path("telemetry"), Optional: true})
	m := newMemory()
	pods := fileEntry(&resource.File{Mode: 0o755, Content: []byte("a pod's")})
	m.files["/opt/cni/bin/azure-vnet"] = pods
	for range 2 {
		if report := applied(t, m, p); slices.ContainsFunc(m.calls, func(c call) bool { return c.op == "download" }) || len(report.Changes) > 0 {
			t.Fatalf("it was brought: %v", report.Changes)
		}
	}
	delete(m.files, "/opt/cni/bin/azure-vnet")
	applied(t, m, p)
	if got := string(m.files["/opt/cni/bin/azure-vnet"].content); got != "azure-cni 1" {
		t.Errorf("got %q", got)
	}
	m.calls = nil
	m.files["/opt/cni/bin/azure-vnet"] = pods
	if report := applied(t, m, p); len(report.Changes) > 0 || detail(report) != "" {
		t.Errorf("%v", report.Changes)
	}
	// An unneeded copy does not prevent the download of a link's target.
	kubelet := component("kubelet", "1")
	m.files["/opt/bin/kubectl"] = pods
	applied(t, m, planOf(kubelet, &resource.Symlink{Path: "/opt/bin/kubelet", Target: kubelet.Path("kubelet")},
		&resource.Copy{Path: "/opt/bin/kubectl", Source: kubelet.Path("kubectl"), Optional: true}))
	if !slices.Contains(m.calls, call{"download", "kubelet"}) {
		t.Error("the kubelet was not brought")
	}
}

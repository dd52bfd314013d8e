package facts

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"net/netip"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/distro"
)

// machine is a machine of files, binaries and addresses.
type machine struct {
	files      map[string]string
	links      map[string]string
	binaries   map[string]*debug.BuildInfo
	addresses  []string
	interfaces []Interface
	broken     bool // nothing can be read
	reads      *int // counts the reads, if not nil
}

func (m machine) count() {
	if m.reads != nil {
		*m.reads++
	}
}

var errBroken = errors.New("broken")

func (m machine) ReadFile(path string, limit int64) ([]byte, error) {
	m.count()
	content, ok := m.files[path]
	size := len(content)
	if strings.HasPrefix(path, "/sys/") {
		size = 64 << 10 // as sysfs reports, whatever the content
	}
	switch {
	case m.broken || ok && int64(size) > limit:
		return nil, errBroken
	case !ok:
		return nil, fs.ErrNotExist
	}
	return []byte(content), nil
}

func (m machine) ReadDir(path string) ([]string, error) {
	m.count()
	var names []string
	for _, file := range slices.Concat(slices.Collect(maps.Keys(m.files)), slices.Collect(maps.Keys(m.binaries))) {
		if rest, ok := strings.CutPrefix(file, path+"/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			names = append(names, name)
		}
	}
	if names == nil {
		return nil, fs.ErrNotExist
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (m machine) Exists(path string) bool {
	m.count()
	for file := range m.files {
		if !m.broken && (file == path || strings.HasPrefix(file, path+"/")) {
			return true
		}
	}
	return false
}

func (m machine) Link(path string) string {
	m.count()
	return m.links[path]
}

func (m machine) Interfaces() ([]Interface, error) {
	m.count()
	if m.broken {
		return nil, errBroken
	}
	return m.interfaces, nil
}

func (m machine) BuildInfo(path string) (*debug.BuildInfo, error) {
	m.count()
	if info := m.binaries[path]; info != nil && !m.broken {
		return info, nil
	}
	return nil, fs.ErrNotExist
}

func (m machine) Addresses() ([]netip.Addr, error) {
	m.count()
	if m.broken {
		return nil, errBroken
	}
	var list []netip.Addr
	for _, a := range m.addresses {
		list = append(list, netip.MustParseAddr(a))
	}
	return list, nil
}

const containerdPath = "github.com/containerd/containerd/v2/cmd/containerd"

func built(path, version string) *debug.BuildInfo {
	return &debug.BuildInfo{Path: path, Main: debug.Module{Version: version}}
}

// On a machine without any readable file, only the agent's build target is known.
func TestGatherNothing(t *testing.T) {
	for m, manifest := range map[*machine]string{{}: "", {broken: true, addresses: []string{"10.0.0.1"}}: `,"manifestError":"broken"`} {
		got, err := json.Marshal(Gather(*m))
		if want := `{"os":{},"architecture":"` + runtime.GOARCH + `"` + manifest + `}`; err != nil || string(got) != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestMemory(t *testing.T) {
	for content, want := range map[string]int64{
		"MemTotal: 1024 kB\n":                1 << 20,
		"MemFree: 1 kB\nMemTotal:\t2 kB":     2048,
		"MemTotal: 0 kB\n":                   0,
		"":                                   0,
		"MemTotal:\n":                        0,
		"MemTotal: lots kB\n":                0,
		"MemTotal: -5 kB\n":                  0,
		"MemTotal: 9223372036854775807 kB\n": 0,
		"MemTotal: 99999999999999999999999999999 kB\n":    0,
		"MemTotalX: 5 kB\n":                               0,
		"MemTotal: 9007199254740991 kB\n":                 9007199254740991 << 10,
		"MemTotal: 9007199254740992 kB\nMemTotal: 1 kB\n": 0,
	} {
		g := gatherer{machine{files: map[string]string{"/proc/meminfo": content}}}
		if got := g.memory(); got != want {
			t.Errorf("%q: got %d, want %d", content, got, want)
		}
	}
}

func TestNodeIPs(t *testing.T) {
	for _, c := range []struct{ addresses, want string }{
		{"", ""},
		{"10.0.0.1", "10.0.0.1"},
		{"10.0.0.1 10.0.0.2", "10.0.0.1"},
		{"fd00::1 10.0.0.1", "10.0.0.1 fd00::1"},
		{"fd00::1", "fd00::1"},
		{"2001:db8::2 2001:db8::1", "2001:db8::2"},
		{"169.254.1.1 fe80::1 10.0.0.1", "10.0.0.1"},
		{"127.0.0.1 ::1", ""},
		{"::ffff:10.0.0.1 10.0.0.2", "10.0.0.1"},
	} {
		g := gatherer{machine{addresses: strings.Fields(c.addresses)}}
		if got := strings.Join(NodeIPs(g), " "); got != c.want {
			t.Errorf("%q: got %q, want %q", c.addresses, got, c.want)
		}
	}
}

// A manifest that cannot be used is a fact: the plan reports it.
func TestManifestError(t *testing.T) {
	for content, want := range map[string]string{
		`{"apiVersion":"slipway.dev/v1","kind":"ComponentManifest"}`: "",
		`{"apiVersion":"slipway.dev/v2","kind":"ComponentManifest"}`: `component manifest is "slipway.dev/v2" "ComponentManifest", not "slipway.dev/v1" "ComponentManifest"`,
		`{"apiVersion":"slipway.dev/v1","kind":"Compo`:               "component manifest: unexpected end of JSON input",
		"{\"kind\": \"\x1b[31m" + strings.Repeat("x", 4096) + "\"}":  "component manifest: invalid character '\\x1b' in string literal",
		`{"kind": "é` + strings.Repeat("x", 4096) + `"}`:             `component manifest is "" "?` + strings.Repeat("x", 39) + `", not "slipway.dev/v1" "ComponentManifest"`,
		strings.Repeat(" ", components.MaxBytes+1):                   "broken", // as the host reports it
	} {
		got := Gather(machine{files: map[string]string{components.Path: content}}).ManifestError
		if got != want {
			t.Errorf("%.60q: got %q, want %q", content, got, want)
		}
	}
}

// found are the components of the image's manifest, and those that are looked for.
func (g gatherer) found(platform string, usual *distro.Programs) []components.Component {
	listed, _ := g.manifest()
	return g.components(listed, platform, usual)
}

// The image's manifest is trusted. Components that it does not list are looked for.
func TestComponents(t *testing.T) {
	manifest := func(list string) map[string]string {
		return map[string]string{
			components.Path:           `{"apiVersion":"slipway.dev/v1","kind":"ComponentManifest","components":[` + list + `]}`,
			"/opt/bin/kubelet-1.34.2": "",
		}
	}
	found := components.Component{Name: "kubelet", Version: "1.34.2", Path: "/opt/bin/kubelet-1.34.2"}
	client := components.Component{Name: "aks-secure-tls-bootstrap-client", Path: "/opt/bin/aks-secure-tls-bootstrap-client"}
	cache := components.Component{Name: "coredns", Path: "/opt/azure/containers/localdns/binary/coredns"}
	usr := components.Component{Name: "containerd", Version: "2.1.0", Path: "/usr/bin/containerd"}
	both := map[string]*debug.BuildInfo{"/usr/bin/containerd": built(containerdPath, "v2.1.0"), "/usr/local/bin/containerd": built(containerdPath, "v1.0.0")}
	for _, c := range []struct {
		name     string
		files    map[string]string
		binaries map[string]*debug.BuildInfo
		want     []components.Component
	}{
		{"none", nil, nil, nil},
		{"no manifest", map[string]string{found.Path: ""}, both, []components.Component{found, usr}},
		{"empty manifest", manifest(""), both, []components.Component{found, usr}},
		{"damaged manifest", map[string]string{components.Path: "{", found.Path: ""}, both, []components.Component{found, usr}},
		{"listed", manifest(`{"name":"containerd","version":"9","path":"/x"},{"name":"kubelet","version":"1.34.2","path":"/y"}`), both,
			[]components.Component{{Name: "containerd", Version: "9", Path: "/x"}, {Name: "kubelet", Version: "1.34.2", Path: "/y"}}},
		{"another version is listed", manifest(`{"name":"kubelet","version":"1.33.0","path":"/y"}`), both,
			[]components.Component{{Name: "kubelet", Version: "1.33.0", Path: "/y"}, found, usr}},
		{"programs without a version", map[string]string{client.Path: "", "/opt/bin/other": ""}, both, []components.Component{client, usr}},
		{"CoreDNS", map[string]string{cache.Path: ""}, both, []components.Component{cache, usr}},
		{"such a program is listed", manifest(`{"name":"aks-secure-tls-bootstrap-client","version":"1","path":"/z"}`), nil,
			[]components.Component{{Name: client.Name, Version: "1", Path: "/z"}, found}},
		{"second place", nil, map[string]*debug.BuildInfo{"/usr/local/bin/containerd": built(containerdPath, "v1.0.0")},
			[]components.Component{{Name: "containerd", Version: "1.0.0", Path: "/usr/local/bin/containerd"}}},
		{"a version that the image says", map[string]string{"/etc/eks/kubelet-version.txt": "v1.30.4-eks-1fbb135\n"},
			map[string]*debug.BuildInfo{"/usr/bin/kubelet": built("k8s.io/kubernetes/cmd/kubelet", "(devel)")},
			[]components.Component{{Name: "kubelet", Version: "1.30.4-eks-1fbb135", Path: "/usr/bin/kubelet"}}},
		{"a version and no program", map[string]string{"/etc/eks/kubelet-version.txt": "v1.30.4-eks-1fbb135\n"}, nil, nil},
	} {
		g := gatherer{machine{files: c.files, binaries: c.binaries}}
		if got := g.found("", usual(OS{})); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// usual are the paths of a distribution's programs.
func usual(os OS) *distro.Programs {
	d, _ := distro.Of(os)
	return &d.Programs
}

// Images of Amazon Linux and of SUSE have programs at other paths than Debian's.
func TestUsualPlacesOfADistribution(t *testing.T) {
	const ecr = "/etc/eks/image-credential-provider/ecr-credential-provider"
	amazon, suse := OS{ID: "amzn", VersionID: "2023"}, OS{ID: "sles", VersionID: "15.6", IDLike: "suse"}
	for _, c := range []struct {
		os                            OS
		containerd, kubelet           string
		there                         []string
		runc, runsContainerd, provide string
	}{
		{OS{ID: "debian"}, "/usr/bin/containerd", "/usr/bin/kubelet", []string{"/usr/sbin/runc", ecr}, "/usr/sbin/runc", "/usr/bin/containerd", ecr},
		{OS{ID: "azurelinux", VersionID: "3.0"}, "/usr/bin/containerd", "/usr/bin/kubelet", []string{"/usr/bin/runc", ecr}, "/usr/bin/runc", "/usr/bin/containerd", ""},
		{OS{ID: "debian"}, "/usr/bin/containerd", "/usr/bin/kubelet", []string{"/usr/sbin/runc", "/usr/bin/runc"}, "/usr/bin/runc", "/usr/bin/containerd", ""},
		{OS{ID: "debian"}, "/usr/sbin/containerd", "/usr/bin/kubelet", []string{"/usr/bin/runc"}, "", "", ""},
		{amazon, "/usr/bin/containerd", "/usr/bin/kubelet", []string{"/usr/sbin/runc", "/usr/bin/runc", ecr}, "/usr/sbin/runc", "/usr/bin/containerd", ecr},
		{amazon, "/usr/bin/containerd", "/other", []string{ecr}, "", "/usr/bin/containerd", ""},
		{suse, "/usr/sbin/containerd", "/usr/bin/kubelet", []string{"/usr/sbin/runc"}, "/usr/sbin/runc", "/usr/sbin/containerd", ""},
		{OS{ID: "arch"}, "/usr/local/bin/containerd", "/opt/bin/kubelet", []string{"/usr/local/sbin/runc"}, "/usr/local/sbin/runc", "/usr/local/bin/containerd", ""},
	} {
		m := machine{files: make(map[string]string), binaries: map[string]*debug.BuildInfo{
			c.containerd: built(containerdPath, "v2.1.4"), c.kubelet: built("k8s.io/kubernetes/cmd/kubelet", "(devel)"),
		}}
		for _, path := range c.there {
			m.files[path] = ""
		}
		at := make(map[string]string)
		for _, found := range (gatherer{m}).found("", usual(c.os)) {
			at[found.Name] = found.Path
		}
		if at["runc"] != c.runc || at["containerd"] != c.runsContainerd || at["ecr-credential-provider"] != c.provide {
			t.Errorf("%+v with %s and %v: got %v", c.os, c.containerd, c.there, at)
		}
	}
}

// A program for one cloud is not looked for in another.
func TestProgramsOfACloud(t *testing.T) {
	for _, c := range []struct {
		cloud string
		found bool
	}{{EC2, true}, {"", true}, {Azure, false}} {
		for _, name := range []string{"aws", "aws-iam-authenticator"} {
			want := components.Component{Name: name, Path: "/usr/bin/" + name}
			g := gatherer{machine{files: map[string]string{want.Path: ""}}}
			if found := slices.Contains(g.found(c.cloud, usual(OS{})), want); found != c.found {
				t.Errorf("%s in the cloud %q is found: %t", name, c.cloud, found)
			}
			local := components.Component{Name: name, Path: "/usr/local/bin/" + name}
			g = gatherer{machine{files: map[string]string{local.Path: ""}}}
			if found := slices.Contains(g.found(c.cloud, usual(OS{})), local); found != c.found {
				t.Errorf("%s in the cloud %q is found below /usr/local: %t", name, c.cloud, found)
			}
		}
	}
}

// The unit of a snapshotter on Amazon's images is looked for if its program exists.
func TestUnitOfSnapshotter(t *testing.T) {
	for _, c := range []struct {
		program, vendor, unit string
		want                  []string
	}{
		{"/usr/bin/soci-snapshotter-grpc", "Amazon EC2\n", "/etc/systemd/system/soci-snapshotter.service", []string{"/etc/systemd/system/soci-snapshotter.service"}},
		{"/usr/local/bin/soci-snapshotter-grpc", "Amazon EC2\n", "/usr/lib/systemd/system/soci-snapshotter.service", []string{"/usr/lib/systemd/system/soci-snapshotter.service"}},
		{"/usr/bin/soci-snapshotter-grpc", "Amazon EC2\n", "/usr/lib/systemd/system/other.service", nil},
		{"/usr/bin/other", "Amazon EC2\n", "/usr/lib/systemd/system/soci-snapshotter.service", nil},
		{"/usr/bin/soci-snapshotter-grpc", "Google\n", "/usr/lib/systemd/system/soci-snapshotter.service", nil},
	} {
		m := machine{files: map[string]string{"/sys/class/dmi/id/sys_vendor": c.vendor, "/sys/class/dmi/id/product_name": "Google Compute Engine\n", c.program: "", c.unit: "[Service]\n"}}
		if got := Gather(m).Units; !slices.Equal(got, c.want) {
			t.Errorf("%s, %s: %q, want %q", c.program, c.unit, got, c.want)
		}
	}
}

// If the kubelet is a snap, its version comes from the snap's record. Its program is searched, and may have moved.
func TestKubeletOfASnap(t *testing.T) {
	const dir = "/snap/kubelet-eks/current"
	for _, c := range []struct {
		record, program, cloud string
		want                   []components.Component
	}{
		{"name: kubelet-eks\nversion: 1.34.2\nsummary: x\n", dir + "/kubelet", EC2, []components.Component{{Name: "kubelet", Version: "1.34.2", Path: dir + "/kubelet"}}},
		{"name: kubelet-eks\r\nversion: 'v1.34.2'\r\n", dir + "/bin/kubelet", EC2, []components.Component{{Name: "kubelet", Version: "1.34.2"}}},
		{"version: \"1.34.2-eks-1\"", "", EC2, []components.Component{{Name: "kubelet", Version: "1.34.2-eks-1"}}},
		{"version: 1.34.2\n", dir + "/kubelet", Azure, nil},
		{"version: 1.34.2\n", dir + "/kubelet", "", nil},
		{"name: kubelet-eks\napps:\n  version: 1\n", dir + "/kubelet", EC2, nil},
		{"version:\n", dir + "/kubelet", EC2, nil},
		{"", dir + "/kubelet", EC2, nil},
	} {
		g := gatherer{machine{files: map[string]string{dir + "/meta/snap.yaml": c.record, c.program: ""}}}
		if got := g.found(c.cloud, usual(OS{})); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %v, want %v", c.record, got, c.want)
		}
	}
	// Canonical's image has a credential provider for it.
	provider := components.Component{Name: "ecr-credential-provider", Path: "/etc/eks/ecr-credential-provider"}
	image := gatherer{machine{files: map[string]string{dir + "/meta/snap.yaml": "version: 1.34.2\n", provider.Path: ""}}}
	if got := image.found(EC2, usual(OS{ID: "ubuntu", VersionID: "24.04"})); !slices.Contains(got, provider) {
		t.Errorf("got %v, want %v", got, provider)
	}
	// A kubelet that is not from a snap is the machine's kubelet.
	usr := components.Component{Name: "kubelet", Version: "1.33.1", Path: "/usr/bin/kubelet"}
	g := gatherer{machine{files: map[string]string{dir + "/meta/snap.yaml": "version: 1.34.2\n"}, binaries: map[string]*debug.BuildInfo{usr.Path: built("k8s.io/kubernetes/cmd/kubelet", "v1.33.1")}}}
	if got := g.found(EC2, usual(OS{})); !slices.Equal(got, []components.Component{usr}) {
		t.Errorf("got %v, want %v", got, usr)
	}
}

func TestGoVersion(t *testing.T) {
	const v1 = "github.com/containerd/containerd/cmd/containerd"
	for _, c := range []struct{ path, version, want string }{
		{containerdPath, "v2.2.4", "2.2.4"},
		{containerdPath, "v2.2.4+dirty", "2.2.4+dirty"},
		{v1, "v1.7.27", "1.7.27"},
		{containerdPath, "(devel)", "2"},
		{containerdPath, "", "2"},
		{containerdPath, "v0.0.0-20250101000000-abcdef123456", "2"},
		{v1, "(devel)", "1"},
		{"", "", "1"},
		{"example.org/vendor/x", "", "1"},
		{"example.org/v10/x", "unknown", "10"},
	} {
		if got := goVersion(built(c.path, c.version)); got != c.want {
			t.Errorf("%s %s: got %s, want %s", c.path, c.version, got, c.want)
		}
	}
}

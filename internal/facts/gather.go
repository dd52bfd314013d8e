package facts

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"net/netip"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/distro"
	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/profile"
)

// Machine is what facts are gathered from.
type Machine interface {
	// ReadFile reads a regular file of at most limit bytes.
	ReadFile(path string, limit int64) ([]byte, error)
	// ReadDir lists the names in a directory, sorted.
	ReadDir(path string) ([]string, error)
	// Exists reports whether a path exists. It does not follow a last symbolic link.
	Exists(path string) bool
	// Link returns a symbolic link's target, or "" if the path is not a link.
	Link(path string) string
	// BuildInfo reads what the Go tool chain recorded in a binary.
	BuildInfo(path string) (*debug.BuildInfo, error)
	// Addresses returns the addresses of the interface that has the default route.
	Addresses() ([]netip.Addr, error)
	// Interfaces returns the network interfaces without loopback, in the order in which the kernel created them. It may
	// leave out those after the first MaxInterfaces.
	Interfaces() ([]Interface, error)
}

// Gather gathers the facts of the machine.
func Gather(m Machine) Facts {
	g := gatherer{m}
	f := Facts{
		OS:            g.os(),
		Architecture:  runtime.GOARCH,
		Kernel:        g.line("/proc/sys/kernel/osrelease"),
		Hostname:      g.line("/proc/sys/kernel/hostname"),
		MemoryBytes:   g.memory(),
		CgroupVersion: g.cgroupVersion(),
		MachineID:     g.machineID(),
		BootID:        g.bootID(),
		DMI:           g.dmi(),
		Disks:         g.disks(),
		NodeIPs:       NodeIPs(m),
		Interfaces:    g.interfaces(),
		Routes:        g.routes(),
		CloudInit:     g.cloudInit(),
		GuestAgent:    g.guestAgent(),
		CNI:           g.cni(),
	}
	f.Platform = Platform(f.DMI)
	usual, _ := distro.Of(f.OS)
	listed, err := g.manifest()
	if err != nil {
		f.ManifestError = shown(err.Error())
	}
	f.Components = g.components(listed, f.Platform, &usual.Programs)
	if f.Platform == Azure { // only there are tags, which the watcher follows, AKS's scripts, and interfaces that the cloud names
		units := g.units()
		f.Watcher, f.Units, f.DNSExporter = units.at(WatcherUnit), units.ofImages(), units.at(DNSExporterUnit) != ""
		f.DeniedModules, f.PrebakedDriver = g.deniedModules(), g.prebakedDriver()
		g.markTemporary(f.Disks)
		f.Networkd = g.Exists(networkdLink)
		f.Packages = g.packages()
	} else if found := (inventory{f.Components}); found.has(sociSnapshotter, "") {
		if at := g.units().at(SOCIUnit); at != "" {
			f.Units = []string{at}
		}
	}
	f.NVIDIADevice = f.Platform == EC2 && g.hasVendor(nvidiaVendor)
	if f.CNI == nil && len(f.Components) > 0 {
		f.CNI = new(CNI) // the machine was checked and has no such directories
	}
	if f.MemoryBytes > 0 { // a directory has no processors
		f.CPUs, f.NoBash, f.Resolved = runtime.NumCPU(), !m.Exists(Bash), new(g.resolved())
		f.NoUpdater = len(usual.Updates.On) > 0 && !m.Exists(VendorUnits+"/"+usual.Updates.On[0].Timer)
	}
	return f
}

// PlatformOf returns the machine's cloud, as Gather does.
func PlatformOf(m Machine) string { return Platform(gatherer{m}.dmi()) }

type gatherer struct{ Machine }

// maxFile limits each file that is read.
const maxFile = 1 << 20

func (g gatherer) read(path string) []byte {
	data, err := g.ReadFile(path, maxFile)
	if err != nil {
		return nil
	}
	return data
}

// maxPage is the largest page of a kernel (arm64 has pages of 64 KiB). Every file of sysfs has the reported size of a
// page (fs/sysfs/dir.c, sysfs_add_file_mode_ns), so a smaller limit is not possible.
const maxPage = 64 << 10

// attribute reads a file of sysfs that holds at most limit bytes, without the space around them.
func (g gatherer) attribute(path string, limit int) string {
	content, err := g.ReadFile(path, maxPage)
	if err != nil || len(content) > limit {
		return ""
	}
	return strings.TrimSpace(string(content))
}

func (g gatherer) line(path string) string {
	return strings.TrimSpace(string(g.read(path)))
}

func (g gatherer) os() OS {
	for _, path := range []string{"/etc/os-release", "/usr/lib/os-release"} {
		if data := g.read(path); data != nil {
			return parseOSRelease(data)
		}
	}
	return OS{}
}

func (g gatherer) memory() int64 {
	for line := range bytes.Lines(g.read("/proc/meminfo")) {
		fields := strings.Fields(string(line))
		if len(fields) >= 2 && fields[0] == "MemTotal:" {
			kib, err := strconv.ParseInt(fields[1], 10, 54) // 54 bits, so that the number of bytes fits, too
			if err != nil || kib < 0 {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}

// NodeIPs returns the addresses that a node of the machine would register, as in [Facts]. They may change a moment
// later.
func NodeIPs(m Machine) []string {
	addresses, err := m.Addresses()
	if err != nil {
		return nil
	}
	return NodeIPsOf(addresses)
}

// NodeIPsOf are those of a list of addresses.
func NodeIPsOf(addresses []netip.Addr) []string {
	var v4, v6 string
	for _, a := range addresses {
		a = a.Unmap()
		switch {
		case a.IsLinkLocalUnicast() || a.IsLoopback():
		case a.Is4() && v4 == "":
			v4 = a.String()
		case a.Is6() && v6 == "":
			v6 = a.String()
		}
	}
	return slices.DeleteFunc([]string{v4, v6}, func(s string) bool { return s == "" })
}

// installed is a component that no manifest lists, and its possible path; the first existing one counts.
type installed struct {
	name  string
	paths []string
}

// stated are files in which an image records the version of such a binary (amazon-eks-ami: install-worker.sh,
// kubelet-version.txt).
var stated = map[string]string{"kubelet": "/etc/eks/kubelet-version.txt"}

// snaps are components that an image can have as a snap. The snap's version is the component's (Canonical: Ubuntu on
// AWS, EKS kubelet snap), and a kubelet's build record has no version. The program's path within the snap is not
// documented: it has a path only if it is found.
var snaps = []struct{ name, snap, program, cloud string }{
	{"kubelet", "kubelet-eks", "kubelet", EC2}, // Canonical's images for EKS
}

// versioned are directories of binaries with names that end in their version, as on AKS's images.
var versioned = []struct{ name, dir, prefix string }{
	{"kubelet", "/opt/bin", "kubelet-"},
}

// unversioned are programs in the same directories whose version does not matter.
var unversioned = []string{"aks-secure-tls-bootstrap-client"}

// programs are other programs whose version does not matter, by their paths on images; the first existing one counts. A
// program for one cloud is not looked for in another, and a program that only works with another one not without that.
var programs = []struct{ name, path, cloud, with string }{
	{"aws", "/usr/bin/aws", EC2, ""},
	{"aws", "/usr/local/bin/aws", EC2, ""}, // AWS CLI User Guide, installing; and its snap
	{"aws", "/snap/bin/aws", EC2, ""},
	{"aws-iam-authenticator", "/usr/bin/aws-iam-authenticator", EC2, ""},
	{"aws-iam-authenticator", "/usr/local/bin/aws-iam-authenticator", EC2, ""},
	{"pause", profile.PauseArchive, EC2, ""},
	{"coredns", "/opt/azure/containers/localdns/binary/coredns", "", ""},
	{"nvidia-smi", "/usr/bin/nvidia-smi", "", ""},
	{"nvidia-modprobe", "/usr/bin/nvidia-modprobe", "", "nvidia-smi"},
	{"nvidia-container-runtime", "/usr/bin/nvidia-container-runtime", "", "nvidia-smi"},
	{"containerd-shim-kata-v2", "/usr/bin/containerd-shim-kata-v2", "", ""},
	{"containerd-shim-kata-v2", "/usr/local/bin/containerd-shim-kata-v2", "", ""},
	{"containerd-shim-kata-cc-v2", "/usr/bin/containerd-shim-kata-cc-v2", "", "containerd-shim-kata-v2"},
	{"containerd-shim-kata-cc-v2", "/usr/local/bin/containerd-shim-kata-cc-v2", "", "containerd-shim-kata-v2"},
	{"kata-runtime", "/usr/bin/kata-runtime", "", "containerd-shim-kata-v2"},
	{"mkfs.erofs", "/usr/bin/mkfs.erofs", "", "containerd-shim-kata-v2"},
	{"mkfs.erofs", "/usr/sbin/mkfs.erofs", "", "containerd-shim-kata-v2"},
	{"acr-mirror-setup", "/opt/acr/tools/mirror/setup.sh", Azure, ""},
	{"acr-config", "/opt/acr/bin/acr-config", Azure, ""},
	{sociSnapshotter, "/usr/bin/" + sociSnapshotter, EC2, ""},
	{sociSnapshotter, "/usr/local/bin/" + sociSnapshotter, EC2, ""},
}

// providers are the clouds of image credential providers.
var providers = map[string]string{"acr-credential-provider": Azure, "ecr-credential-provider": EC2}

// sociSnapshotter is the program of SOCIUnit.
const sociSnapshotter = "soci-snapshotter-grpc"

// manifest reads the components in the image's manifest. An image without a manifest has no components here, and no error.
func (g gatherer) manifest() ([]components.Component, error) {
	data, err := g.ReadFile(components.Path, components.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return components.List(data)
}

// components looks for the components that the image's manifest does not list.
func (g gatherer) components(listed []components.Component, platform string, usual *distro.Programs) []components.Component {
	found := inventory{listed}
	for _, v := range versioned {
		names, _ := g.ReadDir(v.dir)
		for _, name := range names {
			version, ok := strings.CutPrefix(name, v.prefix)
			called, known := v.name, ok && version != "" && !found.has(v.name, version)
			if slices.Contains(unversioned, name) && !found.has(name, "") {
				called, version, known = name, "", true
			}
			if at := v.dir + "/" + name; known && !g.brought(at) {
				found.add(called, version, at)
			}
		}
	}
	for _, p := range programs {
		elsewhere := p.cloud != "" && platform != "" && platform != p.cloud || p.with != "" && !found.has(p.with, "")
		if !elsewhere && !found.has(p.name, "") && g.Exists(p.path) && !g.brought(p.path) {
			found.add(p.name, "", p.path)
		}
	}
	for _, b := range []installed{{"containerd", usual.Containerd}, {"kubelet", usual.Kubelet}} {
		if found.has(b.name, "") {
			continue
		}
		for _, path := range b.paths {
			if info, err := g.BuildInfo(path); err == nil && !g.brought(path) {
				version := goVersion(info)
				if at := stated[b.name]; at != "" {
					version = cmp.Or(strings.TrimPrefix(g.line(at), "v"), version)
				}
				found.add(b.name, version, path)
				break
			}
		}
	}
	for _, s := range snaps {
		dir := "/snap/" + s.snap + "/current" // snapd docs: the active revision
		if s.cloud != platform || found.has(s.name, "") {
			continue
		}
		if version := g.snapVersion(dir); version != "" {
			at := dir + "/" + s.program
			if !g.Exists(at) {
				at = ""
			}
			found.add(s.name, strings.TrimPrefix(version, "v"), at)
		}
	}
	// Distributions have these at different paths, and their versions do not matter.
	for _, p := range []installed{{"containerd", usual.Runc}, {"kubelet", usual.Credentials}} {
		at := -1
		if found.has(p.name, "") { // the program that runs it
			at = slices.IndexFunc(p.paths, func(at string) bool {
				cloud := providers[path.Base(at)]
				return (cloud == "" || platform == "" || platform == cloud) && g.Exists(at) && !g.brought(at)
			})
		}
		if at >= 0 && !found.has(path.Base(p.paths[at]), "") {
			found.add(path.Base(p.paths[at]), "", p.paths[at])
		}
	}
	return found.all
}

// brought reports whether a program is Slipway's link to a downloaded program: the image does not have that.
func (g gatherer) brought(path string) bool {
	return strings.HasPrefix(g.Link(path), place.Downloads+"/")
}

// snapVersion reads a snap's version from the record in its directory (snapcraft docs, the snap format:
// meta/snap.yaml).
func (g gatherer) snapVersion(dir string) string {
	for line := range strings.Lines(string(g.read(dir + "/meta/snap.yaml"))) {
		if version, ok := strings.CutPrefix(line, "version:"); ok {
			return strings.Trim(version, " \r\n'\"")
		}
	}
	return ""
}

// inventory are the components that have been found. Its methods are not copied into their callers, which would take 4 KB of the agent.
type inventory struct{ all []components.Component }

//go:noinline
func (f *inventory) add(name, version, path string) {
	f.all = append(f.all, components.Component{Name: name, Version: version, Path: path})
}

// has reports whether there is a component with a name, in a version or, if that is empty, in any.
//
//go:noinline
func (f *inventory) has(name, version string) bool {
	return slices.ContainsFunc(f.all, func(c components.Component) bool {
		return c.Name == name && (version == "" || c.Version == version)
	})
}

// goVersion returns a Go program's version from its build record: the main module's if the release was built as a
// module, otherwise only the main version from the main package's path
// ("github.com/containerd/containerd/v2/cmd/containerd").
func goVersion(info *debug.BuildInfo) string {
	// A commit between two releases also has a version, which is not a release's (go.dev/ref/mod, pseudo-versions).
	if v := info.Main.Version; strings.HasPrefix(v, "v") && !strings.HasPrefix(v, "v0.0.0-") && !strings.Contains(v, "-0.") {
		return strings.TrimPrefix(v, "v")
	}
	for element := range strings.SplitSeq(info.Path, "/") {
		if major, ok := strings.CutPrefix(element, "v"); ok {
			if _, err := strconv.Atoi(major); err == nil {
				return major
			}
		}
	}
	return "1"
}

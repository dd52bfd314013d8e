package cse

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/containerdapi"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/runtime"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/toml"
	"github.com/slipway-dev/slipway/internal/versions"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// kataPlugins allow Kata's image files to be mounted in the guest (AKS node contract, runtimes: is_kata).
const kataPlugins = `[plugins."io.containerd.snapshotter.v1.erofs"]
  default_size = "10G"
  enable_fsverity = false
  ovl_mount_options = []

[plugins."io.containerd.service.v1.diff-service"]
  default = ["erofs", "walking"]

[plugins."io.containerd.differ.v1.erofs"]
  mkfs_options = ["-T0", "--mkfs-time", "--sort=none"]
  enable_tar_index = false
`

// kataCLI is a Kata runtime that only containerd 1.x has.
const kataCLI = `[plugins."` + concern.CRI1 + `".containerd.runtimes.katacli]
  runtime_type = "io.containerd.runc.v1"
[plugins."` + concern.CRI1 + `".containerd.runtimes.katacli.options]
  NoPivotRoot = false
  NoNewKeyring = false
  ShimCgroup = ""
  IoUid = 0
  IoGid = 0
  BinaryName = "/usr/bin/kata-runtime"
  Root = ""
  CriuPath = ""
  SystemdCgroup = false
`

// containerdText is containerd's configuration in AKS's own layout (AKS node contract, containerd configuration rules).
type containerdText struct {
	strings.Builder
	view *view
	// second is true for containerd 2. noGPU selects the variant for a machine without a graphics processor.
	second, noGPU bool
}

// containerdConfig is containerd's configuration as the scripts write it, with the contract's own merged over it.
func (v *view) containerdConfig(noGPU bool) string {
	t := &containerdText{view: v, second: v.containerdIsSecond(), noGPU: noGPU}
	t.write()
	text := t.String()
	if over := v.written.Runtime.Containerd.Config; !over.IsZero() {
		installed := "1"
		if t.second {
			installed = v.facts.Version("containerd")
		}
		if merged := mergedTOML(text, over.Reveal(), containerdapi.Of(installed)); merged != "" {
			return merged
		}
	}
	return text
}

// mergedTOML merges a document, as containerd's releases read it, over another one. It returns "" if that is impossible, which the
// planner reports.
func mergedTOML(base, over string, releases containerdapi.Releases) string {
	below, err := toml.Parse(base)
	if err != nil {
		return ""
	}
	above, err := toml.Parse(over)
	if err != nil || below.Merge(releases.Translate(above)) != nil {
		return ""
	}
	return string(below.Bytes())
}

// containerdIsSecond reports whether the image's containerd is known to be version 2 or later.
func (v *view) containerdIsSecond() bool {
	has, ok := versions.Parse(v.facts.Version("containerd"))
	return ok && has.Major >= 2
}

func (t *containerdText) lines(lines ...string) {
	t.WriteString(strings.Join(lines, "\n") + "\n")
}

func quoted(s string) string { return string(toml.AppendValue(nil, s)) }

func (t *containerdText) write() {
	r := t.view.written.Runtime
	t.lines("version = 2", "oom_score = -999")
	if r.Containerd.DataDir != "" {
		t.lines("root = " + quoted(r.Containerd.DataDir))
	}
	if t.kata() {
		t.WriteString(kataPlugins)
	}
	if t.second {
		t.images()
		t.registry(concern.CRI2Images)
		t.lines(`[plugins."` + concern.CRI2Runtime + `".containerd]`)
		t.runtimes(concern.CRI2Runtime)
		t.cni(concern.CRI2Runtime)
	} else {
		t.lines(`[plugins."`+concern.CRI1+`"]`, "  sandbox_image = "+quoted(r.SandboxImage))
		if !t.noGPU {
			t.lines("  enable_cdi = true")
		}
		t.lines(`  [plugins."` + concern.CRI1 + `".containerd]`)
		t.snapshotter("    ")
		t.runtimes(concern.CRI1)
		t.cni(concern.CRI1)
		t.registry(concern.CRI1)
	}
	if address := r.Containerd.MetricsAddress; address != "" {
		t.lines("[metrics]", "  address = "+quoted(address))
	}
	switch {
	case t.streaming() && t.kata():
		t.proxies(overlaybd, tardev)
	case t.streaming():
		t.proxies(overlaybd)
	}
	if t.kata() {
		t.kataRuntimes()
	}
}

func (t *containerdText) kata() bool {
	return slices.Contains(t.view.written.Runtime.Sandboxes, "kata")
}

func (t *containerdText) streaming() bool { return t.view.written.Runtime.LazyPull == "overlaybd" }

// images writes containerd 2's settings of images.
func (t *containerdText) images() {
	t.lines(`[plugins."` + concern.CRI2Images + `"]`)
	t.snapshotter("  ")
	t.lines(`  [plugins."`+concern.CRI2Images+`".pinned_images]`, "    sandbox = "+quoted(t.view.written.Runtime.SandboxImage))
}

// snapshotter writes the default snapshotter. Kata's runtimes name their own, so a streaming one wins over theirs here.
func (t *containerdText) snapshotter(indent string) {
	switch {
	case t.streaming():
		t.lines(indent+`snapshotter = "overlaybd"`, indent+"disable_snapshot_annotations = false")
	case t.kata() && t.second:
		t.lines(indent + "disable_snapshot_annotations = false")
	case t.kata():
		t.lines(indent+"disable_snapshot_annotations = false", indent+`snapshotter = "overlayfs"`)
	}
}

// runtimes writes the runtime under each of its names.
func (t *containerdText) runtimes(plugin string) {
	family := profile.Named(nodeconfig.LayoutAKS)
	names, binary := runtime.Runtimes(family, family.Paths.Runc, t.view.gpu.Vendor == "nvidia" && !t.noGPU)
	t.lines("    default_runtime_name = " + quoted(names[0]))
	for i, name := range names {
		at := `    [plugins."` + plugin + `".containerd.runtimes.` + name
		t.lines(at+"]", `      runtime_type = "io.containerd.runc.v2"`, at+".options]", "      BinaryName = "+quoted(binary))
		// Only the default name has the driver (AKS node contract, containerd configuration rules).
		if i == 0 && (t.second || t.view.written.Runtime.CgroupDriver == "systemd") {
			t.lines("      SystemdCgroup = true")
		}
	}
}

// cni makes containerd write the network's configuration.
func (t *containerdText) cni(plugin string) {
	if runtime.Kubenet(t.view.written) {
		t.lines(`  [plugins."`+plugin+`".cni]`, `    bin_dir = "/opt/cni/bin"`, `    conf_dir = "/etc/cni/net.d"`,
			"    conf_template = "+quoted(concern.KubenetFile))
	}
}

// registriesSince is the minor version since which each registry has a directory.
const registriesSince = 22

// registry writes how images are pulled.
func (t *containerdText) registry(plugin string) {
	if t.view.minorReached(registriesSince) {
		t.lines(`  [plugins."`+plugin+`".registry]`, "    config_path = "+quoted(concern.RegistriesDir))
	}
	headers := t.view.written.Runtime.Containerd.RegistryHeaders
	if len(headers) > 0 {
		t.lines(`  [plugins."` + plugin + `".registry.headers]`)
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		t.lines("    " + headerName(name) + " = [" + quoted(headers[name].Reveal()) + "]")
	}
}

// headerName quotes a key only if necessary.
func headerName(name string) string {
	bare := func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	if name == "" || strings.ContainsFunc(name, bare) {
		return quoted(name)
	}
	return name
}

// The snapshotters that are separate programs, with their sockets.
var (
	overlaybd = [2]string{"overlaybd", "/run/overlaybd-snapshotter/overlaybd.sock"}
	tardev    = [2]string{"tardev", "/run/containerd/tardev-snapshotter.sock"}
)

// proxies writes external snapshotters in one table, because TOML allows each table once.
func (t *containerdText) proxies(snapshotters ...[2]string) {
	t.lines("[proxy_plugins]")
	for _, s := range snapshotters {
		t.lines("  [proxy_plugins."+s[0]+"]", `    type = "snapshot"`, "    address = "+quoted(s[1]))
	}
}

// kataRuntimes writes Kata's runtimes, below the plug-in of the others.
func (t *containerdText) kataRuntimes() {
	plugin := concern.CRI1
	if t.second {
		plugin = concern.CRI2Runtime
	}
	at := `[plugins."` + plugin + `".containerd.runtimes.`
	t.lines(at+"kata]", `  runtime_type = "io.containerd.kata.v2"`)
	if t.second {
		t.lines("  privileged_without_host_devices = true")
	}
	t.lines(`  snapshotter = "overlayfs"`)
	if t.second {
		t.lines("  "+at+"kata.options]", `    ConfigPath = "/usr/share/defaults/kata-containers/configuration.toml"`)
	} else {
		t.WriteString(kataCLI)
	}
	t.lines(at+"kata-preview]", `  runtime_type = "io.containerd.kata.v2"`, "  privileged_without_host_devices = true",
		`  snapshotter = "erofs"`, "  "+at+"kata-preview.options]",
		`    ConfigPath = "/usr/share/defaults/kata-containers/configuration-clh-preview.toml"`)
	if !t.streaming() {
		t.proxies(tardev)
	}
	t.lines(at+"kata-cc]", `  snapshotter = "tardev"`, `  runtime_type = "io.containerd.kata-cc.v2"`,
		"  privileged_without_host_devices = true", `  pod_annotations = ["io.katacontainers.*"]`, "  "+at+"kata-cc.options]",
		`    ConfigPath = "/opt/confidential-containers/share/defaults/kata-containers/configuration-clh-snp.toml"`)
}

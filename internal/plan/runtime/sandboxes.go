package runtime

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/toml"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// sandboxRuntime is a runtime that runs each pod in a separate virtual machine.
type sandboxRuntime struct {
	// name is the handler of the RuntimeClass, program what it takes of the image.
	name, program string
	// containerd is the only main version that has it. Empty means all versions.
	containerd string
	// settings are containerd's settings in TOML. The snapshotter has the runtime's images.
	settings string
}

// kataRuntimes are Kata's (AKS: containerd.toml.gtpl, containerd_v2.toml.gtpl). Kata 1's tool is a runtime of runc's first
// type, which containerd 2 has removed (containerd: RELEASES.md, "Deprecated features").
var kataRuntimes = []sandboxRuntime{
	{"kata", kataProgram, "1", `runtime_type = "io.containerd.kata.v2"
snapshotter = "overlayfs"
`},
	{"kata", kataProgram, "2", `runtime_type = "io.containerd.kata.v2"
privileged_without_host_devices = true
snapshotter = "overlayfs"
[options]
ConfigPath = "/usr/share/defaults/kata-containers/configuration.toml"
`},
	{"katacli", "kata-runtime", "1", `runtime_type = "io.containerd.runc.v1"
[options]
BinaryName = "/usr/bin/kata-runtime"
`},
	{"kata-preview", "mkfs.erofs", "2", `runtime_type = "io.containerd.kata.v2"
privileged_without_host_devices = true
snapshotter = "erofs"
[options]
ConfigPath = "/usr/share/defaults/kata-containers/configuration-clh-preview.toml"
`},
	{"kata-cc", "containerd-shim-kata-cc-v2", "", `runtime_type = "io.containerd.kata-cc.v2"
privileged_without_host_devices = true
pod_annotations = ["io.katacontainers.*"]
snapshotter = "tardev"
[options]
ConfigPath = "/opt/confidential-containers/share/defaults/kata-containers/configuration-clh-snp.toml"
`},
}

// kataProgram starts the virtual machines (containerd: runtime v2, naming).
const kataProgram = "containerd-shim-kata-v2"

// isolates reports whether pods may request a separate virtual machine.
func isolates(in *concern.Input) bool { return slices.Contains(in.Config.Runtime.Sandboxes, "kata") }

// checkSandboxes reports sandboxes that the image cannot give.
func checkSandboxes(in *concern.Input, out *concern.Output) {
	if isolates(in) && !in.Has(kataProgram) {
		out.Fatal(nodeconfig.NotInstalled, setting.Sandboxes, "wants Kata, and the image has no %s in /usr/bin or /usr/local/bin; use an image for isolated pods", kataProgram)
	}
}

// planSandboxRuntimes writes the runtimes for isolated pods whose programs the image has, because a runtime without its program
// starts no pod. It returns the snapshotter for the images of each runtime.
func planSandboxRuntimes(in *concern.Input, doc *toml.Table) (snapshotters []any) {
	if !isolates(in) {
		return nil
	}
	for i := range kataRuntimes {
		r := &kataRuntimes[i]
		if r.containerd != "" && r.containerd != in.Schema.Major || !in.Has(r.program) {
			continue
		}
		settings := parsed(r.settings)
		if name, _ := settings.Get("snapshotter").(string); name != "" && !hasSnapshotter(in, name) {
			continue
		}
		doc.Set(settings, "plugins", in.Schema.Runtime, "containerd", "runtimes", r.name)
		snapshotter := settings.Get("snapshotter")
		snapshotters = append(snapshotters, snapshotter)
		if in.Schema.Platforms != "" {
			doc.Set(snapshotter, "plugins", in.Schema.Images, in.Schema.Platforms, r.name, "snapshotter")
		}
	}
	return snapshotters
}

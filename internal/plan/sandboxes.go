package plan

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/toml"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// SandboxesPath is the setting that names the runtimes for isolated pods.
const SandboxesPath = "$.runtime.sandboxes"

// kataSandbox is what a contract calls all of Kata's runtimes.
const kataSandbox = "kata"

// sandboxRuntime is a runtime by which pods may ask for a virtual machine of their own.
type sandboxRuntime struct {
	// name is the handler of the RuntimeClass, kind the type by which containerd finds the program, and program what of the image it takes.
	name, kind, program string
	// containerd is the one main version that has it; empty for all.
	containerd string
	// config is the program's configuration; empty for the one that it finds itself. binary is what it runs in place of runc.
	config, binary string
	// snapshotter is where it has its images; empty for where all have them.
	snapshotter string
	// noHostDevices keeps the host's devices from privileged pods.
	noHostDevices bool
	// annotations are those of pods that the program reads.
	annotations []any
}

// kataRuntimes are Kata's (AKS: containerd.toml.gtpl, containerd_v2.toml.gtpl). The tool of Kata 1 is a runtime of runc's first
// type, which containerd 2 has no more (containerd: RELEASES.md, "Deprecated features").
var kataRuntimes = []sandboxRuntime{
	{name: "kata", kind: "io.containerd.kata.v2", program: "containerd-shim-kata-v2", containerd: "1", snapshotter: overlayfs},
	{
		name: "kata", kind: "io.containerd.kata.v2", program: "containerd-shim-kata-v2", containerd: "2", snapshotter: overlayfs, noHostDevices: true,
		config: "/usr/share/defaults/kata-containers/configuration.toml",
	},
	{name: "katacli", kind: "io.containerd.runc.v1", program: "kata-runtime", containerd: "1", binary: "/usr/bin/kata-runtime"},
	{
		name: "kata-preview", kind: "io.containerd.kata.v2", program: "mkfs.erofs", containerd: "2", snapshotter: erofs, noHostDevices: true,
		config: "/usr/share/defaults/kata-containers/configuration-clh-preview.toml",
	},
	{
		name: "kata-cc", kind: "io.containerd.kata-cc.v2", program: "containerd-shim-kata-cc-v2", snapshotter: tardev, noHostDevices: true,
		config:      "/opt/confidential-containers/share/defaults/kata-containers/configuration-clh-snp.toml",
		annotations: []any{"io.katacontainers.*"},
	},
}

// sandboxes are the runtimes for isolated pods whose programs the image has: one that it has not would start no pod.
func (in *input) sandboxes() []sandboxRuntime {
	var all []sandboxRuntime
	if !slices.Contains(in.config.Runtime.Sandboxes, kataSandbox) {
		return nil
	}
	for _, r := range kataRuntimes {
		if (r.containerd == "" || r.containerd == in.schema.major) && in.has(r.program) {
			all = append(all, r)
		}
	}
	return all
}

// has reports whether the image has a program, which it is taken to have where nothing is known of it.
func (in *input) has(program string) bool { return programOf(in.facts, program) != "" }

// checkSandboxes reports sandboxes that the image cannot give.
func checkSandboxes(in *input, out *output) {
	if !slices.Contains(in.config.Runtime.Sandboxes, kataSandbox) {
		return
	}
	if program := kataRuntimes[0].program; !in.has(program) {
		out.fatal(nodeconfig.NotInstalled, SandboxesPath, "wants Kata, and the image has no %s in /usr/bin or /usr/local/bin; use an image for isolated pods", program)
	}
}

// planSandboxRuntimes writes the runtimes for isolated pods, and the images' part of each.
func planSandboxRuntimes(in *input, doc *toml.Table) {
	for _, r := range in.sandboxes() {
		t := doc.At("plugins", in.schema.runtime, "containerd", "runtimes", r.name)
		t.Set(r.kind, "runtime_type")
		if r.noHostDevices {
			t.Set(true, "privileged_without_host_devices")
		}
		if r.annotations != nil {
			t.Set(r.annotations, "pod_annotations")
		}
		if r.config != "" {
			t.Set(r.config, "options", "ConfigPath")
		}
		if r.binary != "" {
			t.Set(r.binary, "options", "BinaryName")
		}
		if r.snapshotter == "" {
			continue
		}
		t.Set(r.snapshotter, "snapshotter")
		if in.schema.platforms != "" {
			doc.At("plugins", in.schema.images, in.schema.platforms, r.name).Set(r.snapshotter, "snapshotter")
		}
	}
}

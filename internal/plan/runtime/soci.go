package runtime

import (
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// soci is the snapshotter that fetches the layers of an image in parallel, or, if the image has an index, while containers read
// them (Amazon EKS AMI: nodeadm, FastImagePull; soci-snapshotter: docs/parallel-mode.md, docs/pull-modes.md).
const (
	sociConfig  = "/etc/soci-snapshotter-grpc/config.toml"
	sociProgram = "soci-snapshotter-grpc"
)

// sociCPUs and sociMemory are what a machine has at least on which EKS's images use the snapshotter, because downloads and unpacking
// in parallel take processors and memory from pods (Amazon EKS AMI: nodeadm, FastImagePull).
const (
	sociCPUs   = 4
	sociMemory = 7 << 30
)

// sociSettings are its configuration, with the numbers of EKS's images. The kubelet asks it for images, and it passes the request
// on to containerd: so it knows the logins that the kubelet has for each.
const sociSettings = `[content_store]
type = "containerd"
[cri_keychain]
enable_keychain = true
image_service_path = "/run/containerd/containerd.sock"
[registry]
config_path = "` + concern.RegistriesDir + `"
[pull_modes.parallel_pull_unpack]
enable = true
concurrent_download_chunk_size = "16mb"
discard_unpacked_layers = true
max_concurrent_downloads = -1
max_concurrent_downloads_per_image = 20
max_concurrent_unpacks = -1
max_concurrent_unpacks_per_image = 12
`

// planSOCI configures it, and has it run before containerd, whose snapshots it then has. The service itself is the image's.
func planSOCI(in *concern.Input, out *concern.Output) {
	if !in.UsesSOCI() {
		return
	}
	if in.UnitAt(facts.SOCIUnit) != "" && !in.Has(sociProgram) {
		out.Fatal(nodeconfig.NotInstalled, setting.LazyPull, "needs %s, which the image does not have in /usr/bin or /usr/local/bin; use an image that has it", sociProgram)
	}
	if f := &in.Facts; f.CPUs > 0 && f.CPUs < sociCPUs || f.MemoryBytes > 0 && f.MemoryBytes < sociMemory {
		out.Warn(nodeconfig.Invalid, setting.LazyPull, "is for machines with at least %d processors and %d GiB of memory: on this one, pulling an image may take what pods need",
			sociCPUs, sociMemory>>30)
	}
	out.File(resource.Base, sociConfig, 0o644, parsed(sociSettings).Bytes(), "how the snapshotter gets images", facts.SOCIUnit)
	out.File(resource.Base, concern.ContainerdDropIns+"10-soci-snapshotter.conf", 0o644, unitfile.File(
		unitfile.Section("Unit"), unitfile.Set("Wants", facts.SOCIUnit), unitfile.Set("After", facts.SOCIUnit),
	), "its snapshotter runs first (Amazon EKS AMI: 10-soci-snapshotter.conf)", concern.ContainerdUnit)
}

package plan

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/toml"
)

// The snapshotters: where containerd has the file systems of containers.
const (
	overlayfs = "overlayfs"
	erofs     = "erofs"
	tardev    = "tardev"
	overlaybd = "overlaybd"
)

// proxySnapshotters are the sockets of those that are programs of their own (AKS: containerd.toml.gtpl).
var proxySnapshotters = map[string]string{
	overlaybd: "/run/overlaybd-snapshotter/overlaybd.sock",
	tardev:    "/run/containerd/tardev-snapshotter.sock",
}

// planSnapshotters writes which snapshotter there is for all containers, and what those need that are used.
func planSnapshotters(in *input, doc *toml.Table) {
	var used []string
	for _, r := range in.sandboxes() {
		used = append(used, r.snapshotter)
	}
	byDefault := doc.At(append([]string{"plugins", in.schema.images}, in.schema.snapshotters...)...)
	if in.config.Runtime.LazyPull == overlaybd {
		byDefault.Set(overlaybd, "snapshotter")
		used = append(used, overlaybd)
	}
	if len(used) == 0 {
		return
	}
	// They find an image's layers by the annotations, which containerd leaves out by default.
	byDefault.Set(false, "disable_snapshot_annotations")
	slices.Sort(used)
	for _, name := range slices.Compact(used) {
		if socket := proxySnapshotters[name]; socket != "" {
			proxy := doc.At("proxy_plugins", name)
			proxy.Set("snapshot", "type")
			proxy.Set(socket, "address")
		}
	}
	if slices.Contains(used, erofs) {
		planErofs(doc)
	}
}

// planErofs has containerd make image files that a guest mounts (AKS: containerd_v2.toml.gtpl; containerd: docs/snapshotters/erofs.md).
func planErofs(doc *toml.Table) {
	snapshotter := doc.At("plugins", "io.containerd.snapshotter.v1.erofs")
	snapshotter.Set("10G", "default_size")
	snapshotter.Set(false, "enable_fsverity")
	snapshotter.Set([]any{}, "ovl_mount_options")
	doc.Set([]any{erofs, "walking"}, "plugins", "io.containerd.service.v1.diff-service", "default")
	differ := doc.At("plugins", "io.containerd.differ.v1.erofs")
	differ.Set([]any{"-T0", "--mkfs-time", "--sort=none"}, "mkfs_options")
	differ.Set(false, "enable_tar_index")
}

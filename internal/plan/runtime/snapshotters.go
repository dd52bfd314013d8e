package runtime

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/toml"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// snapshotterSettings are containerd's settings for each snapshotter, in TOML. A proxy's snapshotter is a separate
// program; erofs has containerd make image files that a guest mounts (AKS: containerd.toml.gtpl,
// containerd_v2.toml.gtpl; Amazon EKS AMI: nodeadm, containerd's templates; containerd: docs/snapshotters/erofs.md).
var snapshotterSettings = []struct{ name, settings string }{
	{concern.Overlaybd, `[proxy_plugins.overlaybd]
type = "snapshot"
address = "/run/overlaybd-snapshotter/overlaybd.sock"
`},
	{concern.SOCI, `[proxy_plugins.soci]
type = "snapshot"
address = "` + concern.SOCISocket + `"
[proxy_plugins.soci.exports]
root = "/var/lib/soci-snapshotter-grpc"
`},
	{"tardev", `[proxy_plugins.tardev]
type = "snapshot"
address = "/run/containerd/tardev-snapshotter.sock"
`},
	{"erofs", `[plugins."io.containerd.snapshotter.v1.erofs"]
default_size = "10G"
enable_fsverity = false
ovl_mount_options = []
[plugins."io.containerd.service.v1.diff-service"]
default = ["erofs", "walking"]
[plugins."io.containerd.differ.v1.erofs"]
mkfs_options = ["-T0", "--mkfs-time", "--sort=none"]
enable_tar_index = false
`},
}

// hasSnapshotter reports whether containerd has a snapshotter, with the settings that Slipway writes for it. Before 2.1 it has none for
// erofs, and refuses each container that uses it.
func hasSnapshotter(in *concern.Input, name string) bool {
	settings := new(toml.Table)
	for _, s := range snapshotterSettings {
		if s.name == name {
			settings = parsed(s.settings)
		}
	}
	return in.Releases.HasSnapshotter(settings, name)
}

// checkHeldSandbox refuses another snapshotter than containerd's default for all images, if only the machine's image holds the image of
// pods' sandboxes: that is unpacked for the default one, its layers are gone, and no registry has it (Amazon EKS AMI:
// cache-pause-container). nodeadm imports it again for this, with FastImagePull.
func checkHeldSandbox(in *concern.Input, out *concern.Output) {
	if in.Config.Runtime.LazyPull != "" && in.SandboxArchive() != "" {
		out.Fatal(nodeconfig.NotApplied, setting.LazyPull, "is not applied by this version on nodes of this layout, which FastImagePull asks for: the snapshotter does not have the image of pods' sandboxes, "+
			"which the machine's image holds; leave it out, or name an image of a registry in runtime.sandboxImage")
	}
}

// planSnapshotters writes the snapshotter of all containers, and what those need that are used, by it or by runtimes.
func planSnapshotters(in *concern.Input, doc *toml.Table, used []any) {
	byDefault := doc.At(in.Schema.Snapshotters...)
	if lazy := in.Config.Runtime.LazyPull; lazy != "" {
		byDefault.Set(lazy, "snapshotter")
		used = append(used, lazy)
	}
	if len(used) == 0 {
		return
	}
	// They find an image's layers by the annotations, which containerd leaves out by default.
	byDefault.Set(false, "disable_snapshot_annotations")
	for _, s := range snapshotterSettings {
		if slices.Contains(used, any(s.name)) {
			doc.Merge(parsed(s.settings))
		}
	}
}

// parsed parses the settings of a row. A test parses all of them.
func parsed(text string) *toml.Table {
	t, _ := toml.Parse(text)
	return t
}

package difference

import (
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
)

// runtimeRow is the class of a change of one of the container runtime's settings.
type runtimeRow struct {
	// Setting is its name among a node's values.
	Setting string
	Class   Class
	Reason  string
	Source  string
}

// runtimeTable is sorted by class, the greatest first. What is in no row is read when containerd restarts, which containers outlive.
var runtimeTable = []runtimeRow{
	{"version", Drain, "the version of the document follows containerd's main version, which is not changed under running pods", "internal/plan: criSchemas; a caution of Slipway's own: containerd docs/ops.md means containers to outlive an upgrade"},
	{"root", Drain, "images and containers stay below the old directory", `containerd docs/ops.md, "Base Configuration"`},
	{"state", Drain, "containers that run are known below the old directory only", `containerd docs/ops.md, "Base Configuration"`},
	{"cgroup driver", Drain, "sandboxes of pods that were made by one cgroup driver cannot be made again by the other", cgroupDriver},
	{"snapshotter", Drain, "running containers keep their file systems in the old snapshotter, and images are unpacked again", "containerd docs/snapshotters/README.md"},
	{"cni.conf_template", Drain, "pods that run keep the network they were started in", `containerd docs/cri/config.md, "CNI Config Template"`},

	{"sandbox image", Restart, "pods that run keep the sandbox they have", "containerd docs/cri/config.md"},
	{"registry.config_path", Restart, "only images that are pulled afterwards come from there", "containerd docs/hosts.md"},
}

// runtime judges the changes of the container runtime's settings. A plan that makes no node has none.
func (j *judge) runtime() {
	before, after := j.before.Node.Runtime, j.after.Node.Runtime
	if len(before) == 0 || len(after) == 0 {
		return
	}
	for _, row := range runtimeTable {
		if before[row.Setting] != after[row.Setting] {
			j.add(resource.IDOf(&resource.File{Path: concern.ContainerdConfig}), Reason{row.Class, row.Setting, row.Reason, row.Source})
		}
	}
}

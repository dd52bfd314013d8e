package difference

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/toml"
)

// containerdRow says what a change of one of containerd's settings takes.
type containerdRow struct {
	// Key is how the setting's name ends, with as many tables before it as tell it from others: the
	// plug-ins' names differ between containerd's versions.
	Key string
	// Default is what the setting is where it is not set.
	Default string
	Class   Class
	Reason  string
	Source  string
}

// containerdTable is sorted by class, the greatest first. What is in no row is read when containerd
// restarts, which containers outlive.
var containerdTable = []containerdRow{
	{"version", "", Drain, "the version of the document follows containerd's main version, which is not changed under running pods", "internal/plan: criSchemas; a caution of Slipway's own: containerd docs/ops.md means containers to outlive an upgrade"},
	{"root", `"/var/lib/containerd"`, Drain, "images and containers stay below the old directory", `containerd docs/ops.md, "Base Configuration"`},
	{"state", `"/run/containerd"`, Drain, "containers that run are known below the old directory only", `containerd docs/ops.md, "Base Configuration"`},
	{"options.SystemdCgroup", "false", Drain, "sandboxes of pods that were made by one cgroup driver cannot be made again by the other", cgroupDriver},
	{"containerd.snapshotter", "", Drain, "running containers keep their file systems in the old snapshotter, and images are unpacked again", "containerd docs/snapshotters/README.md"},
	{"cni.conf_template", "", Drain, "pods that run keep the network they were started in", `containerd docs/cri/config.md, "CNI Config Template"`},

	{"pinned_images.sandbox", "", Restart, "pods that run keep the sandbox they have", "containerd docs/cri/config.md"},
	{"sandbox_image", "", Restart, "pods that run keep the sandbox they have", "containerd docs/cri/config.md"},
	{"registry.config_path", "", Restart, "only images that are pulled afterwards come from there", "containerd docs/hosts.md"},
}

// containerdValues are the values of a containerd configuration, by their names with their tables'. One that cannot be
// read has none.
func containerdValues(content []byte) map[string]string {
	values := make(map[string]string)
	if config, err := toml.Parse(string(content)); err == nil {
		addValues(values, config, "")
	}
	return values
}

func addValues(values map[string]string, t *toml.Table, prefix string) {
	for key, value := range t.All() {
		if below, isTable := value.(*toml.Table); isTable {
			addValues(values, below, prefix+key+".")
		} else {
			values[prefix+key] = string(toml.AppendValue(nil, value))
		}
	}
}

func (r containerdRow) isOf(name string) bool {
	return name == r.Key || strings.HasSuffix(name, "."+r.Key)
}

// containerd judges the changes of containerd's configuration.
func (j *judge) containerd() {
	id := resource.IDOf(&resource.File{Path: plan.ContainerdConfig})
	at := slices.IndexFunc(j.deltas, func(d delta) bool { return d.id == id })
	if at < 0 {
		return
	}
	var values [2]map[string]string
	for i, r := range []*resource.Resource{j.deltas[at].old, j.deltas[at].new} {
		if r != nil {
			values[i] = containerdValues(r.Spec.(*resource.File).Content)
		}
	}
	for _, row := range containerdTable {
		for _, name := range keysOf(values[0], values[1]) {
			if row.isOf(name) && row.valueIn(values[0], name) != row.valueIn(values[1], name) {
				j.add(id, Reason{row.Class, row.Key, row.Reason, row.Source})
			}
		}
	}
}

func (r containerdRow) valueIn(values map[string]string, name string) string {
	if value, ok := values[name]; ok {
		return value
	}
	return r.Default
}

func keysOf(a, b map[string]string) []string {
	var names []string
	for name := range a {
		names = append(names, name)
	}
	for name := range b {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

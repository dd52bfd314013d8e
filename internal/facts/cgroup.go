package facts

// The files of each version of control groups, as systemd mounts them (its CGROUP_DELEGATION, "Three different tree
// setups"; cgroups(7)). In the hybrid setup, controllers are version 1, so that version counts.
const (
	cgroup2 = "/sys/fs/cgroup/cgroup.controllers"
	cgroup1 = "/sys/fs/cgroup/systemd"
)

func (g gatherer) cgroupVersion() int {
	switch {
	case g.Exists(cgroup2):
		return 2
	case g.Exists(cgroup1):
		return 1
	}
	return 0
}

package plan

import (
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// reservation is a part of the machine that is kept for programs which are no pods.
type reservation struct {
	// name is the one in enforceNodeAllocatable.
	name string
	// flag and field name the control group of these programs.
	flag, field string
	// only is the slice that it must be in a family; empty for any.
	only func(*profile.Runtime) string
	// needed is the group of resources that need the slice.
	needed group
}

var (
	forKubernetes = reservation{
		"kube-reserved", "kube-reserved-cgroup", "kubeReservedCgroup",
		func(r *profile.Runtime) string { return r.Reserved.Kubernetes }, runtimeGroup,
	}
)

// slice is the unit of the reservation's control group, empty for none, and why the kubelet could not enforce it there; empty
// for a group in which it can. That an enforced reservation has a group is a rule of internal/kubeletapi.
func (r *reservation) slice(in *input) (unit, reason string) {
	setting := kubeletSetting(in.config.Kubelet, r.flag, r.field, "")
	unit = in.sliceName(setting)
	root, _, _ := strings.Cut(strings.TrimSuffix(unit, ".slice"), "-")
	only := r.only(&in.family.Runtime)
	switch others := otherSlices[root+".slice"]; {
	case setting == "", !r.isEnforced(in.config.Kubelet) && !strings.HasSuffix(setting, ".slice"):
		return "", "" // no kubelet looks at it, and its author may not mean a slice
	case only != "" && unit != only:
		return "", "must be /" + only + ": a node of this layout has no other control group for it"
	case others != "":
		return "", "is the control group of " + others
	case !isSlice(unit):
		return "", "must be a slice of systemd's, such as /podruntime.slice"
	case in.snapped():
		return "", "cannot be on this machine, whose kubelet is a snap, which is in a control group of its own"
	case in.facts.CgroupVersion == 1:
		return unit, "needs control groups of version 2, and this machine has version 1"
	}
	return unit, ""
}

// isEnforced reports whether the kubelet holds the programs to what is reserved for them.
func (r *reservation) isEnforced(k nodeconfig.Kubelet) bool {
	names := kubeletList(k, enforceFlag, enforceField)
	return slices.Contains(names, r.name) || slices.Contains(names, r.name+"-compressible")
}

// sliceName is the unit that a kubelet takes a control group's name for. With systemd's driver the last part of a path counts, and
// ".slice" may be missing (k8s.io/kubernetes v1.36.3 pkg/kubelet/cm/cgroup_manager_linux.go, ParseSystemdToCgroupName).
func (in *input) sliceName(group string) string {
	unit := path.Base(group)
	if in.driver == "systemd" {
		return strings.TrimSuffix(unit, ".slice") + ".slice"
	}
	if slicePath(unit) != "/"+strings.TrimPrefix(group, "/") {
		return ""
	}
	return unit
}

// isSlice reports whether a unit can be a slice (systemd.slice(5)).
func isSlice(unit string) bool {
	const characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_."
	stem, ok := strings.CutSuffix(unit, ".slice")
	return ok && stem[:min(1, len(stem))] != "." && !slices.ContainsFunc(strings.Split(stem, "-"), func(part string) bool {
		return part == "" || strings.Trim(part, characters) != ""
	})
}

// slicePath is where a slice's control group is: each "-" in its name puts it into another slice (systemd.slice(5)).
func slicePath(unit string) string {
	var all strings.Builder
	stem := strings.TrimSuffix(unit, ".slice")
	for i, c := range stem {
		if c == '-' {
			all.WriteString("/" + stem[:i] + ".slice")
		}
	}
	return all.String() + "/" + unit
}

// systemSlice has the system's own services, on every machine.
const systemSlice = "system.slice"

// otherSlices are those that have something else in them (systemd.special(7); Kubernetes: the cgroup of all pods).
var otherSlices = map[string]string{
	"kubepods.slice": "pods", "machine.slice": "virtual machines and containers of other programs", "user.slice": "the sessions of users",
}

// The setting that says which reservations the kubelet enforces.
const enforceFlag, enforceField = "enforce-node-allocatable", "enforceNodeAllocatable"

package concern

import (
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Reservation is a part of the machine that is reserved for programs outside pods.
type Reservation struct {
	// name is the one in enforceNodeAllocatable.
	name string
	// Flag and Field name the control group of these programs.
	Flag, Field string
	// only returns the slice that a family requires. Empty means any slice.
	only func(*profile.Runtime) string
	// Needed is the group of resources that need the slice.
	Needed Group
}

// ForKubernetes is what is kept for the kubelet and the container runtime, ForSystem what is kept for the rest of the host.
var (
	ForKubernetes = Reservation{
		"kube-reserved", "kube-reserved-cgroup", "kubeReservedCgroup",
		func(r *profile.Runtime) string { return r.Reserved.Kubernetes }, RuntimeGroup,
	}
	ForSystem = Reservation{
		"system-reserved", "system-reserved-cgroup", "systemReservedCgroup",
		func(r *profile.Runtime) string { return r.Reserved.System }, KubeletGroup,
	}
)

// Slice returns the unit of the reservation's control group, or "". reason is why the kubelet could not enforce the reservation in
// that group; empty if it can. internal/kubeletapi has the rule that an enforced reservation needs a group.
func (r *Reservation) Slice(in *Input) (unit, reason string) {
	setting := kubeletsetting.Value(in.Config.Kubelet, r.Flag, r.Field, "")
	unit = in.sliceName(setting)
	root, _, _ := strings.Cut(strings.TrimSuffix(unit, ".slice"), "-")
	only := r.only(&in.Family.Runtime)
	switch others := otherSlices[root+".slice"]; {
	case setting == "", !r.IsEnforced(in.Config.Kubelet) && !strings.HasSuffix(setting, ".slice"):
		return "", "" // no kubelet looks at it, and its author may not mean a slice
	case only != "" && unit != only:
		return "", "must be /" + only + ": a node of this layout has no other control group for it"
	case others != "":
		return "", "is the control group of " + others
	case !isSlice(unit):
		return "", "must be a slice of systemd's, such as /podruntime.slice"
	case in.Snapped():
		return "", "cannot be used on this machine: its kubelet is a snap, which has its own control group"
	case in.Facts.CgroupVersion == 1:
		return unit, "needs control groups of version 2, and this machine has version 1"
	}
	return unit, ""
}

// usualSlice is the slice of the kubelet and its container runtime if the contract reserves none. A snap has a separate control
// group.
func (in *Input) usualSlice() string {
	if own := in.Family.Runtime.Slice; own != "" && !in.Snapped() {
		return own
	}
	return SystemSlice
}

// IsEnforced reports whether the kubelet holds the programs to what is reserved for them.
func (r *Reservation) IsEnforced(k nodeconfig.Kubelet) bool {
	names := kubeletsetting.List(k, enforceFlag, enforceField)
	return slices.Contains(names, r.name) || slices.Contains(names, r.name+"-compressible")
}

// sliceName is the unit that a kubelet takes a control group's name for. With systemd's driver the last part of a path counts, and
// ".slice" may be missing (k8s.io/kubernetes v1.36.3 pkg/kubelet/cm/cgroup_manager_linux.go, ParseSystemdToCgroupName).
func (in *Input) sliceName(group string) string {
	unit := path.Base(group)
	if in.Driver == "systemd" {
		return strings.TrimSuffix(unit, ".slice") + ".slice"
	}
	if SlicePath(unit) != "/"+strings.TrimPrefix(group, "/") {
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

// SlicePath returns the path of a slice's control group: each "-" in its name puts it into another slice (systemd.slice(5)).
func SlicePath(unit string) string {
	var all strings.Builder
	stem := strings.TrimSuffix(unit, ".slice")
	for i, c := range stem {
		if c == '-' {
			all.WriteString("/" + stem[:i] + ".slice")
		}
	}
	return all.String() + "/" + unit
}

// SystemSlice has the system's own services, on every machine.
const SystemSlice = "system.slice"

// otherSlices are those that have something else in them (systemd.special(7); Kubernetes: the cgroup of all pods).
var otherSlices = map[string]string{
	"kubepods.slice": "pods", "machine.slice": "virtual machines and containers of other programs", "user.slice": "the sessions of users",
}

// The setting with the reservations that the kubelet enforces.
const enforceFlag, enforceField = "enforce-node-allocatable", "enforceNodeAllocatable"

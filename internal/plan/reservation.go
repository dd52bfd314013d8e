package plan

import (
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// reserved makes the control groups that the kubelet holds to what is reserved for them, and puts the kubelet and the
// container runtime into the one for Kubernetes. Without that group a kubelet that enforces the reservation ends at each
// start. The kubelet alone sets the limits, when it starts: they are in its settings, and so in one place (Kubernetes
// docs, Reserve Compute Resources for System Daemons).
var reserved = concern{
	name:  "reserved control groups",
	reads: []string{"$.kubelet.config", "$.kubelet.flags", "$.units"},
	plan:  planReserved,
}

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
	forSystem = reservation{
		"system-reserved", "system-reserved-cgroup", "systemReservedCgroup",
		func(r *profile.Runtime) string { return r.Reserved.System }, kubeletGroup,
	}
)

// The setting that says which reservations the kubelet enforces.
const enforceFlag, enforceField = "enforce-node-allocatable", "enforceNodeAllocatable"

// systemSlice has the system's own services, on every machine.
const systemSlice = "system.slice"

// otherSlices are those that have something else in them (systemd.special(7); Kubernetes: the cgroup of all pods).
var otherSlices = map[string]string{
	"kubepods.slice": "pods", "machine.slice": "virtual machines and containers of other programs", "user.slice": "the sessions of users",
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

func planReserved(in *input, out *output) {
	k := in.config.Kubelet
	var units []string
	for _, r := range []*reservation{&forKubernetes, &forSystem} {
		unit, reason := r.slice(in)
		switch {
		case !r.isEnforced(k):
			// The kubelet never looks at the group (k8s.io/kubernetes v1.36.3 pkg/kubelet/cm/node_container_manager_linux.go,
			// enforceNodeAllocatableCgroups), so one that cannot be does no harm.
		case reason != "":
			out.fatal(nodeconfig.Invalid, settingPath(k, r.flag, r.field), "%s", reason)
		}
		if unit != "" && unit != systemSlice && !slices.Contains(units, unit) {
			units = append(units, unit)
			planSlice(in, out, unit, r.needed)
		}
	}
	if in.slice != systemSlice {
		planPlaced(in, out, containerdUnit, containerdDropIns, []string{in.slice})
	}
	if len(units) > 0 {
		planPlaced(in, out, kubeletUnit, kubeletDropIns, units)
	}
}

// planPlaced puts a unit into the slice for Kubernetes, where that is not the one that it is in anyway, and has it start
// after slices.
func planPlaced(in *input, out *output, unit, dropIns string, after []string) {
	dropIn := in.family.Runtime.Reserved.DropIn
	lines := []unitfile.Line{unitfile.Section("Unit"), unitfile.Set("Wants", unitfile.Quote(strings.Join(after, " "))), unitfile.Set("After", unitfile.Quote(strings.Join(after, " ")))}
	effects := resource.Restarting(unit)
	if in.slice != systemSlice {
		lines = append(lines, unitfile.Section("Service"), unitfile.Set("Slice", unitfile.Quote(in.slice)))
		effects.Class, effects.Source = resource.Reboot, "systemd.kill(5), KillMode=process"
		effects.Why = "what runs stays in its control group, with the processes of all containers"
	}
	out.add(resource.Resource{
		Phase:   resource.Base,
		Effects: effects,
		Reason:  sourced("starts in the control group of what is reserved", dropIn.Source),
		Spec:    &resource.File{Path: dropIns + dropIn.File, Mode: dropIn.Mode, Content: unitfile.File(lines...)},
	})
}

// planSlice makes a slice, unless it is a unit of the contract's, and has it run before what needs it.
func planSlice(in *input, out *output, unit string, needed group) {
	if slices.ContainsFunc(in.config.Units, func(u nodeconfig.Unit) bool { return u.Name == unit && u.Content != "" }) {
		return
	}
	path := resource.UnitDir + "/" + unit
	out.file(resource.Base, path, 0o644, unitfile.File(
		unitfile.Section("Unit"),
		unitfile.Set("Description", "What is reserved on a node of Kubernetes"),
		unitfile.Set("Documentation", "https://kubernetes.io/docs/tasks/administer-cluster/reserve-compute-resources/"),
		unitfile.Comment("Like the kubelet, it does not wait for the rest of the boot."),
		unitfile.Set("DefaultDependencies", "no"),
		unitfile.Set("Before", "slices.target"),
		unitfile.Section("Slice"),
		unitfile.Comment("The kubelet sets the limits. Without accounting there is nothing to limit."),
		unitfile.Set("CPUAccounting", "yes"),
		unitfile.Set("MemoryAccounting", "yes"),
		unitfile.Set("TasksAccounting", "yes"),
		unitfile.Section("Install"),
		unitfile.Set("WantedBy", "slices.target"),
	), "the control group for what is reserved")
	link := &resource.Symlink{Path: resource.UnitDir + "/slices.target.wants/" + unit, Target: path}
	out.add(resource.Resource{Phase: resource.Base, Reason: "starts at boot", Spec: link})
	out.addTo(needed, resource.Resource{
		Phase:    resource.Base,
		ExitCode: exitcode.KubeletStartFailed,
		Reason:   "is there before the container runtime and the kubelet, which systemd does not move while they run",
		Spec:     &resource.Unit{Unit: unit},
	})
	out.repeatedBy(link)
}

// settingPath is where the contract sets one of the kubelet's settings: with a flag, or else in its configuration.
func settingPath(k nodeconfig.Kubelet, flag, field string) string {
	path := document.FieldPath("$.kubelet.config", field)
	for i, f := range k.Flags {
		if f.Name == flag {
			path = document.IndexPath("$.kubelet.flags", i)
		}
	}
	return path
}

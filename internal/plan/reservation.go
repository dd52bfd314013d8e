package plan

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
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
			out.Fatal(nodeconfig.Invalid, settingPath(k, r.flag, r.field), "%s", reason)
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

var forSystem = reservation{
	"system-reserved", "system-reserved-cgroup", "systemReservedCgroup",
	func(r *profile.Runtime) string { return r.Reserved.System }, kubeletGroup,
}

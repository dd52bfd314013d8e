package kubelet

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// reserved makes the control groups that the kubelet holds to what is reserved for them, and puts the kubelet and the
// container runtime into the one for Kubernetes. Without that group a kubelet that enforces the reservation ends at each
// start. The kubelet alone sets the limits, when it starts: they are in its settings, and so in one place (Kubernetes
// docs, Reserve Compute Resources for System Daemons).
var reserved = concern.Concern{
	Name:  "reserved control groups",
	Reads: []string{"$.kubelet.config", "$.kubelet.flags", "$.units"},
	Plan:  planReserved,
}

func planReserved(in *concern.Input, out *concern.Output) {
	k := in.Config.Kubelet
	var units []string
	for _, r := range []*concern.Reservation{&concern.ForKubernetes, &concern.ForSystem} {
		unit, reason := r.Slice(in)
		switch {
		case !r.IsEnforced(k):
			// The kubelet never uses the group (k8s.io/kubernetes v1.36.3 pkg/kubelet/cm/node_container_manager_linux.go,
			// enforceNodeAllocatableCgroups), so an impossible group does no harm.
		case reason != "":
			out.Fatal(nodeconfig.Invalid, kubeletsetting.Path(k, r.Flag, r.Field), "%s", reason)
		}
		if unit != "" && unit != concern.SystemSlice && !slices.Contains(units, unit) {
			units = append(units, unit)
			planSlice(in, out, unit, r.Needed)
		}
	}
	if in.Slice != concern.SystemSlice {
		if !slices.Contains(units, in.Slice) {
			units = append(units, in.Slice)
			planSlice(in, out, in.Slice, concern.ForKubernetes.Needed)
		}
		planPlaced(in, out, concern.ContainerdUnit, concern.ContainerdDropIns, []string{in.Slice})
	}
	if len(units) > 0 {
		planPlaced(in, out, concern.KubeletUnit, concern.KubeletDropIns, units)
	}
}

// planPlaced puts a unit into the slice for Kubernetes, if it is not in that slice anyway, and has it start after these
// slices.
func planPlaced(in *concern.Input, out *concern.Output, unit, dropIns string, after []string) {
	dropIn := in.Family.Runtime.Reserved.DropIn
	lines := []unitfile.Line{unitfile.Section("Unit"), unitfile.Set("Wants", unitfile.Quote(strings.Join(after, " "))), unitfile.Set("After", unitfile.Quote(strings.Join(after, " ")))}
	effects := resource.Restarting(unit)
	if in.Slice != concern.SystemSlice {
		lines = append(lines, unitfile.Section("Service"), unitfile.Set("Slice", unitfile.Quote(in.Slice)))
		effects.Class, effects.Source = resource.Reboot, "systemd.kill(5), KillMode=process"
		effects.Why = "what runs stays in its control group, with the processes of all containers"
	}
	out.Append(resource.Resource{
		Phase:   resource.Base,
		Effects: effects,
		Reason:  concern.Sourced("starts in the control group of what is reserved", dropIn.Source),
		Spec:    &resource.File{Path: dropIns + dropIn.File, Mode: dropIn.Mode, Content: unitfile.File(lines...)},
	})
}

// planSlice makes a slice, unless it is a unit of the contract's, and has it run before what needs it.
func planSlice(in *concern.Input, out *concern.Output, unit string, needed concern.Group) {
	if slices.ContainsFunc(in.Config.Units, func(u nodeconfig.Unit) bool { return u.Name == unit && u.Content != "" }) {
		return
	}
	path := resource.UnitDir + "/" + unit
	out.File(resource.Base, path, 0o644, unitfile.File(
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
	out.Append(resource.Resource{Phase: resource.Base, Reason: "starts at boot", Spec: link})
	out.AppendTo(needed, resource.Resource{
		Phase:    resource.Base,
		ExitCode: exitcode.KubeletStartFailed,
		Reason:   "is there before the container runtime and the kubelet, which systemd does not move while they run",
		Spec:     &resource.Unit{Unit: unit},
	})
	out.RepeatedBy(link)
}

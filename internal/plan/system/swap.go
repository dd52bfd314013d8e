package system

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// swap makes a swap file and takes it into use, now and at each boot, before the kubelet starts.
var swap = concern.Concern{
	Name:  "swap",
	Reads: []string{"$.kubelet.config", "$.kubelet.flags", "$.system.swapDisk", "$.system.swapMB"},
	Plan:  planSwap,
}

const (
	// swapUnitSize is what AKS counts swap in: 1000 KiB.
	swapUnitSize = 1000 << 10
	// largestPage is the largest page of the processors that nodes have (arm64: CONFIG_ARM64_64K_PAGES). A swap file
	// is whole pages.
	largestPage = 64 << 10
)

// swapPlace is a place of a swap file, with its unit (systemd.unit(5), string escaping for inclusion in unit names) and the
// target that starts the unit at boot.
type swapPlace struct {
	file, unit, target string
	phase              resource.Phase
	// disk is the mount point of the file's disk, which another program mounts. Empty means the operating system's disk.
	disk, reason string
	// lines are the unit's lines that order it in the boot.
	lines []unitfile.Line
}

// swapOnOS is below /var/lib because a distribution's / may be read-only, as it is for the agent's own unit. AKS has the file
// there, too, on a machine without a temporary disk (as /swapfile).
var swapOnOS = swapPlace{
	file: "/var/lib/swapfile", unit: "var-lib-swapfile.swap", target: "swap.target", phase: resource.Base,
	reason: "memory that is not in use can be written to the disk of the operating system",
	lines: []unitfile.Line{
		unitfile.Set("After", "systemd-remount-fs.service"),
		unitfile.Comment("The kubelet looks for swap when it starts, and the agent whether it is in use."),
	},
}

// swapOnTemporary is where AKS has the file on a machine with a temporary disk. swap.target is before all services, and the disk
// is mounted by one of them. So the kubelet, which starts after the swap file, waits for the disk there, and nowhere else.
var swapOnTemporary = swapPlace{
	file: concern.TemporaryDisk + "/swapfile", unit: "mnt-swapfile.swap", target: "multi-user.target", phase: resource.Join, disk: concern.TemporaryDisk,
	reason: "memory that is not in use can be written to the temporary disk",
	lines: []unitfile.Line{
		unitfile.Comment("The rest of the boot does not wait for the disk, which may be mounted late, or never."),
		unitfile.Set("DefaultDependencies", "no"),
		unitfile.Set("After", concern.TemporaryUnit),
		unitfile.Set("ConditionPathIsMountPoint", concern.TemporaryDisk),
		unitfile.Set("Conflicts", "umount.target"),
		unitfile.Set("Before", "umount.target"),
		unitfile.Comment("The kubelet looks for swap when it starts."),
	},
}

func planSwap(in *concern.Input, out *concern.Output) {
	size := int64(in.Config.System.SwapMB) * swapUnitSize
	if size <= 0 {
		return
	}
	if in.Joins() && failsOnSwap(in.Config.Kubelet) {
		out.Fatal(nodeconfig.Invalid, "$.system.swapMB", "the kubelet does not start while there is swap; set kubelet.config.failSwapOn to false")
		return
	}
	place := swapOnOS
	if in.Config.System.SwapDisk == nodeconfig.PreferTemporary {
		if !in.Joins() {
			return // each machine has its own disk; an image has none
		}
		if fitsTemporary(in, size) {
			place = swapOnTemporary
		}
	}
	out.File(place.phase, resource.UnitDir+"/"+place.unit, 0o644, unitfile.File(slices.Concat([]unitfile.Line{
		unitfile.Section("Unit"),
		unitfile.Set("Description", "Swap file"),
		unitfile.Comment("One that is missing is made by the agent."),
		unitfile.Set("ConditionPathExists", unitfile.Quote(place.file)),
	}, place.lines, []unitfile.Line{
		unitfile.Set("Before", unitfile.Quote(strings.Join(place.before(in), " "))),
		unitfile.Section("Swap"),
		unitfile.Set("What", unitfile.Quote(place.file)),
		unitfile.Section("Install"),
		unitfile.Set("WantedBy", unitfile.Quote(place.target)),
	})...), "uses the swap file after every boot")
	link := &resource.Symlink{Path: resource.UnitDir + "/" + place.target + ".wants/" + place.unit, Target: resource.UnitDir + "/" + place.unit}
	out.Append(resource.Resource{Phase: place.phase, Reason: "starts at boot", Spec: link})
	out.AppendTo(concern.KernelGroup, resource.Resource{
		Phase:    place.phase,
		ExitCode: exitcode.SwapFailed,
		Effects: resource.Effects{
			Restarts: []string{concern.KubeletUnit},
			Class:    resource.Restart,
			Why:      "the kubelet looks whether there is swap when it starts",
			Source:   "Kubernetes docs, Swap memory management",
		},
		Reason: place.reason,
		Spec: &resource.Swap{
			Path: place.file, Disk: place.disk, Bytes: (size + largestPage - 1) / largestPage * largestPage,
			ExitCodes: map[resource.Cause]int{resource.CauseNoRoom: exitcode.SwapNoRoom},
		},
	})
	out.RepeatedBy(link)
}

// before are the units that wait for the swap file. The agent is not included if cloud-init mounts the disk, because cloud-init may
// start after the agent.
func (s swapPlace) before(in *concern.Input) []string {
	units := []string{concern.KubeletUnit}
	if s.disk == "" {
		units = append(units, profile.AgentUnit, in.Family.Agent.Unit)
	}
	slices.Sort(units)
	return slices.Compact(units)
}

// failsOnSwap reports whether a kubelet ends when it finds swap, as it does by default (Kubernetes:
// KubeletConfiguration, failSwapOn).
func failsOnSwap(k nodeconfig.Kubelet) bool {
	return kubeletsetting.Switch(k, "fail-swap-on", "failSwapOn", true)
}

// fitsTemporary reports whether a file is for the machine's temporary disk: there is one, cloud-init mounts it, and a quarter of it
// stays for the file system itself and for others. AKS's scripts ask how much is free at that moment, which is less with each boot;
// a disk has one size.
func fitsTemporary(in *concern.Input, size int64) bool {
	return in.Facts.CloudInit && size <= in.Facts.Temporary()/4*3
}

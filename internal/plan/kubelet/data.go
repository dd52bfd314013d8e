package kubelet

import (
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// kubeletData puts the kubelet's data on the machine's temporary disk, now and at each boot. Otherwise the data is on the
// disk of the operating system.
var kubeletData = concern.Concern{
	Name:  "kubelet data",
	Joins: true, // each machine has its own disk; an image has none
	Reads: []string{dataDiskPath},
	Plan:  planKubeletData,
}

const (
	dataDiskPath = "$.kubelet.dataDisk"
	kubeletDir   = "/var/lib/kubelet"
	// kubeletMount is the unit of the kubelet's directory.
	kubeletMount = "var-lib-kubelet.mount"
)

func planKubeletData(in *concern.Input, out *concern.Output) {
	if in.Config.Kubelet.DataDisk != "Temporary" {
		return
	}
	if lacksTemporary(in) {
		// Any other disk that is mounted there serves as well, so it is no error yet.
		out.Warn(nodeconfig.NotInstalled, dataDiskPath, "the machine has no temporary disk that is known: the kubelet starts only if another disk is mounted at %s; use a VM size with a temporary disk, or leave the setting out", concern.TemporaryDisk)
	}
	mount := &resource.Mount{Where: kubeletDir, What: in.Family.Paths.KubeletTemporary, Disk: concern.TemporaryDisk}
	out.Append(resource.Resource{
		Phase:    resource.Join,
		ExitCode: exitcode.KubeletStartFailed,
		Effects: resource.Effects{
			Restarts: []string{concern.KubeletUnit},
			Class:    resource.Reboot,
			Why:      "what the kubelet has on one disk is not moved to the other, and volumes of pods that run are mounted there",
			Source:   "Kubernetes docs, Local Files And Paths Used By The Kubelet",
		},
		Reason: "the kubelet's data is on the temporary disk",
		Spec:   mount,
	})
	out.RepeatedBy(concern.Wants(kubeletMount))
	out.File(resource.Join, resource.UnitDir+"/"+kubeletMount, 0o644, unitfile.File(
		unitfile.Section("Unit"),
		unitfile.Set("Description", "The kubelet's data on the temporary disk"),
		unitfile.Comment("The rest of the boot does not wait for the disk, which may be mounted late, or never. Who needs the data waits."),
		unitfile.Set("DefaultDependencies", "no"),
		unitfile.Set("Requires", concern.TemporaryUnit),
		unitfile.Set("After", concern.TemporaryUnit),
		unitfile.Set("AssertPathIsMountPoint", concern.TemporaryDisk),
		unitfile.Set("Conflicts", "umount.target"),
		unitfile.Set("Before", "umount.target "+concern.KubeletUnit+" "+unitfile.Quote(in.Family.Kubelet.Prepare)),
		unitfile.Section("Mount"),
		unitfile.Set("What", unitfile.Quote(mount.What)),
		unitfile.Set("Where", unitfile.Quote(mount.Where)),
		unitfile.Set("Type", "none"),
		unitfile.Set("Options", "bind"),
		unitfile.Section("Install"),
		unitfile.Set("WantedBy", "multi-user.target"),
	), "mounts the kubelet's data after every boot")
	out.Enable(resource.Join, kubeletMount)
	out.File(resource.Join, concern.KubeletDropIns+"10-data-disk.conf", 0o644, unitfile.File(
		unitfile.Section("Unit"),
		unitfile.Comment("Without the disk the kubelet does not start: its data would be on another one."),
		unitfile.Set("Requires", kubeletMount),
		unitfile.Set("After", kubeletMount),
	), "the kubelet does not start without its disk", concern.KubeletUnit)
}

// lacksTemporary reports whether the facts show that the machine has no temporary disk. The agent looks for one only on Azure.
func lacksTemporary(in *concern.Input) bool {
	return in.Facts.Platform == facts.Azure && len(in.Facts.Disks) > 0 && in.Facts.Temporary() == 0
}

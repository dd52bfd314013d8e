package plan

import (
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// kubeletData puts the kubelet's data on the machine's temporary disk, now and at each boot. The other choice is the
// disk of the operating system, where the data is without it.
var kubeletData = concern{
	name:  "kubelet data",
	joins: true, // each machine has a disk of its own: an image has none
	reads: []string{dataDiskPath},
	plan:  planKubeletData,
}

const (
	dataDiskPath = "$.kubelet.dataDisk"
	kubeletDir   = "/var/lib/kubelet"
	// kubeletMount is the unit of the kubelet's directory.
	kubeletMount = "var-lib-kubelet.mount"
)

func planKubeletData(in *input, out *output) {
	if in.config.Kubelet.DataDisk != "Temporary" {
		return
	}
	if in.lacksTemporary() {
		// Whatever else is mounted there would be taken for it, so it is no error yet.
		out.Warn(nodeconfig.NotInstalled, dataDiskPath, "the machine has no temporary disk that is known: the kubelet starts only if another disk is mounted at %s; use a VM size with a temporary disk, or leave the setting out", temporaryDisk)
	}
	mount := &resource.Mount{Where: kubeletDir, What: in.family.Paths.KubeletTemporary, Disk: temporaryDisk}
	out.add(resource.Resource{
		Phase:    resource.Join,
		ExitCode: exitcode.KubeletStartFailed,
		Effects: resource.Effects{
			Restarts: []string{kubeletUnit},
			Class:    resource.Reboot,
			Why:      "what the kubelet has on one disk is not moved to the other, and volumes of pods that run are mounted there",
			Source:   "Kubernetes docs, Local Files And Paths Used By The Kubelet",
		},
		Reason: "the kubelet's data is on the temporary disk",
		Spec:   mount,
	})
	out.repeatedBy(wants(kubeletMount))
	out.file(resource.Join, resource.UnitDir+"/"+kubeletMount, 0o644, unitfile.File(
		unitfile.Section("Unit"),
		unitfile.Set("Description", "The kubelet's data on the temporary disk"),
		unitfile.Comment("The rest of the boot does not wait for the disk, which may be mounted late, or never. Who needs the data waits."),
		unitfile.Set("DefaultDependencies", "no"),
		unitfile.Set("Requires", temporaryUnit),
		unitfile.Set("After", temporaryUnit),
		unitfile.Set("AssertPathIsMountPoint", temporaryDisk),
		unitfile.Set("Conflicts", "umount.target"),
		unitfile.Set("Before", "umount.target "+kubeletUnit+" "+unitfile.Quote(in.family.Kubelet.Prepare)),
		unitfile.Section("Mount"),
		unitfile.Set("What", unitfile.Quote(mount.What)),
		unitfile.Set("Where", unitfile.Quote(mount.Where)),
		unitfile.Set("Type", "none"),
		unitfile.Set("Options", "bind"),
		unitfile.Section("Install"),
		unitfile.Set("WantedBy", "multi-user.target"),
	), "mounts the kubelet's data after every boot")
	out.enable(resource.Join, kubeletMount)
	out.file(resource.Join, kubeletDropIns+"10-data-disk.conf", 0o644, unitfile.File(
		unitfile.Section("Unit"),
		unitfile.Comment("Without the disk the kubelet does not start: its data would be on another one."),
		unitfile.Set("Requires", kubeletMount),
		unitfile.Set("After", kubeletMount),
	), "the kubelet does not start without its disk", kubeletUnit)
}

// lacksTemporary reports whether it is known that the machine has no temporary disk. Only on Azure is one looked for.
func (in *input) lacksTemporary() bool {
	return in.facts.Platform == facts.Azure && len(in.facts.Disks) > 0 && in.facts.Temporary() == 0
}

package plan

import "github.com/slipway-dev/slipway/internal/facts"

// temporaryDisk is where cloud-init mounts the machine's temporary disk (cloud-init docs, Mounts: ephemeral0), and temporaryUnit the
// unit of that name, which systemd makes of fstab. It is not mounted yet when a plan is made: the facts say that there is the disk,
// and how large it is.
const temporaryDisk, temporaryUnit = "/mnt", "mnt.mount"

// fitsTemporary reports whether a file is for the machine's temporary disk: there is one, cloud-init mounts it, and a quarter of it
// stays for the file system itself and for others. AKS's scripts ask how much is free at that moment, which is less with each boot;
// a disk has one size.
func (in *input) fitsTemporary(size int64) bool {
	return in.facts.CloudInit && size <= in.facts.Temporary()/4*3
}

// lacksTemporary reports whether it is known that the machine has no temporary disk. Only on Azure is one looked for.
func (in *input) lacksTemporary() bool {
	return in.facts.Platform == facts.Azure && len(in.facts.Disks) > 0 && in.facts.Temporary() == 0
}

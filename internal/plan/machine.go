package plan

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/facts"
)

// seen reports whether the facts are of a machine or an image. Otherwise the node can be on any distribution.
func (in *input) seen() bool { return in.facts.OS.ID != "" }

// systemName is the name of the machine's operating system in a problem.
func systemName(in *input) string {
	if !in.seen() {
		return "this machine, whose operating system is not known,"
	}
	return fmt.Sprintf("the operating system %q", in.facts.OS.ID)
}

// cgroupVersion is the version of the machine's control groups, 0 if it is not known; assumed says that no fact has it, and that it
// is the one with which the distribution's release starts.
func (in *input) cgroupVersion() (version int, assumed bool) {
	if in.facts.CgroupVersion != 0 {
		return in.facts.CgroupVersion, false
	}
	return in.distro.CgroupVersion(in.facts.OS.VersionID), true
}

// programOf is where a program of the family's images is, or would be if nothing is known of the image; empty where it is
// known that there is none.
func programOf(known facts.Facts, program string) string {
	for _, c := range known.Components {
		if c.Name == path.Base(program) && isPlainPath(c.Path) {
			return c.Path
		}
	}
	if len(known.Components) > 0 {
		return ""
	}
	return program
}

// has reports whether the image has a program, which it is taken to have where nobody has looked: the list of an image's
// components names what its maker wanted to name.
func (in *input) has(program string) bool {
	return !in.seen() || programOf(in.facts, program) != ""
}

// isPlainPath is a path that means the same wherever it is written.
func isPlainPath(path string) bool {
	return len(path) > 1 && path[0] == '/' && strings.IndexFunc(path, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._/-", r)
	}) < 0
}

// cloudName is the name that the machine is given; empty where somebody else gives it one.
func (in *input) cloudName() string {
	if in.facts.Instance == nil || in.facts.CloudInit {
		return ""
	}
	return in.facts.Instance.Hostname
}

// snapped reports whether the machine's kubelet is a snap.
func (in *input) snapped() bool {
	snap := &in.family.Command.Snap
	if snap.Name == "" || !in.distro.Packages.Snaps {
		return false
	}
	return !slices.ContainsFunc(in.facts.Components, func(c components.Component) bool { return c.Name == "kubelet" && c.Path == in.family.Paths.Kubelet })
}

// kubeletProgram is what starts the kubelet.
func (in *input) kubeletProgram() string {
	if in.snapped() {
		return in.family.Command.Snap.Program
	}
	return in.family.Paths.Kubelet
}

// kubeletProcess is the unit that the kubelet's process is in: that of its snap, where it is one (snapd: wrappers, services).
func (in *input) kubeletProcess() string {
	if in.snapped() {
		return "snap." + in.family.Command.Snap.Name + ".daemon.service"
	}
	return kubeletUnit
}

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

package concern

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/facts"
)

// Seen reports whether the facts are of a machine or an image. Otherwise the node can be on any distribution.
func (in *Input) Seen() bool { return in.Facts.OS.ID != "" }

// HasNoFacts reports whether there are no facts of the machine or its image, as on a workstation.
func (in *Input) HasNoFacts() bool { return hasNoFacts(in.Facts) }

func hasNoFacts(f facts.Facts) bool { return f.OS.ID == "" && len(f.Components) == 0 }

// AwaitsFacts reports whether there are no facts, and the agent will find them out on the machine.
func (in *Input) AwaitsFacts() bool { return !in.Agentless && in.HasNoFacts() }

// SystemName is the name of the machine's operating system in a problem.
func SystemName(in *Input) string {
	if os := in.Config.Components.OS; !in.Seen() && os != nil {
		return fmt.Sprintf("the operating system %q", os.ID)
	}
	if !in.Seen() {
		return "this machine, whose operating system is not known,"
	}
	return fmt.Sprintf("the operating system %q", in.Facts.OS.ID)
}

// ProgramOf is the path of a program of the family's images. If nothing is known of the image, it is the usual path. It is empty if the
// facts show that the image does not have the program.
func ProgramOf(known facts.Facts, program string) string {
	for _, c := range known.Components {
		if c.Name == path.Base(program) && IsPlainPath(c.Path) {
			return c.Path
		}
	}
	if len(known.Components) > 0 {
		return ""
	}
	return program
}

// Has reports whether the image has a program, which it is taken to have if no facts list its programs: the list of an image's
// components names what its maker wanted to name.
func (in *Input) Has(program string) bool {
	return !in.Seen() || ProgramOf(in.Facts, program) != ""
}

// IsPlainPath is a path that means the same wherever it is written.
func IsPlainPath(path string) bool {
	return len(path) > 1 && path[0] == '/' && strings.IndexFunc(path, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._/-", r)
	}) < 0
}

// CloudName is the machine's name in the cloud. It is empty if cloud-init sets the name, and for facts of an image.
func (in *Input) CloudName() string {
	if in.Facts.Instance == nil || in.Facts.CloudInit || in.AsksCloud && in.Facts.Instance.ID == "" {
		return ""
	}
	return in.Facts.Instance.Hostname
}

// Snapped reports whether the machine's kubelet is a snap.
func (in *Input) Snapped() bool {
	snap := &in.Family.Command.Snap
	if snap.Name == "" || !in.Distro.Packages.Snaps {
		return false
	}
	return !slices.ContainsFunc(in.Facts.Components, func(c components.Component) bool { return c.Name == "kubelet" && c.Path == in.Family.Paths.Kubelet })
}

// TemporaryDisk is the directory where cloud-init mounts the machine's temporary disk (cloud-init docs, Mounts: ephemeral0).
// TemporaryUnit is the unit that systemd makes of that entry in fstab. When a plan is made, the disk is not mounted yet: the facts
// report whether there is one, and its size.
const TemporaryDisk, TemporaryUnit = "/mnt", "mnt.mount"

// CgroupVersion is the version of the machine's control groups; 0 if it is not known. assumed reports whether it is only the default of
// the distribution's release, because no fact has it.
func (in *Input) CgroupVersion() (version int, assumed bool) {
	if in.Facts.CgroupVersion != 0 {
		return in.Facts.CgroupVersion, false
	}
	return in.Distro.CgroupVersion(in.Facts.OS.VersionID), true
}

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

// temporaryDisk is where cloud-init mounts the machine's temporary disk (cloud-init docs, Mounts: ephemeral0), and temporaryUnit the
// unit of that name, which systemd makes of fstab. It is not mounted yet when a plan is made: the facts say that there is the disk,
// and how large it is.
const temporaryDisk, temporaryUnit = "/mnt", "mnt.mount"

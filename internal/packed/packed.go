// Package packed has the places of a node's programs in the archives and packages of their makers: Kubernetes' archive for nodes,
// the packages of Debian and RPM, the archives of containerd's, runc's and the CNI project's releases.
//
// It is data, and unpacks nothing: internal/host does that on a node, and internal/image/resolve for an image. The planner and
// internal/image/kind read it.
package packed

import (
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
)

// Kubernetes returns where a program of Kubernetes is: in its own archive for nodes, in the packages of Debian and RPM, and in an
// archive of the program alone.
func Kubernetes(name string) []string {
	return []string{"kubernetes/node/bin/" + name, "usr/bin/" + name, "usr/local/bin/" + name, name}
}

// Debian's and RPM's packages have their programs in usr/bin, runc's of Debian in usr/sbin; the archives of containerd's releases have
// them in bin, and a release of runc is the program alone.
var (
	Containerd = []resource.Unpacked{
		{Name: "containerd", Members: []string{"usr/bin/containerd", "bin/containerd", "usr/local/bin/containerd"}},
		{Name: RuncShim, Members: []string{"usr/bin/" + RuncShim, "bin/" + RuncShim, "usr/local/bin/" + RuncShim}},
		{Name: "ctr", Members: []string{"usr/bin/ctr", "bin/ctr", "usr/local/bin/ctr"}, Optional: true},
	}
	Runc = []resource.Unpacked{
		{Name: "runc", Members: []string{"usr/bin/runc", "usr/sbin/runc", "bin/runc", "usr/local/bin/runc", "usr/local/sbin/runc", "runc", "runc.*"}},
	}
)

// RuncShim is between containerd and runc. It is of one release with containerd, which looks for it in PATH first, and beside its
// own program after that (containerd: core/runtime/v2/shim_manager.go, resolveRuntimePath).
const RuncShim = "containerd-shim-runc-v2"

// IsCNIPlugin reports whether a file of a package of CNI plug-ins is a program. The others are configurations and texts.
func IsCNIPlugin(name string) bool {
	switch path.Ext(name) {
	case ".conflist", ".md", ".txt":
		return false
	}
	return name != "LICENSE" && !strings.HasPrefix(name, ".")
}

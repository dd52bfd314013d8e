package place

import "strings"

// Why other programs' additions at a path must not be accepted.
const (
	unitPlace    = "has systemd's units, where a file can replace or mask the kubelet's; remove the addition, or set it with units"
	programPlace = "has programs that the node runs, and a replaced one must be reported; bring the program with components.artifacts"
	statePlace   = "has the kubelet's own state, to which no other program adds files"
)

// notAddable are the places of units and programs.
var notAddable = []reservation{
	{"/etc/systemd/", unitPlace},
	{"/run/systemd/", unitPlace},
	{"/usr/", programPlace},
	{"/opt/", programPlace},
	{"/var/lib/kubelet/", statePlace},
}

// CheckAddition returns why a path must not be one where other programs may add files, or "" if it may. A path that ends in a slash is a
// directory with everything in it.
func CheckAddition(name string) string {
	at, isDir := strings.CutSuffix(name, "/")
	if reason := refused(at); reason != "" {
		return reason
	}
	for _, r := range notAddable {
		if within(at, r.path) || isDir && strings.HasPrefix(r.path, name) {
			return r.whom
		}
	}
	return below(at, []string{"/etc/", "/run/", "/var/lib/"})
}

// IsAddition reports whether a path is one of those at which others may add files, as [CheckAddition] has checked them.
func IsAddition(name string, paths []string) bool {
	for _, p := range paths {
		if name == p || strings.HasSuffix(p, "/") && strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

package facts

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/profile"
)

// Where cloud-init is, and what keeps it from running (cloud-init, "How to disable cloud-init"; its generator
// and tools/ds-identify, is_disabled). Either is enough, whatever the other says.
const (
	cloudInitPath     = "/usr/bin/cloud-init"
	cloudInitDisabled = "/etc/cloud/cloud-init.disabled"
	cloudInitArgument = "cloud-init=disabled"
)

// cloudInit reports whether cloud-init is installed and not disabled. The kernel's arguments are looked at and
// not kept, because they may hold secrets.
func (g gatherer) cloudInit() bool {
	return g.Exists(cloudInitPath) && !g.Exists(cloudInitDisabled) &&
		!slices.Contains(strings.Fields(g.line("/proc/cmdline")), cloudInitArgument)
}

// guestAgents are where Azure's guest agent is installed (WALinuxAgent, azurelinuxagent/common/osutil,
// agent_bin_path).
var guestAgents = []string{
	"/usr/sbin/waagent",          // Ubuntu, Debian, Red Hat, SUSE
	"/usr/bin/waagent",           // Azure Linux, Arch
	"/usr/share/oem/bin/waagent", // Flatcar
}

func (g gatherer) guestAgent() bool { return slices.ContainsFunc(guestAgents, g.Exists) }

// The units that an image may have.
const (
	WatcherUnit     = "slipway-watch.service"    // the agent's watcher
	DNSExporterUnit = "localdns-exporter.socket" // what shows the numbers of the node's DNS cache (AKS: localdns-exporter.socket)
)

// networkdLink is there where systemd-networkd starts at boot (systemctl(1), enable).
const networkdLink = "/etc/systemd/system/multi-user.target.wants/systemd-networkd.service"

// ResolvedUnit is the service that looks names up on many distributions.
const ResolvedUnit = "systemd-resolved.service"

// resolvedTargets are the targets that start systemd-resolved at boot, in newer and older versions of systemd (units/systemd-resolved.service.in,
// WantedBy=).
var resolvedTargets = []string{"sysinit.target.wants/", "multi-user.target.wants/"}

// resolved reports whether systemd-resolved starts at boot, and not whether it runs now: the agent can be earlier in a boot
// than that, and the next run must find the same.
func (g gatherer) resolved() bool {
	for _, dir := range unitDirs {
		if g.Link(dir+"/"+ResolvedUnit) == "/dev/null" { // systemctl(1), mask
			return false
		}
		if slices.ContainsFunc(resolvedTargets, func(target string) bool { return g.Exists(dir + "/" + target + ResolvedUnit) }) {
			return true
		}
	}
	return false
}

// unitDirs are where an image or a package installs units (systemd.unit(5), "Unit File Load Path"). One in the first counts.
var unitDirs = []string{"/etc/systemd/system", "/usr/lib/systemd/system"}

// units are the names in each of unitDirs.
type units [][]string

// units reads each directory once, however many units are asked for.
func (g gatherer) units() units {
	var all units
	for _, dir := range unitDirs {
		names, _ := g.ReadDir(dir)
		all = append(all, names)
	}
	return all
}

// at is where a unit is installed; empty for nowhere.
func (u units) at(name string) string {
	for i, names := range u {
		if _, there := slices.BinarySearch(names, name); there {
			return unitDirs[i] + "/" + name
		}
	}
	return ""
}

// ofImages are where units that images may have are installed.
func (u units) ofImages() []string {
	var found []string
	for _, name := range append(profile.ImageUnits(), deviceUnits...) {
		if at := u.at(name); at != "" {
			found = append(found, at)
		}
	}
	slices.Sort(found)
	return found
}

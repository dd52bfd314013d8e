package facts

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/profile"
)

// The path of cloud-init, and what disables it (cloud-init, "How to disable cloud-init"; its generator and
// tools/ds-identify, is_disabled). Either one is sufficient.
const (
	cloudInitPath     = "/usr/bin/cloud-init"
	cloudInitDisabled = "/etc/cloud/cloud-init.disabled"
	cloudInitArgument = "cloud-init=disabled"
)

// cloudInit reports whether cloud-init is installed and not disabled. It reads the kernel's arguments and does not keep
// them, because they may hold secrets.
func (g gatherer) cloudInit() bool {
	return g.Exists(cloudInitPath) && !g.Exists(cloudInitDisabled) &&
		!slices.Contains(strings.Fields(g.line("/proc/cmdline")), cloudInitArgument)
}

// guestAgents are the paths of Azure's guest agent (WALinuxAgent, azurelinuxagent/common/osutil, agent_bin_path).
var guestAgents = []string{
	"/usr/sbin/waagent",          // Ubuntu, Debian, Red Hat, SUSE
	"/usr/bin/waagent",           // Azure Linux, Arch
	"/usr/share/oem/bin/waagent", // Flatcar
}

func (g gatherer) guestAgent() bool { return slices.ContainsFunc(guestAgents, g.Exists) }

// The units that an image may have.
const (
	WatcherUnit     = "slipway-watch.service"    // the agent's watcher
	DNSExporterUnit = "localdns-exporter.socket" // exports the metrics of the node's DNS cache (AKS: localdns-exporter.socket)
)

// networkdLink exists if systemd-networkd starts at boot (systemctl(1), enable).
const networkdLink = "/etc/systemd/system/multi-user.target.wants/systemd-networkd.service"

// ResolvedUnit is the service that resolves names on many distributions.
const ResolvedUnit = "systemd-resolved.service"

// resolvedTargets are the targets that start systemd-resolved at boot, in newer and older versions of systemd (units/systemd-resolved.service.in,
// WantedBy=).
var resolvedTargets = []string{"sysinit.target.wants/", "multi-user.target.wants/"}

// resolved reports whether systemd-resolved starts at boot, not whether it runs now: the agent can run before it in a
// boot, and the next run must have the same result.
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

// unitDirs are where an image or a package installs units (systemd.unit(5), "Unit File Load Path"). The first one with
// a unit counts.
var unitDirs = []string{"/etc/systemd/system", VendorUnits}

// VendorUnits is where units of packages are (systemd.unit(5)).
const VendorUnits = "/usr/lib/systemd/system"

// units are the names in each of unitDirs.
type units [][]string

// units reads each directory once, for any number of units.
func (g gatherer) units() units {
	var all units
	for _, dir := range unitDirs {
		names, _ := g.ReadDir(dir)
		all = append(all, names)
	}
	return all
}

// at returns a unit's path, or "".
func (u units) at(name string) string {
	for i, names := range u {
		if _, there := slices.BinarySearch(names, name); there {
			return unitDirs[i] + "/" + name
		}
	}
	return ""
}

// ofImages are the paths of the units that images may have.
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

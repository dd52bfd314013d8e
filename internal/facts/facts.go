// Package facts describes this machine before the agent changes it: its operating system, its firmware, its size, its
// disks, its network and the installed components.
//
// Facts are gathered once, in one bounded pass that runs no program and uses no network, and are plain data from then
// on: a plan from recorded facts is the plan that the machine would make. What cannot be found out stays empty;
// gathering never fails. Everyone on the machine may read the record, so it has nothing that only the superuser can
// read. The agent gathers, the planner reads.
//
// The package also reads the firmware's raw tables, for callers that look for a contract there.
// The raw tables of the firmware are read here too, for those who look for a contract there.
package facts

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/distro"
)

// Facts describe a machine.
type Facts struct {
	OS OS `json:"os"`
	// Architecture is Go's name: "amd64", "arm64".
	Architecture string `json:"architecture,omitempty"`
	Kernel       string `json:"kernel,omitempty"`
	Hostname     string `json:"hostname,omitempty"`
	CPUs         int    `json:"cpus,omitempty"`
	MemoryBytes  int64  `json:"memoryBytes,omitempty"`
	// CgroupVersion is 1 or 2, or 0 if unknown.
	CgroupVersion int `json:"cgroupVersion,omitempty"`
	// MachineID is machine-id(5). It is empty in an image that has not booted.
	MachineID string `json:"machineID,omitempty"`
	// BootID changes with each boot.
	BootID string `json:"bootID,omitempty"`
	// Platform is Platform's result for DMI, including the fields that are not recorded.
	Platform string `json:"platform,omitempty"`
	DMI      DMI    `json:"dmi,omitzero"`
	// Disks are the machine's whole disks with a medium, by name.
	Disks []Disk `json:"disks,omitempty"`
	// NodeIPs are the addresses of the interface with the default route, IPv4 first, at most one of
	// each family.
	NodeIPs []string `json:"nodeIPs,omitempty"`
	// Interfaces are those that other machines can reach, in the order in which the kernel created them.
	Interfaces []Interface `json:"interfaces,omitempty"`
	// Routes are the default routes, IPv4's first.
	Routes []Route `json:"routes,omitempty"`
	// Networkd reports whether systemd-networkd is enabled: it configures the machine's network, directly or for
	// netplan. Only Azure machines are checked.
	Networkd bool `json:"networkd,omitempty"`
	// Resolved reports whether systemd-resolved starts at boot. Nil means unknown, as in a directory.
	Resolved *bool `json:"resolved,omitempty"`
	// Units are the paths of the images' units that a node may run, sorted. Only Azure machines are checked, except for
	// SOCIUnit, which is checked where its program is installed.
	Units []string `json:"units,omitempty"`
	// CloudInit reports whether cloud-init is installed and not disabled.
	CloudInit bool `json:"cloudInit,omitempty"`
	// NoBash reports whether the path Bash is missing.
	NoBash bool `json:"noBash,omitempty"`
	// NoUpdater reports whether the distribution has timers that install updates, and the image lacks the first one.
	NoUpdater bool `json:"noUpdater,omitempty"`
	// GuestAgent reports whether Azure's guest agent is installed.
	GuestAgent bool `json:"guestAgent,omitempty"`
	// Watcher is the path of the agent's watcher unit. It is empty if it is not installed, and on machines that are not
	// Azure's.
	Watcher string `json:"watcher,omitempty"`
	// DNSExporter reports whether the image can export the metrics of the node's DNS cache: it has the socket of AKS's
	// exporter. Only Azure machines are checked.
	DNSExporter bool `json:"dnsExporter,omitempty"`
	// Instance is the cloud's description of the machine. It is not gathered: the caller that has requested it from the
	// cloud's metadata service sets it.
	Instance *Instance `json:"instance,omitempty"`
	// Authorities are the certificate authorities that the cloud requires the machine to trust. It is nil if the cloud
	// was not asked. The caller sets it, too.
	Authorities *Authorities `json:"authorities,omitempty"`
	// ClusterAuthority is the cluster's CA in PEM, if the agent has fetched it because the contract does not have it.
	ClusterAuthority string `json:"clusterAuthority,omitempty"`
	// KubeletDefaults are the cluster's settings for the kubelets of all its nodes. It is nil if the agent has not
	// asked. The caller sets it, too.
	KubeletDefaults *KubeletDefaults `json:"kubeletDefaults,omitempty"`
	// DeniedModules are the kernel modules that the machine's files deny, or denied until Slipway removed that rule,
	// sorted. Only Azure machines are checked.
	DeniedModules []string `json:"deniedModules,omitempty"`
	// PrebakedDriver is the kind of the NVIDIA driver that the image was built with, also if it was removed since:
	// "cuda". Only Azure machines are checked.
	PrebakedDriver string `json:"prebakedDriver,omitempty"`
	// NVIDIADevice reports whether the machine has an NVIDIA device. Only EC2 machines are checked.
	NVIDIADevice bool `json:"nvidiaDevice,omitempty"`
	// CNI are the network plug-ins. It is nil if the machine was not checked.
	CNI *CNI `json:"cni,omitempty"`
	// Packages are the paths of component packages in the image that are not unpacked, sorted. Only Azure machines are
	// checked.
	Packages []string `json:"packages,omitempty"`
	// Components are the installed programs.
	Components []components.Component `json:"components,omitempty"`
	// ManifestError is the reason why the image's component manifest cannot be used. It is empty if the manifest can be used, or if the
	// image has no manifest.
	ManifestError string `json:"manifestError,omitempty"`
}

// Bash is the shell that runs the scripts of a contract's author.
const Bash = "/bin/bash"

// OS is the operating system, as os-release(5) names it.
type OS = distro.Release

// Version returns the version of an installed component, or "" if unknown. If only the main version of a component is
// known, that is the result: "2".
func (f Facts) Version(name string) string {
	for _, c := range f.Components {
		if c.Name == name {
			return c.Version
		}
	}
	return ""
}

// Installed returns where the given version of a component is installed.
func (f Facts) Installed(name, version string) (path string, ok bool) {
	for _, c := range f.Components {
		if c.Name == name && c.Version == version {
			return c.Path, true
		}
	}
	return "", false
}

// Parse reads recorded facts.
func Parse(data []byte) (Facts, error) {
	var f Facts
	if err := json.Unmarshal(data, &f); err != nil {
		return Facts{}, fmt.Errorf("facts: %w", err)
	}
	return f, nil
}

// parseOSRelease reads os-release(5): shell-like assignments; of the shell's syntax it supports only quotes.
func parseOSRelease(data []byte) OS {
	fields := make(map[string]string)
	for line := range strings.Lines(string(data)) {
		name, value, found := strings.Cut(strings.TrimSpace(line), "=")
		if found {
			fields[name] = strings.Trim(value, `"'`)
		}
	}
	return OS{ID: fields["ID"], VersionID: fields["VERSION_ID"], VariantID: fields["VARIANT_ID"], IDLike: fields["ID_LIKE"]}
}

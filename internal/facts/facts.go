// Package facts is what is true of this machine before anything is done to it: its operating
// system, its firmware, its size, its disks, its network and the components that are installed.
//
// Facts are gathered once, in one bounded pass that runs no program and asks no network, and are plain
// data from then on: a plan made from recorded facts is the plan the machine would make. What cannot be
// found out is left empty; gathering never fails. Everybody on the machine may read the record, so
// nothing is recorded that only the superuser can read. The agent gathers, the planner reads.
//
// The raw tables of the firmware are read here too, for those who look for a contract there.
package facts

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/distro"
)

// Facts is what is true of a machine.
type Facts struct {
	OS OS `json:"os"`
	// Architecture is Go's name: "amd64", "arm64".
	Architecture string `json:"architecture,omitempty"`
	Kernel       string `json:"kernel,omitempty"`
	Hostname     string `json:"hostname,omitempty"`
	CPUs         int    `json:"cpus,omitempty"`
	MemoryBytes  int64  `json:"memoryBytes,omitempty"`
	// CgroupVersion is 1 or 2, or 0 where it is not known.
	CgroupVersion int `json:"cgroupVersion,omitempty"`
	// MachineID is machine-id(5); it is empty in an image that has not booted.
	MachineID string `json:"machineID,omitempty"`
	// BootID is another one after each boot.
	BootID string `json:"bootID,omitempty"`
	// Platform is what Platform reads from DMI, including what is not recorded of that.
	Platform string `json:"platform,omitempty"`
	DMI      DMI    `json:"dmi,omitzero"`
	// Disks are the machine's whole disks that have a medium, by name.
	Disks []Disk `json:"disks,omitempty"`
	// NodeIPs are the addresses of the interface with the default route, IPv4 first, at most one of
	// each family.
	NodeIPs []string `json:"nodeIPs,omitempty"`
	// Interfaces are those that others can reach, in the order in which the kernel has made them.
	Interfaces []Interface `json:"interfaces,omitempty"`
	// Routes are the default routes, IPv4's first.
	Routes []Route `json:"routes,omitempty"`
	// Networkd says that systemd-networkd is enabled: it configures the machine's network, by itself or for netplan. That is
	// looked for on Azure alone.
	Networkd bool `json:"networkd,omitempty"`
	// Resolved says whether systemd-resolved starts at boot. Nil means unknown, as in a directory.
	Resolved *bool `json:"resolved,omitempty"`
	// Units are where the units of images are installed that a node may run, sorted. They are looked for on Azure alone, but for
	// SOCIUnit, which is looked for where its program is.
	Units []string `json:"units,omitempty"`
	// CloudInit says that cloud-init is installed and not disabled.
	CloudInit bool `json:"cloudInit,omitempty"`
	// NoBash says that there is nothing at the path Bash.
	NoBash bool `json:"noBash,omitempty"`
	// GuestAgent says that Azure's guest agent is installed.
	GuestAgent bool `json:"guestAgent,omitempty"`
	// Watcher is where the unit of the agent's watcher is installed; empty for nowhere, and where nobody has looked: it is
	// looked for on Azure alone.
	Watcher string `json:"watcher,omitempty"`
	// DNSExporter says that the image can show the numbers of the node's DNS cache: it has the socket of AKS's exporter.
	// That is looked for on Azure alone.
	DNSExporter bool `json:"dnsExporter,omitempty"`
	// Instance is what the cloud says of the machine. It is not gathered: whoever has asked the cloud's
	// metadata service puts it here.
	Instance *Instance `json:"instance,omitempty"`
	// Authorities are the certificate authorities that the cloud wants the machine to trust, nil where it was not asked.
	// They are not gathered either.
	Authorities *Authorities `json:"authorities,omitempty"`
	// ClusterAuthority is the cluster's CA in PEM, if the agent has fetched it because the contract does not have it.
	ClusterAuthority string `json:"clusterAuthority,omitempty"`
	// KubeletDefaults is what the cluster sets for the kubelets of all its nodes, nil if the agent has not asked. It is not
	// gathered.
	KubeletDefaults *KubeletDefaults `json:"kubeletDefaults,omitempty"`
	// DeniedModules are the modules of the kernel that the machine's own files deny, or denied until Slipway took that out,
	// sorted. They are looked for on Azure alone.
	DeniedModules []string `json:"deniedModules,omitempty"`
	// PrebakedDriver is the kind of the driver for NVIDIA's devices that the image was built with, also where it was removed
	// since: "cuda". It is looked for on Azure alone.
	PrebakedDriver string `json:"prebakedDriver,omitempty"`
	// NVIDIADevice says that the machine has a device of NVIDIA's. That is looked for on EC2 alone.
	NVIDIADevice bool `json:"nvidiaDevice,omitempty"`
	// CNI are the network plug-ins; nil where nobody has looked.
	CNI *CNI `json:"cni,omitempty"`
	// Packages are those of components that the image holds and nobody has unpacked, by their paths, sorted. They are looked for on
	// Azure alone.
	Packages []string `json:"packages,omitempty"`
	// Components are the programs that are installed.
	Components []components.Component `json:"components,omitempty"`
}

// Bash is the shell that runs the text of a contract's author.
const Bash = "/bin/bash"

// OS is the operating system, as os-release(5) names it.
type OS = distro.Release

// Version returns the version of an installed component, or "" where it is not known. A component
// of which only the main version is known has that alone: "2".
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

// parseOSRelease reads os-release(5): shell-like assignments, of which quotes are all the shell
// there is.
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

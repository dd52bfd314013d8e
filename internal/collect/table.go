package collect

import (
	"path"
	"slices"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
)

// The limits of a file and of a journal. The newest part is kept.
const (
	configLimit  = 256 << 10
	logLimit     = 4 << 20
	journalLimit = 4 << 20
)

// Item is a row of the table: a subject, and where the machine has it.
type Item struct {
	// Why is why a supporter wants it.
	Why string
	// Files are patterns of path.Match for regular files, and Limit is how much of the end of each is kept.
	Files []string
	Limit int64
	// Units are units whose records in the journal are wanted. Kernel is for those of the kernel.
	Units  []string
	Kernel bool
	// Systemd is for what systemd knows of itself and its units.
	Systemd bool
}

// Items are what is collected besides the documents, in the order of importance: the limits of the bundle can leave out the last
// ones. The files of each family of nodes are looked for, because a machine can have been made by another program.
func Items() []Item {
	return []Item{
		{Why: "the agent's results and decisions", Files: agentState(), Limit: 1 << 20},
		{Why: "what the agent did", Files: ofFamilies(func(p *profile.Profile) []string {
			return []string{p.Publication.Log, p.Publication.Log + ".1", p.Agent.Output}
		}), Limit: logLimit},
		{Why: "the units of the boot: states, times, order", Systemd: true},
		{Why: "the units that make the machine a node", Units: nodeUnits()},
		{Why: "the kernel's messages", Kernel: true},
		{Why: "how the kubelet is started and configured", Files: append(ofFamilies(func(p *profile.Profile) []string {
			return []string{p.Paths.KubeletEnv, p.Paths.KubeletConfig, p.Paths.KubeletDropIn, p.Command.Metadata, p.Paths.CredentialConfig, p.Attested.Log}
		}), unitFiles("kubelet.service")...), Limit: configLimit},
		{Why: "flags that kubeadm gives the kubelet", Files: []string{"/var/lib/kubelet/kubeadm-flags.env"}, Limit: configLimit},
		{Why: "how containerd is configured", Files: append([]string{
			concern.ContainerdConfig, path.Dir(concern.ContainerdConfig) + "/conf.d/*.toml", concern.RegistriesDir + "/*/hosts.toml",
		}, unitFiles("containerd.service")...), Limit: configLimit},
		{Why: "the network plug-in's configuration", Files: []string{concern.CNIConfDir + "/*.conflist", concern.CNIConfDir + "/*.conf"}, Limit: configLimit},
		{Why: "cloud-init's stages and modules", Files: []string{
			"/var/log/cloud-init.log", "/var/log/cloud-init-output.log", "/run/cloud-init/status.json", "/run/cloud-init/result.json",
			"/run/cloud-init/ds-identify.log", "/run/cloud-init/cloud-id",
		}, Limit: logLimit},
		{Why: "Azure's guest agent and its extensions", Files: []string{ // WALinuxAgent; custom-script-extension-linux: its README
			"/var/log/waagent.log", "/var/log/waagent.log.1", "/var/log/azure/custom-script/handler.log",
			"/var/log/azure/Microsoft.Azure.Extensions.CustomScript/*.log", "/var/log/azure/Microsoft.AKS.Linux.AKSNode/*.log",
			"/var/lib/waagent/custom-script/download/*/stdout", "/var/lib/waagent/custom-script/download/*/stderr",
			"/var/lib/waagent/Microsoft.*/status/*.status",
		}, Limit: logLimit},
		{Why: "events and output of AKS's scripts", Files: append(ofFamilies(func(p *profile.Profile) []string {
			return below(p.Publication.Events.Dir, "*.json")
		}), "/var/log/azure/cluster-provision.log", "/var/log/azure/cluster-provision-cse-output.log", "/var/log/azure/aks/*.log"), Limit: logLimit},
		{Why: "the image", Files: append(ofFamilies(func(p *profile.Profile) []string { return []string{p.Paths.Installed} }),
			"/etc/os-release", "/usr/lib/os-release", components.Path), Limit: configLimit},
		{Why: "names and resolvers", Files: []string{
			"/etc/hosts", "/etc/resolv.conf", "/run/systemd/resolve/resolv.conf", "/run/systemd/resolve/stub-resolv.conf", "/etc/nsswitch.conf",
		}, Limit: configLimit},
		{Why: "routes, addresses and sockets", Files: []string{"/proc/net/route", "/proc/net/ipv6_route", "/proc/net/dev", "/proc/net/tcp", "/proc/net/tcp6"}, Limit: configLimit},
		{Why: "memory, disks and load", Files: []string{
			"/proc/cmdline", "/proc/uptime", "/proc/loadavg", "/proc/meminfo", "/proc/swaps", "/proc/self/mounts", "/proc/diskstats", "/proc/modules",
			"/proc/pressure/cpu", "/proc/pressure/io", "/proc/pressure/memory", "/etc/fstab",
		}, Limit: configLimit},
		{Why: "kernel parameters", Files: append(ofFamilies(func(p *profile.Profile) []string { return []string{p.Paths.Sysctls, p.Paths.Forwarding} }), "/etc/sysctl.conf"), Limit: configLimit},
		{Why: "the operating system's services", Units: systemUnits},
	}
}

// agentState are the agent's own files. The records of generations have the contents of secret files, and the reserve is empty.
func agentState() (paths []string) {
	for _, file := range state.Files() {
		if path.Dir(file.Path) != state.Generations && file != state.Reserve && file != state.Status && file != state.RunStatus && file != state.Authorities {
			paths = append(paths, file.Path)
		}
	}
	return paths
}

// nodeUnits are the units that make the machine a node, of every family.
func nodeUnits() []string {
	units := []string{profile.KubeletUnit, profile.ContainerdUnit, profile.AgentUnit, facts.WatcherUnit}
	units = append(units, ofFamilies(func(p *profile.Profile) []string {
		return append([]string{p.Agent.Unit, p.Kubelet.Prepare, p.Attested.Unit}, p.Host.Bootstrappers...)
	})...)
	return distinct(append(units,
		"cloud-init-local.service", "cloud-init.service", "cloud-init-network.service", "cloud-init-main.service", "cloud-config.service", "cloud-final.service",
		"walinuxagent.service", "waagent.service", "ignition-firstboot-complete.service", "localdns.service", "init.scope"))
}

// systemUnits are services of the operating system that a node depends on.
var systemUnits = []string{
	"systemd-networkd.service", "systemd-networkd-wait-online.service", "systemd-resolved.service", "NetworkManager.service", "NetworkManager-wait-online.service",
	"systemd-timesyncd.service", "chrony.service", "chronyd.service", "systemd-udevd.service", "systemd-logind.service", "nvidia-modprobe.service", "kdump.service",
}

// unitFiles are the places of a unit's file and its drop-ins (systemd.unit(5), "Unit File Load Path").
func unitFiles(unit string) (paths []string) {
	for _, dir := range []string{resource.UnitDir, "/run/systemd/system", "/usr/lib/systemd/system"} {
		paths = append(paths, dir+"/"+unit, dir+"/"+unit+".d/*.conf")
	}
	return paths
}

// ofFamilies are the paths or units of every family.
func ofFamilies(of func(*profile.Profile) []string) (all []string) {
	for _, family := range profile.All() {
		all = append(all, of(family)...)
	}
	return distinct(all)
}

// below is a name in a directory, if there is one.
func below(dir, name string) []string {
	if dir == "" {
		return nil
	}
	return []string{dir + "/" + name}
}

// distinct leaves out empty texts and repetitions.
func distinct(all []string) (first []string) {
	for _, one := range all {
		if one != "" && one != ".1" && !slices.Contains(first, one) {
			first = append(first, one)
		}
	}
	return first
}

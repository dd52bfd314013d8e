// Package place defines where on a machine a plan may have files, directories and links.
//
// It is the only such definition: it validates a contract's paths, the planner plans by it, the engine refuses to write
// without it, and a generation's record is read with it. It checks names only, and knows no machine.
package place

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/slipway-dev/slipway/internal/profile"
)

// Downloads is the directory of downloaded components, each in a subdirectory. Only Slipway uses it.
const Downloads = "/opt/slipway/downloads"

// roots are the directories below which a plan may have something: those for configuration, state and programs
// (file-hierarchy(7)). So neither a contract nor a damaged record can reach anything else, above all not the kernel's
// file systems.
var roots = []string{"/etc/", "/opt/", "/run/", "/usr/", "/var/lib/", "/var/log/"}

// The owners of reserved paths.
const (
	slipway = "is reserved for Slipway"
	system  = "is reserved for the operating system"
	others  = "is where other programs put their files"
)

// BaseContracts are where an image can have a contract that names no cluster. The first one that is there counts. Either name may
// have either format.
var BaseContracts = []string{"/etc/slipway/base.yaml", "/etc/slipway/base.json"}

// reserved are the paths below the roots that a plan must not use. A path with a trailing slash means the directory and
// everything in it.
var reserved = append([]reservation{
	{"/var/lib/slipway/", slipway}, // records: generations, status, identity, intent
	{"/run/slipway/", slipway},     // the lock, the facts
	{"/opt/slipway/", slipway},     // the agent, the image's component manifest
	{BaseContracts[0], slipway},
	{BaseContracts[1], slipway},
	{"/etc/systemd/system/slipway-provision.service", slipway}, // the agent's units
	{"/etc/systemd/system/slipway-provision.service.d/", slipway},
	{"/etc/systemd/system/slipway-provision.path", slipway},
	{"/etc/systemd/system/slipway-provision.path.d/", slipway},
	{"/etc/systemd/system/slipway-watch.service", slipway},
	{"/etc/systemd/system/slipway-watch.service.d/", slipway},

	// Files that decide about logins, and files that every program loads: ld.so(8), passwd(5), shadow(5), sudoers(5),
	// pam.d(5).
	{"/etc/ld.so.cache", system},
	{"/etc/ld.so.conf", system},
	{"/etc/ld.so.conf.d/", system},
	{"/etc/ld.so.preload", system},
	{"/etc/passwd", system},
	{"/etc/group", system},
	{"/etc/shadow", system},
	{"/etc/gshadow", system},
	{"/etc/sudoers", system},
	{"/etc/sudoers.d/", system},
	{"/etc/pam.d/", system},
	{"/etc/machine-id", system},
	// Where other programs keep the sources of a contract: cloud-init, Azure's guest agent, systemd's credentials.
	{"/var/lib/cloud/", system},
	{"/var/lib/waagent/", system},
	{"/run/credentials/", system},
	{"/run/cloud-init/", system},
}, ofFamilies()...)

type reservation struct{ path, whom string }

// ofFamilies are the agent's paths by the names that each family has for them.
func ofFamilies() (all []reservation) {
	for _, p := range profile.All() {
		own := append(p.Contract.Paths(), p.Agent.Program, p.Agent.Launcher, p.Publication.Result, p.Publication.Complete,
			p.Publication.BaseComplete, p.Publication.Log, p.Publication.Log+".1", p.Paths.Installed) // see host.LogFile
		if p.Agent.Logs != "" {
			own = append(own, p.Agent.Logs+"/")
		}
		for _, path := range own {
			if path != "" {
				all = append(all, reservation{path, slipway})
			}
		}
	}
	return all
}

// rootsOfFamilies are the directories of the programs in a family's images.
func rootsOfFamilies() (all []string) {
	for _, p := range profile.All() {
		all = append(all, p.Agent.Root+"/")
	}
	return all
}

// Check returns why a plan must not use a path, or "" if it may. The reason follows the path in a sentence and does not
// repeat it.
func Check(name string) string {
	if name == profile.NodeEnvironment {
		return "" // the only file of a plan in Slipway's directories: like them, it disappears with a boot
	}
	if slices.ContainsFunc(profile.All(), func(p *profile.Profile) bool { return name != "" && p.Command.Helper == name }) {
		return "" // cloud-init does not run files there (cloud-init docs, /var/lib/cloud: scripts)
	}
	if reason := refused(name); reason != "" {
		return reason
	}
	return below(name, roots)
}

// refused returns why a path must not be used by any plan, or "".
func refused(name string) string {
	if !path.IsAbs(name) || path.Clean(name) != name || name == "/" || strings.IndexFunc(name, unicode.IsControl) >= 0 {
		return "is not an absolute path in its shortest form"
	}
	for _, r := range reserved {
		if within(name, r.path) {
			return r.whom
		}
	}
	return ""
}

// below returns "" for a name below one of the roots.
func below(name string, roots []string) string {
	if slices.ContainsFunc(roots, func(root string) bool { return strings.HasPrefix(name, root) }) {
		return ""
	}
	return "must be below one of " + strings.Join(roots, ", ")
}

// within reports whether a name is a path, or is in that directory.
func within(name, of string) bool {
	dir, isDir := strings.CutSuffix(of, "/")
	return name == dir || isDir && strings.HasPrefix(name, of)
}

// Purpose is the purpose of a path in a contract.
type Purpose struct {
	// roots are the directories below which it may be.
	roots []string
	// except are excluded paths below them, like reserved.
	except []string
	// instead are excluded paths with a specific reason.
	instead []reservation
}

// kubeletState are the kubelet's files below its root directory (Kubernetes: Local Files And Paths Used By The
// Kubelet).
var kubeletState = []string{
	"/var/lib/kubelet/actuated_pods_state", "/var/lib/kubelet/allocated_pods_state", "/var/lib/kubelet/checkpoints/",
	"/var/lib/kubelet/cpu_manager_state", "/var/lib/kubelet/device-plugins/", "/var/lib/kubelet/dra_manager_state",
	"/var/lib/kubelet/graceful_node_shutdown_state", "/var/lib/kubelet/image_manager/", "/var/lib/kubelet/memory_manager_state",
	"/var/lib/kubelet/pki/", "/var/lib/kubelet/plugin-containers/", "/var/lib/kubelet/plugins/", "/var/lib/kubelet/plugins_registry/",
	"/var/lib/kubelet/pod_status_manager_state", "/var/lib/kubelet/pod-resources/", "/var/lib/kubelet/pods/", "/var/lib/kubelet/usernsMappings/",
}

// The purposes.
var (
	// CredentialProviderConfig is a file that configures the kubelet's image credential provider. It may be in the
	// directories of a kubelet's configuration, but not where a kubelet runs what it finds (static pods, volume
	// plug-ins), nor among the kubelet's state.
	CredentialProviderConfig = &Purpose{
		roots: []string{"/etc/kubernetes/", "/var/lib/kubelet/", "/etc/eks/image-credential-provider/"},
		except: append(kubeletState,
			"/etc/kubernetes/manifests/", "/etc/kubernetes/volumeplugins/", "/etc/kubernetes/pki/", "/etc/kubernetes/certs/", "/var/lib/kubelet/seccomp/",
		),
	}
	// DataDirectory is a directory that a program fills with reproducible data: images, containers. It may be on any
	// disk, at any mount point, but not in a system directory.
	DataDirectory = &Purpose{
		roots: []string{"/"},
		except: append(rootsOfFamilies(),
			"/bin/", "/boot/", "/dev/", "/etc/", "/lib/", "/lib32/", "/lib64/", "/libx32/", "/lost+found/", "/proc/", "/root/", "/run/",
			"/sbin/", "/sys/", "/tmp/", "/usr/",
			"/var/cache/", "/var/lib/dbus/", "/var/lib/kubelet/", "/var/lib/systemd/", "/var/lock/", "/var/log/", "/var/run/", "/var/spool/", "/var/tmp/",
			"/opt/bin/", "/opt/cni/",
			// Many programs share these; a directory below them may be one program's.
			"/home", "/opt", "/var", "/var/lib",
		),
	}
	// UserFile is a file of the contract's author: a setting of a program, a script, a static pod. It must not be a
	// file that Slipway writes completely or in part, on any node of any family, nor one that a machine needs to boot,
	// or a person to log in, nor a program's state. It survives a boot.
	UserFile = &Purpose{
		roots: []string{"/etc/", "/opt/", "/usr/local/", "/var/lib/"},
		// Seccomp configurations and profiles are not the kubelet's state.
		except: append(append(rootsOfFamilies(), kubeletState...),
			"/usr/local/lib/systemd/",
			"/var/lib/apt/", "/var/lib/containerd/", "/var/lib/dbus/", "/var/lib/dpkg/", "/var/lib/pacman/", "/var/lib/rpm/", "/var/lib/systemd/",
			"/var/lib/etcd/", "/var/lib/sudo/", "/var/lib/polkit-1/", "/var/lib/sss/", "/var/lib/NetworkManager/", "/var/lib/update-manager/",
		),
		instead: append(writtenByFamilies(), userFileInstead...),
	}
)

// Why a user's file must not be somewhere, if there is more to explain than that the path is another program's.
const (
	shared  = "has a part that Slipway writes; use the setting of the contract for it"
	unit    = "is a place of systemd's units; use units"
	login   = "is needed to log in"
	boot    = "is needed to boot"
	machine = "is what the machine is identified or reached by"
)

// userFileInstead are files and directories that are not a user's: hosts(5), environment(5), fstab(5), systemd.unit(5),
// login.defs(5), nsswitch.conf(5), sshd(8), profile(5), crypttab(5), grub-mkconfig(8), mkinitramfs(8), dracut.conf(5).
var userFileInstead = []reservation{
	{"/etc/environment", shared},
	{"/etc/fstab", shared},
	{"/etc/hosts", shared},

	{"/etc/systemd/system/", unit},
	{"/etc/systemd/system.attached/", unit},
	{"/etc/systemd/system.control/", unit},
	{"/etc/systemd/system-environment-generators/", unit},
	{"/etc/systemd/system-generators/", unit},
	{"/etc/systemd/user/", unit},

	{"/etc/bash.bashrc", login},
	{"/etc/bashrc", login},
	{"/etc/doas.conf", login},
	{"/etc/login.defs", login},
	{"/etc/nologin", login},
	{"/etc/nsswitch.conf", login},
	{"/etc/pam.conf", login},
	{"/etc/polkit-1/", login},
	{"/etc/profile", login},
	{"/etc/profile.d/", login},
	{"/etc/security/", login},
	{"/etc/securetty", login},
	{"/etc/shells", login},
	{"/etc/ssh/", login},
	{"/etc/subgid", login},
	{"/etc/subuid", login},
	{"/etc/sudo.conf", login},

	{"/etc/crypttab", boot},
	{"/etc/dracut.conf", boot},
	{"/etc/dracut.conf.d/", boot},
	{"/etc/grub.d/", boot},
	{"/etc/initramfs-tools/", boot},
	{"/etc/inittab", boot},
	{"/etc/selinux/", boot},
	{"/etc/verity/", boot},

	{"/etc/hostname", machine},
	{"/etc/resolv.conf", machine},
}

// writtenByFamilies are the files of a node of each family.
func writtenByFamilies() (all []reservation) {
	for _, p := range profile.All() {
		for _, path := range append(p.Paths.Files(), p.Paths.CredentialConfig, p.Paths.Kubelet, p.Paths.Containerd, p.Paths.Runc,
			p.Command.Metadata, p.Command.Local, p.Command.MaxPods, p.Command.Snap.Script) {
			if path != "" {
				all = append(all, reservation{path, slipway})
			}
		}
	}
	return all
}

// Check returns why a path in a contract must not be used for the purpose, or "" if it may.
func (p *Purpose) Check(name string) string {
	if reason := refused(name); reason != "" {
		return reason
	}
	for _, i := range p.instead {
		if within(name, i.path) {
			return i.whom
		}
	}
	if slices.ContainsFunc(p.except, func(e string) bool { return within(name, e) }) {
		return others
	}
	return below(name, p.roots)
}

// SameSocket reports whether two names mean the same socket: each is a path, or a URL with one, which kubelets treat
// alike (k8s.io/kubernetes v1.36.3 pkg/kubelet/util/util_unix.go, parseEndpointWithFallbackProtocol). /var/run is a
// link to /run (file-hierarchy(7)).
func SameSocket(a, b string) bool { return socketPath(a) == socketPath(b) }

func socketPath(name string) string {
	if rest, isURL := strings.CutPrefix(name, "unix:"); isURL {
		name = strings.TrimPrefix(rest, "//")
	}
	name = path.Clean(name)
	if below, ok := strings.CutPrefix(name, "/var/run/"); ok {
		return "/run/" + below
	}
	return name
}

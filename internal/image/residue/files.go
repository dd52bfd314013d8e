package residue

import (
	"path"
	"strings"
)

// fileRule finds files by their paths.
type fileRule struct {
	rule
	// paths are patterns (path.Match), without the first slash. One that ends in /** matches everything below a directory.
	paths []string
	// except are patterns of files that are right.
	except []string
}

// matches reports whether the rule finds a file.
func (r *fileRule) matches(name string) bool {
	return matchesAny(r.paths, name) && !matchesAny(r.except, name)
}

func matchesAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if matches(p, name) {
			return true
		}
	}
	return false
}

// matches compares a path with a pattern.
func matches(pattern, name string) bool {
	if directory, below := strings.CutSuffix(pattern, "/**"); below {
		depth := strings.Count(directory, "/") + 1
		parts := strings.SplitN(name, "/", depth+1)
		if len(parts) <= depth {
			return false
		}
		pattern, name = directory, strings.Join(parts[:depth], "/")
	}
	matched, err := path.Match(pattern, name)
	return err == nil && matched
}

// files are the rules about files that must not be in an image. Empty files and directories are no residue.
var files = []fileRule{
	// sshd-keygen and cloud-init make keys only if there are none.
	{rule: rule{
		"ssh-host-keys", Error, "all machines of the image would have the same SSH host keys, so that each can pose as any other", "delete the files; the first boot makes new ones"},
		paths: []string{"etc/ssh/ssh_host_*"}},
	{rule: rule{
		"ssh-access", Error, "the owner of the key can log in on each machine of the image", "delete the files; the machine's source of configuration brings keys"},
		paths: []string{"root/.ssh/authorized_keys*", "home/*/.ssh/authorized_keys*", "etc/ssh/authorized_keys*", "etc/ssh/authorized_keys.d/**"}},
	{rule: rule{
		"ssh-private-keys", Error, "each machine of the image has the private key of a person or a program", "delete the files"},
		paths: homes(".ssh/id_*", ".ssh/*.pem", ".ssh/*.key")},
	{rule: rule{
		"login-files", Error, "each machine of the image has the login of a person to a cloud, a registry or a cluster", "delete the files"},
		paths: homes(".aws/**", ".azure/**", ".config/gcloud/**", ".docker/config.json", ".kube/**", ".netrc", ".git-credentials", ".pgpass", ".config/containers/auth.json", ".vault-token")},

	// systemd mixes the seed into the kernel's pool, and deletes it (random-seed.service(8)); the secret encrypts credentials
	// (systemd-creds(1)).
	{rule: rule{
		"random-seed", Error, "all machines of the image would begin with the same seed of the random number generator", "delete the file"},
		paths: []string{"var/lib/systemd/random-seed", "var/lib/urandom/random-seed", "boot/efi/loader/random-seed", "efi/loader/random-seed", "boot/loader/random-seed"}},
	{rule: rule{
		"systemd-secret", Error, "all machines of the image would encrypt systemd's credentials with the same secret", "delete the file"},
		paths: []string{"var/lib/systemd/credential.secret"}},
	{rule: rule{
		"initiator-names", Error, "two machines with the same name of an iSCSI initiator or an NVMe host damage each other's disks", "delete the files, and make new ones at the first boot"},
		paths: []string{"etc/iscsi/initiatorname.iscsi", "etc/nvme/hostnqn", "etc/nvme/hostid"}},
	{rule: rule{
		"runtime-id", Warning, "all machines of the image would name their container runtime alike in its answers and metrics", "delete the file; containerd makes it at its first start"},
		paths: []string{"var/lib/containerd/io.containerd.grpc.v1.introspection/uuid"}},

	// The clean command of cloud-init removes the same files.
	{rule: rule{
		"cloud-init-state", Error, "cloud-init would take the machine for the one on which the image was built, or apply that machine's data", "run cloud-init clean --logs --machine-id --seed in the image, as its last step"},
		paths: []string{"var/lib/cloud/**"}, except: []string{"var/lib/cloud/scripts/**"}},
	{rule: rule{
		"cloud-init-network", Error, "the file names the interfaces of the machine on which the image was built, by their hardware addresses", "delete the file; cloud-init writes it at the first boot"},
		paths: []string{"etc/netplan/50-cloud-init.yaml", "etc/network/interfaces.d/50-cloud-init*", "etc/systemd/network/10-cloud-init-*", "etc/NetworkManager/system-connections/cloud-init-*", "etc/sysconfig/network-scripts/ifcfg-eth*"}},
	{rule: rule{
		"interface-names", Error, "the rule binds the names of interfaces to the hardware of the machine on which the image was built", "delete the file"},
		paths: []string{"etc/udev/rules.d/70-persistent-net.rules", "etc/udev/rules.d/75-persistent-net-generator.rules"}},

	// The Azure Linux agent's deprovision removes the same files, and waagent.conf(5) describes them.
	{rule: rule{
		"azure-agent-state", Error, "Azure's guest agent would take the machine for another one, with that one's certificates and private keys", "run waagent -force -deprovision in the image, as its last step, or delete the files"},
		paths: []string{"var/lib/waagent/**"}},
	{rule: rule{
		"aws-agent-state", Error, "the Systems Manager's agent would register the machine as another one", "delete the files"},
		paths: []string{"var/lib/amazon/ssm/**"}},
	{rule: rule{
		"google-agent-state", Error, "Google's guest agent would take the machine for another one", "delete the files"},
		paths: []string{"var/lib/google/**", "etc/instance_id"}},

	// A DHCP server tells machines apart by these, and gives two with the same DUID the same address.
	{rule: rule{
		"leases", Error, "the machine would ask for the network address of the machine on which the image was built", "delete the files"},
		paths: []string{"var/lib/dhcp/*", "var/lib/dhclient/*", "var/lib/dhcpcd/*", "var/lib/NetworkManager/*.lease", "var/lib/NetworkManager/secret_key", "var/lib/NetworkManager/seen-bssids", "var/lib/NetworkManager/timestamps", "var/lib/systemd/network/**", "var/lib/wicked/**"}},

	// Kubernetes: kubeadm's and the kubelet's own directories. The agent removes what another machine has left, other programs do not.
	{rule: rule{
		"kubelet-credentials", Error, "the machine would join the cluster of another node, with that node's credential", "delete the files; an image must not be made of a node"},
		paths: []string{"var/lib/kubelet/pki/**", "var/lib/kubelet/kubeconfig", "var/lib/kubelet/bootstrap-kubeconfig", "etc/kubernetes/*.conf", "etc/kubernetes/pki/**", "etc/kubernetes/certs/**", "etc/kubernetes/azure.json", "etc/rancher/**"}},
	{rule: rule{
		"node-state", Error, "the machine would start with the pods, volumes and reserved resources of another node", "delete the files; an image must not be made of a node"},
		paths: []string{"var/lib/kubelet/pods/**", "var/lib/kubelet/plugins/**", "var/lib/kubelet/plugins_registry/**", "var/lib/kubelet/cpu_manager_state", "var/lib/kubelet/memory_manager_state", "var/lib/kubelet/device-plugins/**", "var/lib/kubelet/checkpoints/**", "var/lib/cni/**", "var/log/pods/**", "var/log/containers/**"}},
	{rule: rule{
		"control-plane-state", Error, "the image has the database of a control plane, with all secrets of the cluster", "delete the files"},
		paths: []string{"var/lib/etcd/**"}},

	{rule: rule{
		"histories", Warning, "the file shows what a person did on the machine on which the image was built", "delete the file"},
		paths: homes(".*_history", ".lesshst", ".viminfo", ".wget-hsts", ".ssh/known_hosts*", ".sudo_as_admin_successful", ".local/share/recently-used.xbel")},
	{rule: rule{
		"logs", Warning, "the file has the log of the machine on which the image was built", "delete the file, or empty it"},
		paths: []string{"var/log/**"}, except: []string{"var/log/pods/**", "var/log/containers/**", "var/log/azure/aks/provision.json", "var/log/azure/*/events/*"}},
	{rule: rule{
		"temporary-files", Warning, "the file is left over from the build", "delete the file"},
		paths: []string{"tmp/**", "var/tmp/**"}},
	{rule: rule{
		"crashes", Warning, "the file has the memory of a program that crashed in the build", "delete the file"},
		paths: []string{"var/crash/**", "var/lib/systemd/coredump/**", "var/lib/systemd/pstore/**"}},
}

// homes are patterns in the home directories of all users.
func homes(names ...string) (patterns []string) {
	for _, name := range names {
		patterns = append(patterns, "root/"+name, "home/*/"+name)
	}
	return patterns
}

package place_test

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/place"
)

func TestCheck(t *testing.T) {
	const own, others, nowhere, unclean = "is reserved for Slipway", "is reserved for the operating system", "must be below one of", "is not an absolute path in its shortest form"
	for name, want := range map[string]string{
		"/etc/kubernetes/azure.json": "", "/opt/bin/kubelet": "", "/usr/bin/kubelet": "", "/var/lib/kubelet/config.yaml": "", "/run/x": "",
		"/var/log/x": "", "/etc/slipway/features.env": "", "/opt/azure/containers/enabled_features.sh": "",
		"/etc/systemd/system/slipway-retire-credential.path": "", "/var/lib/slipwayx": "", "/etc/passwd-": "", "/opt/slipway.d/x": "",
		"/var/lib/slipway": own, "/var/lib/slipway/x/y": own, "/run/slipway": own, "/run/slipway/x": own, "/run/slipway/node.env": "", "/run/slipway/node.env/x": own, "/opt/slipway/bin/slipway-node": own,
		"/etc/slipway/config.yaml": own, "/etc/systemd/system/slipway-watch.service": own, "/etc/systemd/system/slipway-watch.service.d/x.conf": own,
		"/opt/azure/containers/provision.complete": own, "/var/log/azure/aks/provision.json": own, "/var/log/slipway.log": own, "/var/log/slipway.log.1": own,
		"/etc/shadow": others, "/etc/ld.so.preload": others, "/etc/pam.d/login": others, "/var/lib/cloud/seed/nocloud/user-data": others,
		"/proc/1/mem": nowhere, "/root/.ssh/authorized_keys": nowhere, "/etc": nowhere, "/usr": nowhere, "/var/lib": nowhere, "/etcx/y": nowhere,
		"": unclean, "/": unclean, "etc/x": unclean, "/etc/../x": unclean, "/etc//x": unclean, "/etc/x/": unclean, "/etc/x\x00": unclean, "/etc/x\ny": unclean,
	} {
		if got := place.Check(name); got != want && (want == "" || !strings.HasPrefix(got, want)) {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// No purpose allows a path that is reserved for all.
func TestPurposesAreNarrower(t *testing.T) {
	for purpose, of := range map[string]*place.Purpose{
		"credential provider": place.CredentialProviderConfig, "data": place.DataDirectory, "user's file": place.UserFile,
	} {
		for _, name := range []string{
			"", "/", "/etc", "/etc/shadow", "/etc/ld.so.preload", "/etc/slipway/config.yaml", "/opt/slipway/x", "/run/slipway/x", "/var/lib/slipway", "/proc",
			"/proc/sys/x", "/sys", "/dev/sda", "/usr/bin/x", "/boot", "/var/lib", "/var/lib/kubelet/pods", "/mnt/../etc/shadow",
		} {
			if of.Check(name) == "" {
				t.Errorf("%s: %q is taken", purpose, name)
			}
		}
	}
	for _, of := range []*place.Purpose{place.CredentialProviderConfig, place.DataDirectory} {
		if of.Check("/etc/kubernetes/manifests/x") == "" {
			t.Error("the directory of static pods is allowed, and must not be")
		}
	}
	for _, name := range []string{"/mnt", "/mnt/containerd", "/data", "/nvme/0", "/var/lib/containerd", "/home/containerd", "/opt/containerd"} {
		if reason := place.DataDirectory.Check(name); reason != "" {
			t.Errorf("%s %s", name, reason)
		}
	}
}

// A user's file must not be Slipway's, of any family, nor one that others depend on.
func TestUserFile(t *testing.T) {
	for name, want := range map[string]string{
		"/etc/app.conf": "", "/etc/cron.d/app": "", "/etc/sysctl.d/10-app.conf": "", "/etc/modprobe.d/app.conf": "", "/etc/default/grub.d/app.cfg": "",
		"/etc/kubernetes/manifests/app.yaml": "", "/etc/systemd/journald.conf.d/app.conf": "", "/etc/containerd/certs.d/r.example/hosts.toml": "",
		"/opt/app/run": "", "/usr/local/bin/app": "", "/var/lib/app/x": "", "/var/lib/kubelet/seccomp/profiles/app.json": "",
		"/etc/hosts": "use the setting", "/etc/fstab": "use the setting", "/etc/environment": "use the setting",
		"/etc/systemd/system/a.service": "use units", "/etc/systemd/system": "use units", "/usr/local/lib/systemd/system/a.service": "other programs",
		"/etc/ssh/sshd_config.d/x.conf": "log in", "/etc/pam.d/login": "operating system", "/etc/profile.d/x.sh": "log in", "/etc/nsswitch.conf": "log in",
		"/etc/grub.d/40_x": "boot", "/etc/crypttab": "boot", "/etc/resolv.conf": "reached by", "/etc/hostname": "reached by",
		"/etc/kubernetes/kubelet.conf": "reserved for Slipway", "/var/lib/kubelet/kubeconfig": "reserved for Slipway", "/etc/default/kubelet": "reserved for Slipway",
		"/etc/kubernetes/pki/ca.crt": "reserved for Slipway", "/etc/sysctl.d/99-slipway.conf": "reserved for Slipway", "/opt/azure/containers/x": "other programs",
		"/var/lib/kubelet/pods/x": "other programs", "/var/lib/containerd/x": "other programs",
		"/usr/bin/x": "must be below", "/run/x": "must be below", "/var/log/x": "must be below", "/boot/grub/grub.cfg": "must be below", "/root/x": "must be below",
	} {
		if got := place.UserFile.Check(name); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestSameSocket(t *testing.T) {
	const socket = "/run/containerd/containerd.sock"
	for name, want := range map[string]bool{
		socket: true, "unix://" + socket: true, "unix:" + socket: true, "/var" + socket: true, "unix:///var/run/containerd/containerd.sock": true, socket + "/": true, "/" + socket: true,
		"": false, "unix://": false, "run/containerd/containerd.sock": false, "unix://run/containerd/containerd.sock": false, "tcp://" + socket: false, "/run/crio/crio.sock": false, "/varrun/containerd/containerd.sock": false,
	} {
		if got := place.SameSocket(name, "unix://"+socket); got != want || place.SameSocket(socket, name) != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}

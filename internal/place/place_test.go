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
		"/var/lib/slipway": own, "/var/lib/slipway/x/y": own, "/run/slipway": own, "/run/slipway/x": own, "/opt/slipway/bin/slipway-node": own,
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

// No purpose opens what is closed to everybody.
func TestPurposesAreNarrower(t *testing.T) {
	for purpose, of := range map[string]*place.Purpose{"credential provider": place.CredentialProviderConfig, "data": place.DataDirectory} {
		for _, name := range []string{
			"", "/", "/etc", "/etc/shadow", "/etc/ld.so.preload", "/etc/slipway/config.yaml", "/opt/slipway/x", "/run/slipway/x", "/var/lib/slipway", "/proc",
			"/proc/sys/x", "/sys", "/dev/sda", "/usr/bin/x", "/boot", "/var/lib", "/var/lib/kubelet/pods", "/etc/kubernetes/manifests/x", "/mnt/../etc/shadow",
		} {
			if of.Check(name) == "" {
				t.Errorf("%s: %q is taken", purpose, name)
			}
		}
	}
	for _, name := range []string{"/mnt", "/mnt/containerd", "/data", "/nvme/0", "/var/lib/containerd", "/home/containerd", "/opt/containerd"} {
		if reason := place.DataDirectory.Check(name); reason != "" {
			t.Errorf("%s %s", name, reason)
		}
	}
}

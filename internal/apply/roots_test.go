package apply_test

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/resource"
)

// With a path that no plan may have, nothing is changed, and the error lists all such paths.
func TestRoots(t *testing.T) {
	refused := []string{
		"/", "", "etc/x", "./etc/x", "/etc/../proc/sys/kernel/core_pattern", "/etc/./x", "/etc//x", "/etc/x/", "//etc/x", "/etc/x\x00y", "/etc",
		"/proc/sys/kernel/core_pattern", "/proc/self/mem", "/proc/1/root/etc/x", "/sys/kernel/uevent_helper", "/dev/sda", "/dev/mem", "/dev/shm/x",
		"/boot/grub/grub.cfg", "/root/.ssh/authorized_keys", "/home/u/.ssh/authorized_keys", "/tmp/x", "/var/tmp/x", "/var", "/var/lib", "/var/log",
		"/var/spool/cron/crontabs/root", "/var/www/x", "/mnt/x", "/media/x", "/srv/x", "/bin/sh", "/sbin/init", "/lib/systemd/systemd", "/lib64/x",
		"/etcetera/x", "/optional/x", "/usr", "/usrlocal/x", "/run", "/runner/x", "/var/libx/y", "/var/logx", "/etc/..", "/opt/../x", "/run/../x",
		"/run/slipway/lock", "/var/lib/slipway", "/var/lib/slipway/status.json", "/var/lib/slipway/generations/index.json", "/var/lib/slipway/intent.json",
		"/run/slipway/x", "/var/lib/slipway/x", "/opt/slipway/bin/slipway-node", "/etc/slipway/config.yaml", "/etc/shadow", "/etc/ld.so.preload",
		"..", "../etc/x", "~/x", "$HOME/x", "C:\\x", "file:///etc/x", " /etc/x",
	}
	for _, path := range refused {
		for _, spec := range []resource.Spec{
			&resource.File{Path: path, Mode: 0o644}, &resource.Directory{Path: path, Mode: 0o755}, &resource.Symlink{Path: path, Target: "x"},
		} {
			m := newMemory()
			plan := planOf(spec, &resource.File{Path: "/etc/good", Mode: 0o644})
			err := try(m, plan)
			if err == nil || !strings.Contains(err.Error(), place.Check(path)) {
				t.Errorf("%s %q: %v", spec.Kind(), path, err)
			}
			equal(t, "calls that change something", m.changed(), nil)
			e := engine(m)
			e.Stale = planOf(spec).Resources
			if _, err := e.Apply(t.Context(), planOf()); err == nil {
				t.Errorf("stale %s %q is removed", spec.Kind(), path)
			}
			equal(t, "calls that change something", m.changed(), nil)
		}
	}
	for _, path := range []string{"/etc/x", "/etc/a/b/c", "/opt/x", "/run/systemd/x", "/usr/bin/kubelet", "/var/lib/kubelet/x", "/var/log/x", "/etc/..x", "/etc/x..", "/etc/ x"} {
		m := newMemory()
		applied(t, m, planOf(&resource.File{Path: path, Mode: 0o644}))
	}
}

package facts

import (
	"maps"
	"reflect"
	"testing"
)

func TestCloudInit(t *testing.T) {
	const disabled, arguments = "/etc/cloud/cloud-init.disabled", "/proc/cmdline"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  bool
	}{
		{"not installed", nil, false},
		{"disabled and not installed", map[string]string{disabled: ""}, false},
		{"installed", map[string]string{cloudInitPath: ""}, true},
		{"disabled by its file", map[string]string{cloudInitPath: "", disabled: ""}, false},
		{"disabled by the kernel's arguments", map[string]string{cloudInitPath: "", arguments: "root=/dev/vda1 cloud-init=disabled quiet\n"}, false},
		{"the last argument", map[string]string{cloudInitPath: "", arguments: "quiet cloud-init=disabled\n"}, false},
		{"enabled by the kernel's arguments", map[string]string{cloudInitPath: "", arguments: "cloud-init=enabled\n"}, true},
		{"enabled and disabled", map[string]string{cloudInitPath: "", disabled: "", arguments: "cloud-init=enabled\n"}, false},
		{"another argument", map[string]string{cloudInitPath: "", arguments: "x.cloud-init=disabled cloud-init=disabledX\n"}, true},
	} {
		if got := Gather(machine{files: c.files}).CloudInit; got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

func TestGuestAgent(t *testing.T) {
	for path, want := range map[string]bool{
		"/usr/sbin/waagent": true, "/usr/bin/waagent": true, "/usr/share/oem/bin/waagent": true,
		"/usr/local/bin/waagent": false, "/etc/waagent.conf": false,
	} {
		if got := Gather(machine{files: map[string]string{path: ""}}).GuestAgent; got != want {
			t.Errorf("%s: got %v", path, got)
		}
	}
}

func TestWatcher(t *testing.T) {
	const vendor, local = "/usr/lib/systemd/system/slipway-watch.service", "/etc/systemd/system/slipway-watch.service"
	for _, c := range []struct {
		files map[string]string
		want  string
	}{
		{nil, ""},
		{map[string]string{"/etc/systemd/system/slipway-provision.service": ""}, ""},
		{map[string]string{vendor: ""}, vendor},
		{map[string]string{vendor: "", local: ""}, local},
	} {
		if got := Gather(machine{files: c.files}).Watcher; got != "" {
			t.Errorf("%v: got %q on no cloud", c.files, got)
		}
		files := maps.Clone(azureNode().files)
		maps.Copy(files, c.files)
		if got := Gather(machine{files: files}).Watcher; got != c.want {
			t.Errorf("%v: got %q, want %q", c.files, got, c.want)
		}
	}
}

// The exporter of the DNS cache is looked for where the watcher is.
func TestDNSExporter(t *testing.T) {
	with := maps.Clone(azureNode().files)
	with["/etc/systemd/system/localdns-exporter.socket"] = ""
	if Gather(machine{files: azureNode().files}).DNSExporter || !Gather(machine{files: with}).DNSExporter {
		t.Error("what the image has is not what the facts say")
	}
}

// The fact is what starts at boot, not what runs: the agent can run before systemd-resolved in a boot.
func TestResolvedStartsAtBoot(t *testing.T) {
	const (
		memory  = "/proc/meminfo"
		unit    = "/usr/lib/systemd/system/systemd-resolved.service"
		mask    = "/etc/systemd/system/systemd-resolved.service"
		sysinit = "/etc/systemd/system/sysinit.target.wants/systemd-resolved.service"
	)
	for _, c := range []struct {
		name  string
		files []string
		links map[string]string
		want  *bool
	}{
		{"a directory", []string{sysinit}, nil, nil},
		{"not installed", []string{memory}, nil, new(false)},
		{"disabled", []string{memory, unit}, nil, new(false)},
		{"enabled", []string{memory, unit, sysinit}, nil, new(true)},
		{"enabled in an older systemd", []string{memory, unit, "/etc/systemd/system/multi-user.target.wants/systemd-resolved.service"}, nil, new(true)},
		{"enabled by the vendor", []string{memory, unit, "/usr/lib/systemd/system/multi-user.target.wants/systemd-resolved.service"}, nil, new(true)},
		{"runs, and is not enabled", []string{memory, unit, "/run/systemd/resolve/resolv.conf"}, nil, new(false)},
		{"masked", []string{memory, unit, sysinit}, map[string]string{mask: "/dev/null"}, new(false)},
		{"masked, enabled by the vendor", []string{memory, unit, "/usr/lib/systemd/system/sysinit.target.wants/systemd-resolved.service"}, map[string]string{mask: "/dev/null"}, new(false)},
		{"an administrator's own unit", []string{memory, sysinit}, map[string]string{mask: "/opt/resolved.service"}, new(true)},
	} {
		files := make(map[string]string)
		for _, path := range c.files {
			files[path] = "MemTotal: 1024 kB\n"
		}
		if got := Gather(machine{files: files, links: c.links}).Resolved; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestCgroupVersion(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int
	}{
		{"none", nil, 0},
		{"unified", map[string]string{"/sys/fs/cgroup/cgroup.controllers": "cpu\n"}, 2},
		{"legacy", map[string]string{"/sys/fs/cgroup/systemd/cgroup.procs": "1\n", "/sys/fs/cgroup/memory/cgroup.procs": "1\n"}, 1},
		{"hybrid", map[string]string{"/sys/fs/cgroup/systemd/cgroup.procs": "1\n", "/sys/fs/cgroup/unified/cgroup.controllers": "\n"}, 1},
	} {
		if got := Gather(machine{files: c.files}).CgroupVersion; got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

package runtime

import (
	"encoding/json"
	"strings"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/plan/textfile"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// runtimeSpecPath is the setting that is merged over the specification that containers are started with.
const runtimeSpecPath = "$.runtime.containerd.baseRuntimeSpec"

// runtimeSpecFile has the whole specification (Amazon EKS AMI: nodeadm, base_runtime_spec).
const runtimeSpecFile = "/etc/containerd/base-runtime-spec.json"

// defaultRuntimeSpec is what containerd generates where it is given no file (containerd: pkg/oci/spec.go, populateDefaultUnixSpec;
// "ctr oci spec" prints it), with these differences:
//
//   - The limit of 1024 open files is left out. containerd takes it away from pods' containers, but not where it is given a file
//     (containerd: internal/cri/opts, WithoutDefaultSecuritySettings).
//   - Versions mask more and more paths: 1.7 and 2.0 one more than 1.6.0, 2.2.9 another one. All have the most of them, because
//     runc passes over what is not there. The paths of the machine's single processors (2.2.9) are left out. The kubelet names
//     the masked paths of each container itself, so that this concerns pods' own pause containers.
//   - ociVersion is that of 1.7; 1.6 has 1.0.2-dev, and 2.2 has 1.3.0. The fields that are here are in all of them.
//   - The path in the cgroups is left out, because containerd sets it. CAPS stands for the capabilities.
const defaultRuntimeSpec = `{
"ociVersion": "1.1.0",
"process": {
	"user": {"uid": 0, "gid": 0},
	"cwd": "/",
	"capabilities": {"bounding": CAPS, "effective": CAPS, "permitted": CAPS},
	"noNewPrivileges": true
},
"root": {"path": "rootfs"},
"mounts": [
	{"destination": "/proc", "type": "proc", "source": "proc", "options": ["nosuid", "noexec", "nodev"]},
	{"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "strictatime", "mode=755", "size=65536k"]},
	{"destination": "/dev/pts", "type": "devpts", "source": "devpts", "options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"]},
	{"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": ["nosuid", "noexec", "nodev", "mode=1777", "size=65536k"]},
	{"destination": "/dev/mqueue", "type": "mqueue", "source": "mqueue", "options": ["nosuid", "noexec", "nodev"]},
	{"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev", "ro"]},
	{"destination": "/run", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "strictatime", "mode=755", "size=65536k"]}
],
"linux": {
	"resources": {"devices": [{"allow": false, "access": "rwm"}]},
	"namespaces": [{"type": "pid"}, {"type": "ipc"}, {"type": "uts"}, {"type": "mount"}, {"type": "network"}],
	"maskedPaths": [
		"/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
		"/proc/timer_stats", "/proc/sched_debug", "/sys/firmware", "/sys/devices/virtual/powercap", "/proc/scsi"
	],
	"readonlyPaths": ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]
}
}`

const defaultCapabilities = `["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FSETID", "CAP_FOWNER", "CAP_MKNOD", "CAP_NET_RAW", "CAP_SETGID", "CAP_SETUID",
	"CAP_SETFCAP", "CAP_SETPCAP", "CAP_NET_BIND_SERVICE", "CAP_SYS_CHROOT", "CAP_KILL", "CAP_AUDIT_WRITE"]`

// hasRuntimeSpec reports whether containers are started with another specification than containerd's own.
func hasRuntimeSpec(in *concern.Input) bool {
	return len(in.Config.Runtime.Containerd.BaseRuntimeSpec) > 0 || in.Family.Runtime.OpenFiles != profile.Limit{}
}

// planRuntimeSpec writes the specification. containerd reads it when it starts.
func planRuntimeSpec(in *concern.Input, out *concern.Output) {
	if !hasRuntimeSpec(in) {
		return
	}
	var spec map[string]any
	_ = json.Unmarshal([]byte(strings.ReplaceAll(defaultRuntimeSpec, "CAPS", defaultCapabilities)), &spec) // a case has all of it
	if limit := in.Family.Runtime.OpenFiles; limit != (profile.Limit{}) {
		limits := []any{map[string]any{"type": "RLIMIT_NOFILE", "soft": limit.Soft, "hard": limit.Hard}}
		spec = kubeletsetting.Merge(spec, map[string]any{"process": map[string]any{"rlimits": limits}})
	}
	own := in.Config.Runtime.Containerd.BaseRuntimeSpec
	plain, secret := nodeconfig.Revealed(kubeletsetting.Merge(spec, own))
	out.Guarded(secret, resource.Base, runtimeSpecFile, 0o644, textfile.JSON(plain), "what containerd starts containers with", concern.ContainerdUnit)
	if isolates(in) && len(own) > 0 {
		out.Warn(nodeconfig.Dropped, runtimeSpecPath, "is left out for isolated pods: their containers have the kernel of a guest, and start with the default specification")
	}
}

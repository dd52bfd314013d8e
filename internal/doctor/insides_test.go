package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/cri"
	"github.com/slipway-dev/slipway/internal/doctor"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/grpc"
	"github.com/slipway-dev/slipway/internal/host"
)

// insideChecks are the checks that look at a machine's insides. The others find nothing wrong here.
var insideChecks = []string{
	"read-only", "space", "inodes", "cgroups", "modules", "parameters", "swap", "masked-units", "ordering", "failed-units", "components", "waiting",
	"runtime", "runtime-plugin", "runtime-ready", "cgroup-driver", "sandbox-image", "ports", "kubelet", "kubelet-health", "network-plugin",
	"network-programs", "provisioning", "drift",
}

func insideTable() []doctor.Check {
	checks := slices.Clone(doctor.Checks)
	for i := range checks {
		if !slices.Contains(insideChecks, checks[i].Name) {
			checks[i].Look = func(context.Context, *doctor.Patient) *doctor.Finding { return &doctor.Finding{State: doctor.Fine} }
		}
	}
	return checks
}

// errNoSocket is the error of a socket that is not there, and errSilent that of one whose server does not answer.
var (
	errNoSocket  = fmt.Errorf("ask /run/containerd/containerd.sock: %w", syscall.ENOENT)
	errSilent    = fmt.Errorf("ask /run/containerd/containerd.sock: %w", context.DeadlineExceeded)
	errNotServed = fmt.Errorf("ask /run/containerd/containerd.sock: %w", &grpc.StatusError{Method: "Status", Code: grpc.Unimplemented, Message: "unknown service runtime.v1.RuntimeService"})
	klogged      = func(err string) string {
		return `E1128 11:59:57.123456   812 run.go:72] "command failed" err=` + fmt.Sprintf("%q", err)
	}
	noNetwork   = []cri.Condition{{Type: cri.RuntimeReady, Status: true}, {Type: cri.NetworkReady, Reason: "NetworkPluginNotReady", Message: "Network plugin returns error: cni plugin not initialized"}}
	fileChanged = apply.Change{ID: "File:/etc/crictl.yaml", Action: apply.Updated}
)

// withoutNetwork removes the network plug-in's configuration.
func withoutNetwork(m *insides) {
	m.conditions = noNetwork
	delete(m.tree, "/etc/cni/net.d/10-bridge.conflist")
}

func networkPod(m *insides, name string, containers ...cri.Container) {
	withoutNetwork(m)
	m.sandboxes = append(m.sandboxes, cri.Sandbox{ID: "n", Name: name, Namespace: "kube-system", Ready: true, Created: now.Add(-time.Hour)})
	m.containers["n"] = containers
}

// crashing makes the kubelet end again and again, with last words.
func crashing(m *insides, lines ...string) {
	m.units["kubelet.service"] = loops()
	m.journal["kubelet.service"] = append([]string{"Started kubelet.service - kubelet."}, append(lines,
		"kubelet.service: Main process exited, code=exited, status=1/FAILURE", "kubelet.service: Failed with result 'exit-code'.")...)
	m.healthz = syscall.ECONNREFUSED
	m.listeners = nil
}

func provisions(m *insides, lines ...string) {
	m.units["slipway-provision.service"] = host.ExaminedUnit{UnitState: apply.UnitState{LoadState: "loaded", ActiveState: "active", SubState: "running"}, Since: now.Add(-time.Minute)}
	m.units["kubelet.service"] = rests("inactive", "dead")
	m.journal["slipway-provision.service"] = lines
	delete(m.tree, "/var/lib/slipway/status.json")
	m.healthz, m.listeners = syscall.ECONNREFUSED, nil
	withoutNetwork(m)
}

// insideIllnesses are faults of a machine. Each changes a healthy one.
var insideIllnesses = []struct {
	name string
	make func(m *insides, p *doctor.Patient)
}{
	{"healthy", func(*insides, *doctor.Patient) {}},
	{"the kernel has made the disk read-only", func(m *insides, _ *doctor.Patient) {
		m.tree["/proc/1/mountinfo"] = "1 0 8:1 / / rw,relatime shared:1 - ext4 /dev/vda1 ro\n"
		m.disks["/"] = host.FileSystem{Size: 30 << 30, Free: 20 << 30, Inodes: 2, FreeInodes: 1, ReadOnly: true}
		m.disks["/run"] = host.FileSystem{Size: 1 << 30, Free: 1 << 30}
		crashing(m, klogged("open /var/lib/kubelet/x: read-only file system"))
	}},
	{"the kubelet's directory is mounted read-only", func(m *insides, _ *doctor.Patient) {
		m.tree["/proc/1/mountinfo"] += `3 1 8:2 / /var/lib/kubelet ro,noatime - xfs /dev/my\040disk rw` + "\n"
		m.disks["/var/lib/kubelet"] = host.FileSystem{Size: 1 << 30, Free: 1 << 30, ReadOnly: true}
	}},
	{"a read-only root by design", func(m *insides, _ *doctor.Patient) {
		m.disks["/etc"] = host.FileSystem{Size: 1 << 30, ReadOnly: true}
	}},
	{"the disk is full", func(m *insides, _ *doctor.Patient) {
		m.disks["/"] = host.FileSystem{Size: 30 << 30, Inodes: 2_000_000, FreeInodes: 1_900_000}
		crashing(m, klogged("no space left on device"))
	}},
	{"the kubelet evicts", func(m *insides, _ *doctor.Patient) {
		m.disks["/"] = host.FileSystem{Size: 30 << 30, Free: 2 << 30, Inodes: 2_000_000, FreeInodes: 1_900_000}
	}},
	{"images have too little space", func(m *insides, _ *doctor.Patient) {
		m.disks["/var/lib/containerd"] = host.FileSystem{Size: 30 << 30, Free: 1 << 30, Inodes: 2_000_000, FreeInodes: 1_900_000}
	}},
	{"no inodes", func(m *insides, _ *doctor.Patient) {
		m.disks["/"] = host.FileSystem{Size: 30 << 30, Free: 20 << 30, Inodes: 2_000_000}
	}},
	{"few inodes", func(m *insides, _ *doctor.Patient) {
		m.disks["/"] = host.FileSystem{Size: 30 << 30, Free: 20 << 30, Inodes: 2_000_000, FreeInodes: 50_000}
	}},
	{"btrfs counts no inodes", func(m *insides, _ *doctor.Patient) {
		m.disks["/"] = host.FileSystem{Size: 30 << 30, Free: 20 << 30}
	}},
	{"control groups of version 1", func(m *insides, p *doctor.Patient) {
		gathered := p.Gather()
		gathered.CgroupVersion = 1
		p.Gather = func() facts.Facts { return gathered }
		crashing(m, klogged("kubelet is configured to not run on a host using cgroup v1"))
	}},
	{"no memory controller", func(m *insides, _ *doctor.Patient) {
		m.tree["/sys/fs/cgroup/cgroup.controllers"] = "cpuset cpu io pids\n"
	}},
	{"a denied module", func(m *insides, _ *doctor.Patient) {
		m.modules["br_netfilter"] = false
		m.tree["/etc/modprobe.d/hardening.conf"] = "# install overlay /bin/false\ninstall br-netfilter /bin/false\n"
	}},
	{"a missing module", func(m *insides, _ *doctor.Patient) { m.modules["overlay"] = false }},
	{"another parameter", func(m *insides, _ *doctor.Patient) { m.sysctls["vm.overcommit_memory"] = "2" }},
	{"protected parameters", func(m *insides, _ *doctor.Patient) {
		m.tree["/var/lib/kubelet/config.yaml"] += "protectKernelDefaults: true\n"
		m.sysctls["vm.panic_on_oom"], m.sysctls["kernel.panic"] = "0", "0"
	}},
	{"swap", func(m *insides, _ *doctor.Patient) {
		m.tree["/proc/swaps"] += "/swap.img file 1048572 0 -2\n"
		crashing(m, klogged("failed to run Kubelet: running with swap on is not supported, please disable swap or set --fail-swap-on flag to false"))
	}},
	{"swap that the kubelet allows", func(m *insides, _ *doctor.Patient) {
		m.tree["/proc/swaps"] += "/swap.img file 1048572 0 -2\n"
		m.tree["/var/lib/kubelet/config.yaml"] += "failSwapOn: false\n"
	}},
	{"a masked kubelet", func(m *insides, _ *doctor.Patient) {
		m.tree["/etc/systemd/system/kubelet.service"] = "-> /dev/null"
		m.units["kubelet.service"] = host.ExaminedUnit{UnitState: apply.UnitState{LoadState: "masked", ActiveState: "inactive", SubState: "dead"}}
	}},
	{"a kubelet that is masked below its own unit", func(m *insides, _ *doctor.Patient) {
		m.tree["/etc/systemd/system/kubelet.service"] = "[Service]\nExecStart=/usr/bin/kubelet --config=/var/lib/kubelet/config.yaml\n"
		m.tree["/run/systemd/system/kubelet.service"] = "-> /dev/null"
	}},
	{"an ordering cycle", func(m *insides, _ *doctor.Patient) {
		m.units["kubelet.service"] = rests("inactive", "dead")
		m.journal["init.scope"] = []string{
			"containerd.service: Found ordering cycle on kubelet.service/start", "containerd.service: Found dependency on containerd.service/start",
			"containerd.service: Job kubelet.service/start deleted to break ordering cycle starting with containerd.service/start",
		}
	}},
	{"a kubelet that has run since an ordering cycle", func(m *insides, _ *doctor.Patient) {
		m.units["kubelet.service"] = rests("inactive", "dead")
		m.journalled = now.Add(-2 * time.Hour)
		m.journal["init.scope"] = []string{"containerd.service: Job kubelet.service/start deleted to break ordering cycle starting with containerd.service/start"}
	}},
	{"an ordering cycle of others", func(m *insides, _ *doctor.Patient) {
		m.journal["init.scope"] = []string{"a.service: Job b.service/start deleted to break ordering cycle starting with a.service/start"}
	}},
	{"a failed unit of the plan", func(m *insides, _ *doctor.Patient) {
		m.units["slipway-watch.service"] = host.ExaminedUnit{UnitState: apply.UnitState{LoadState: "loaded", ActiveState: "failed", SubState: "failed", Result: "exit-code"}, ExitCode: 2}
		m.journal["slipway-watch.service"] = []string{"cannot watch: --token=abcdef.0123456789abcdef", "slipway-watch.service: Failed with result 'exit-code'."}
	}},
	{"a failed unit that the kubelet requires", func(m *insides, _ *doctor.Patient) {
		m.units["slipway-watch.service"] = host.ExaminedUnit{UnitState: apply.UnitState{LoadState: "loaded", ActiveState: "failed", SubState: "failed", Result: "exit-code"}, ExitCode: 1}
		m.units["kubelet.service"] = rests("inactive", "dead")
	}},
	{"the kubelet's program is missing", func(m *insides, _ *doctor.Patient) {
		delete(m.tree, "/usr/bin/kubelet")
		crashing(m, "kubelet.service: Failed at step EXEC spawning /usr/bin/kubelet: No such file or directory")
	}},
	{"another kubelet than the manifest's", func(m *insides, _ *doctor.Patient) {
		m.tree["/opt/slipway/components.json"] = `{"apiVersion":"slipway.dev/v1","kind":"ComponentManifest","components":[` +
			`{"name":"kubelet","version":"1.36.3","path":"/usr/bin/kubelet","sha256":"` + strings.Repeat("b", 64) + `"}]}`
	}},
	{"a damaged manifest", func(m *insides, _ *doctor.Patient) { m.tree["/opt/slipway/components.json"] = "{" }},
	{"a provisioning without a contract", func(m *insides, _ *doctor.Patient) {
		provisions(m, `{"level":"INFO","msg":"still waiting","waiting":"a contract (file: none; azure-imds: HTTP status 404)"}`)
	}},
	{"a provisioning that begins to wait for something else", func(m *insides, p *doctor.Patient) {
		provisions(m, `{"level":"INFO","msg":"still waiting","waiting":"Check:api-server for 10s"}`)
		drifts(p)
	}},
	{"a provisioning that runs", func(m *insides, p *doctor.Patient) {
		provisions(m, `{"level":"INFO","msg":"applying"}`)
		drifts(p)
	}},
	{"a provisioning that waits", func(m *insides, p *doctor.Patient) {
		provisions(m)
		drifts(p)
		m.tree["/run/slipway/waiting"] = "2026-11-28T11:59:55Z Check:api-server for 1m10s: connection refused"
	}},
	{"a provisioning that ends while the doctor looks", func(m *insides, p *doctor.Patient) {
		m.units["slipway-provision.service"] = runs()
		m.tree["/run/slipway/waiting"] = "2026-11-28T11:59:55Z Check:api-server for 1m10s: connection refused"
		m.once = map[string]*atomic.Bool{"/run/slipway/waiting": new(atomic.Bool)}
		planned, _ := p.Current()
		planned.Unfinished = true
		p.Current = func() (*doctor.Planned, error) { return planned, nil }
	}},
	{"a provisioning that begins to wait while the doctor looks", func(m *insides, p *doctor.Patient) {
		provisions(m, `{"level":"INFO","msg":"applying"}`)
		drifts(p)
		m.tree["/run/slipway/waiting"] = "2026-11-28T11:59:55Z Check:api-server for 10s: connection refused"
		m.late = map[string]*atomic.Bool{"/run/slipway/waiting": new(atomic.Bool)}
	}},
	{"a record of waiting that was left", func(m *insides, _ *doctor.Patient) {
		m.tree["/run/slipway/waiting"] = "2026-11-28T11:00:00Z Check:api-server for 1m10s"
	}},
	{"containerd is stopped", func(m *insides, _ *doctor.Patient) {
		m.runtime, m.units["containerd.service"] = errNoSocket, rests("inactive", "dead")
		crashing(m, klogged("failed to run Kubelet: validate service connection: validate CRI v1 runtime API"))
	}},
	{"containerd ends again and again", func(m *insides, _ *doctor.Patient) {
		m.runtime, m.units["containerd.service"] = errNoSocket, loops()
		m.journal["containerd.service"] = []string{"containerd: failed to load TOML: /etc/containerd/config.toml: toml: unknown key", "containerd.service: Failed with result 'exit-code'."}
	}},
	{"containerd hangs", func(m *insides, _ *doctor.Patient) { m.runtime = errSilent }},
	{"containerd is missing", func(m *insides, _ *doctor.Patient) {
		m.runtime = errNoSocket
		delete(m.units, "containerd.service")
	}},
	{"containerd listens elsewhere", func(m *insides, _ *doctor.Patient) { m.runtime = errNoSocket }},
	{"containerd starts", func(m *insides, _ *doctor.Patient) {
		young := runs()
		young.Since = now.Add(-time.Second)
		m.runtime, m.units["containerd.service"] = errNoSocket, young
	}},
	{"containerd, started when the clock was a year ahead, listens elsewhere", func(m *insides, _ *doctor.Patient) {
		early := runs()
		early.Since = now.AddDate(1, 0, 0)
		m.runtime, m.units["containerd.service"] = errNoSocket, early
	}},
	{"the CRI plug-in is disabled", func(m *insides, _ *doctor.Patient) {
		m.runtime = errNotServed
		m.tree["/etc/containerd/config.toml"] = "disabled_plugins = ['cri']\n"
	}},
	{"the CRI plug-in is not loaded", func(m *insides, _ *doctor.Patient) {
		m.runtime = errNotServed
		m.journal["containerd.service"] = []string{`level=warning msg="failed to load plugin" error="invalid cri image config" id=io.containerd.grpc.v1.cri`}
	}},
	{"the runtime is not ready", func(m *insides, _ *doctor.Patient) {
		m.conditions = []cri.Condition{{Type: cri.RuntimeReady, Reason: "ContainerdHasDeprecationWarnings", Message: "x"}}
	}},
	{"different cgroup drivers", func(m *insides, p *doctor.Patient) {
		m.tree["/etc/containerd/config.toml"] = strings.ReplaceAll(m.tree["/etc/containerd/config.toml"], "true", "false")
	}},
	{"a kubelet that takes the runtime's driver", func(m *insides, _ *doctor.Patient) { m.driver = "cgroupfs" }},
	{"the sandbox image cannot be pulled", func(m *insides, _ *doctor.Patient) {
		m.images = nil
		m.journal["kubelet.service"] = []string{klogged(`rpc error: code = Unknown desc = failed to get sandbox image "registry.k8s.io/pause:3.10": failed to pull image: 403 Forbidden`)}
	}},
	{"the sandbox image is not there yet", func(m *insides, _ *doctor.Patient) { m.images = nil }},
	{"port 10250 is taken", func(m *insides, _ *doctor.Patient) {
		crashing(m, klogged("failed to run Kubelet: listen tcp 0.0.0.0:10250: bind: address already in use"))
		m.listeners = map[uint16]*host.Process{10250: {PID: 77, Name: "nginx", Unit: "nginx.service"}}
	}},
	{"the read-only port is taken", func(m *insides, _ *doctor.Patient) {
		m.tree["/var/lib/kubelet/config.yaml"] += "readOnlyPort: 10255\n"
		m.listeners[10255] = &host.Process{PID: 77, Name: "python3"}
	}},
	{"an unknown flag", func(m *insides, _ *doctor.Patient) {
		crashing(m, klogged("failed to parse kubelet flag: unknown flag: --network-plugin"))
	}},
	{"a refused setting", func(m *insides, _ *doctor.Patient) {
		crashing(m, klogged("failed to validate kubelet configuration, error: invalid configuration: maxPods (maxPods) -1 must not be a negative number, path: &TypeMeta{Kind:,APIVersion:,}"))
	}},
	{"a refused setting that was cut", func(m *insides, _ *doctor.Patient) {
		crashing(m, `E1128 11:59:57.123456   812 run.go:72] "command failed" err="failed to load kubelet config file, path: /x, error: strict decoding error: unknown field \"foo`)
	}},
	{"an unknown feature gate", func(m *insides, _ *doctor.Patient) {
		crashing(m, klogged(`failed to set feature gates from initial flags-based config: unrecognized feature gate: Foo`))
	}},
	{"no configuration of the kubelet", func(m *insides, _ *doctor.Patient) {
		crashing(m, klogged(`failed to load kubelet config file, path: /var/lib/kubelet/config.yaml, error: failed to load Kubelet config file /var/lib/kubelet/config.yaml, error failed to read kubelet config file "/var/lib/kubelet/config.yaml", error: open /var/lib/kubelet/config.yaml: no such file or directory`))
	}},
	{"the kubelet ends for another reason", func(m *insides, _ *doctor.Patient) {
		crashing(m, klogged("failed to run Kubelet: no client provided"), "Flag --x has been deprecated")
	}},
	{"the kubelet has just started again, and has logged its flags", func(m *insides, _ *doctor.Patient) {
		crashing(m, klogged("failed to run Kubelet: no client provided"))
		state := loops()
		state.ActiveState, state.SubState, state.ExitCode, state.Result = "active", "running", 0, "success"
		m.units["kubelet.service"] = state
		for i := range 150 {
			m.journal["kubelet.service"] = append(m.journal["kubelet.service"], fmt.Sprintf("I1128 11:59:58.%06d 813 flags.go:64] FLAG: --x=\"%d\"", i, i))
		}
	}},
	{"the kubelet is killed", func(m *insides, _ *doctor.Patient) {
		crashing(m, "I1128 11:59:57.123456   812 kubelet.go:1] \"Starting\"")
		killed := loops()
		killed.Killed, killed.ExitCode, killed.Result = true, 9, "signal"
		m.units["kubelet.service"] = killed
	}},
	{"a kubelet for another architecture", func(m *insides, _ *doctor.Patient) {
		crashing(m, "kubelet.service: Failed at step EXEC spawning /usr/bin/kubelet: Exec format error")
		state := loops()
		state.ExitCode = 203
		m.units["kubelet.service"] = state
	}},
	{"the kubelet is stopped", func(m *insides, _ *doctor.Patient) {
		m.units["kubelet.service"] = rests("inactive", "dead")
		m.healthz, m.listeners = syscall.ECONNREFUSED, nil
	}},
	{"no kubelet", func(m *insides, _ *doctor.Patient) {
		delete(m.units, "kubelet.service")
		delete(m.tree, "/etc/systemd/system/kubelet.service")
		m.healthz, m.listeners = syscall.ECONNREFUSED, nil
	}},
	{"a kubelet that has been restarted, and runs", func(m *insides, _ *doctor.Patient) {
		state := runs()
		state.Restarts, state.Since = 4, now.Add(-time.Second)
		m.units["kubelet.service"] = state
	}},
	{"a loop, seen while the kubelet runs", func(m *insides, _ *doctor.Patient) {
		crashing(m, klogged("failed to parse kubelet flag: unknown flag: --foo"))
		state := runs()
		state.Restarts, state.Since = 4, now.Add(-time.Second)
		m.units["kubelet.service"] = state
	}},
	{"the kubelet does not answer", func(m *insides, _ *doctor.Patient) { m.healthz = context.DeadlineExceeded }},
	{"the kubelet is not healthy", func(m *insides, _ *doctor.Patient) {
		m.healthz, m.answered = errors.New("answers with HTTP status 500: [-]syncloop failed"), true
	}},
	{"the kubelet starts", func(m *insides, _ *doctor.Patient) {
		state := runs()
		state.Since = now.Add(-time.Second)
		m.units["kubelet.service"], m.healthz = state, syscall.ECONNREFUSED
	}},
	{"no network plug-in", func(m *insides, _ *doctor.Patient) { withoutNetwork(m) }},
	{"the network plug-in's image cannot be pulled", func(m *insides, _ *doctor.Patient) {
		networkPod(m, "calico-node-x7x7x")
		m.journal["kubelet.service"] = []string{
			`E1128 11:59:57.123456 812 pod_workers.go:1301] "Error syncing pod, skipping" err="failed to \"StartContainer\" for \"upgrade-ipam\" with ImagePullBackOff: \"Back-off pulling image \\\"docker.io/calico/cni:v3.30\\\": ErrImagePull: toomanyrequests\"" pod="kube-system/calico-node-x7x7x" podUID="1"`,
		}
	}},
	{"the network plug-in's container ends", func(m *insides, _ *doctor.Patient) {
		networkPod(m, "azure-cns-abcde", cri.Container{ID: "c1", Name: "cns-container", Attempt: 4, State: cri.Exited}, cri.Container{ID: "c0", Name: "cns-container", Attempt: 3, State: cri.Exited})
		m.ends["c1"] = cri.Ended{Code: 1, Reason: "Error", Message: "cannot reach wire server"}
	}},
	{"the network plug-in waits", func(m *insides, _ *doctor.Patient) {
		networkPod(m, "cilium-abcde", cri.Container{ID: "c1", Name: "cilium-agent", State: cri.Running}, cri.Container{ID: "c2", Name: "install", State: cri.Exited})
	}},
	{"the network plug-in starts", func(m *insides, _ *doctor.Patient) {
		networkPod(m, "kube-flannel-ds-abcde", cri.Container{ID: "c1", Name: "kube-flannel", State: cri.Running})
		m.sandboxes[1].Created = now.Add(-time.Second)
	}},
	{"the network plug-in's container is not started", func(m *insides, _ *doctor.Patient) { networkPod(m, "aws-node-abcde") }},
	{"only the operator of a network plug-in", func(m *insides, _ *doctor.Patient) {
		networkPod(m, "cilium-operator-abcde-xyz", cri.Container{ID: "c1", Name: "cilium-operator", State: cri.Running})
	}},
	{"the network plug-in's pod has no sandbox", func(m *insides, _ *doctor.Patient) {
		withoutNetwork(m)
		m.journal["kubelet.service"] = []string{`E1128 11:59:57.123456 812 pod_workers.go:1301] "Error syncing pod, skipping" err="failed to \"CreatePodSandbox\" for \"kindnet-abcde_kube-system(1)\" with CreatePodSandboxError" pod="kube-system/kindnet-abcde" podUID="1"`}
	}},
	{"a damaged network configuration", func(m *insides, _ *doctor.Patient) {
		m.conditions, m.tree["/etc/cni/net.d/10-bridge.conflist"] = noNetwork, "{"
	}},
	{"a network configuration that is not loaded", func(m *insides, _ *doctor.Patient) { m.conditions = noNetwork }},
	{"a missing network program", func(m *insides, _ *doctor.Patient) { delete(m.tree, "/opt/cni/bin/portmap") }},
	{"the provisioning has failed", func(m *insides, p *doctor.Patient) {
		drifts(p)
		m.tree["/var/lib/slipway/status.json"] = `{"apiVersion":"slipway.dev/v1","kind":"ProvisionStatus","outcome":"failure","exitCode":50,"codeName":"ERR_OUTBOUND_CONN_FAIL",` +
			`"error":{"resource":"Check:outbound","message":"timed out","endpoint":"https://mcr.microsoft.com","action":"open the way"},"errors":[{"resource":"Check:outbound","message":"timed out"}]}`
	}},
	{"the provisioning has failed before it started the kubelet", func(m *insides, _ *doctor.Patient) {
		m.tree["/var/lib/slipway/status.json"] = `{"apiVersion":"slipway.dev/v1","kind":"ProvisionStatus","outcome":"failure","exitCode":50,"codeName":"ERR_OUTBOUND_CONN_FAIL",` +
			`"error":{"message":"no contract","action":"deliver one"},"errors":[{"message":"no contract"}]}`
		never := rests("inactive", "dead")
		never.Since = time.Time{}
		m.units["kubelet.service"] = never
		m.healthz, m.listeners = syscall.ECONNREFUSED, nil
	}},
	{"a change has not ended well", func(_ *insides, p *doctor.Patient) {
		planned, _ := p.Current()
		planned.Unfinished, planned.Reason = true, "the agent died"
		p.Current = func() (*doctor.Planned, error) { return planned, nil }
	}},
	{"drift", func(_ *insides, p *doctor.Patient) { drifts(p) }},
	{"what an administrator has added", func(_ *insides, p *doctor.Patient) {
		p.Drift = func(context.Context) ([]apply.Change, error) {
			return []apply.Change{{ID: "Addition:/etc/systemd/system/kubelet.service.d/x.conf", Action: apply.Left, Note: "an administrator's"}}, nil
		}
	}},
	{"a node of kubeadm", func(m *insides, p *doctor.Patient) { becomeForeign(m, p) }},
	{"a node of kubeadm that does not forward", func(m *insides, p *doctor.Patient) {
		becomeForeign(m, p)
		m.sysctls["net.ipv4.ip_forward"] = "0"
	}},
	{"an AKS node whose scripts have failed", func(m *insides, p *doctor.Patient) {
		becomeForeign(m, p)
		m.tree["/var/log/azure/aks/provision.json"] = `{"ExitCode":"50","Output":"+ nc -vz mcr.microsoft.com 443","Error":"","ExecDuration":"3"}`
	}},
}

// drifts has a file differ from the machine's plan.
func drifts(p *doctor.Patient) {
	p.Drift = func(context.Context) ([]apply.Change, error) {
		return []apply.Change{fileChanged, {ID: "Addition:/etc/systemd/system/kubelet.service.d/x.conf", Action: apply.Left, Note: "an administrator's"}}, nil
	}
}

// Each fault has its verdict, and no other one beside it.
func TestIllnesses(t *testing.T) {
	var got strings.Builder
	checks := insideTable()
	for _, illness := range insideIllnesses {
		m, p := wellNode()
		illness.make(m, p)
		p.Machine = m
		report := doctor.Examine(t.Context(), checks, p)
		fmt.Fprintf(&got, "# %s: %s\n", illness.name, report.Health)
		for _, c := range report.Checks {
			if c.State == doctor.Wrong {
				fmt.Fprintf(&got, "%s, %s: %s\n  next step: %s\n", c.Check, c.Cause, c.Verdict, c.Action)
			}
			if c.State == doctor.Unknown {
				fmt.Fprintf(&got, "%s, not known: %s\n", c.Check, c.Verdict)
			}
			if c.State == doctor.Wrong && c.Action == "" {
				t.Errorf("%s: %s has the cause %q, which is not in the table", illness.name, c.Check, c.Cause)
			}
		}
		if n := len(report.Wrong()); n > 1 {
			t.Errorf("%s: %d faults", illness.name, n)
		}
	}
	golden(t, "testdata/insides.txt", got.String())
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// Each cause of these checks is found on a machine that has it.
func TestEachCauseIsFound(t *testing.T) {
	found := make(map[string]bool)
	for _, illness := range insideIllnesses {
		m, p := wellNode()
		illness.make(m, p)
		p.Machine = m
		for _, c := range doctor.Examine(t.Context(), insideTable(), p).Wrong() {
			found[c.Check+" "+c.Cause] = true
		}
	}
	for _, check := range doctor.Checks {
		for _, cause := range check.Causes {
			if slices.Contains(insideChecks, check.Name) && !found[check.Name+" "+cause.Name] {
				t.Errorf("no illness has the cause %s of %s", cause.Name, check.Name)
			}
		}
	}
}

package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/cri"
	"github.com/slipway-dev/slipway/internal/doctor"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/resource"
)

// insides are a machine's insides that a test controls. The zero value of an error is an answer.
type insides struct {
	tree
	doctor.Surroundings
	units   map[string]host.ExaminedUnit
	journal map[string][]string
	// journalled is the time of all lines of the journal.
	journalled time.Time
	disks      map[string]host.FileSystem
	listeners  map[uint16]*host.Process
	healthz    error
	answered   bool
	sysctls    map[string]string
	modules    map[string]bool
	digests    map[string]string

	conditions []cri.Condition
	runtime    error
	driver     string
	sandboxes  []cri.Sandbox
	containers map[string][]cri.Container
	ends       map[string]cri.Ended
	images     map[string]bool
	// once are files that are gone when they have been read, and late those that are there only then.
	once, late map[string]*atomic.Bool
}

func (m *insides) ReadFile(path string, limit int64) ([]byte, error) {
	read, late := m.once[path], m.late[path]
	if read != nil && read.Swap(true) || late != nil && !late.Swap(true) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return m.tree.ReadFile(path, limit)
}

// Stat reports that a text that begins with "#!" is a program.
func (m *insides) Stat(path string) (apply.Entry, error) {
	entry, err := m.tree.Stat(path)
	if strings.HasPrefix(m.tree[path], "#!") {
		entry.Mode = 0o755
	}
	return entry, err
}

func (m *insides) Examine(_ context.Context, unit string) (*host.ExaminedUnit, error) {
	found, has := m.units[unit]
	if !has {
		found.UnitState = apply.UnitState{LoadState: "not-found", ActiveState: "inactive", SubState: "dead"}
	}
	return &found, nil
}

func (m *insides) FailedUnits(context.Context) ([]string, error) {
	var failed []string
	for _, unit := range slices.Sorted(maps.Keys(m.units)) {
		if m.units[unit].ActiveState == "failed" {
			failed = append(failed, unit)
		}
	}
	return failed, nil
}

func (m *insides) Search(_ context.Context, unit string, words ...string) ([]string, error) {
	lines := slices.DeleteFunc(slices.Clone(m.journal[unit]), func(line string) bool {
		return len(words) > 0 && !slices.ContainsFunc(words, func(word string) bool { return strings.Contains(line, word) })
	})
	return lines[max(0, len(lines)-40):], nil
}

func (m *insides) SearchSince(ctx context.Context, since time.Time, unit string, words ...string) ([]string, error) {
	if since.After(m.journalled) {
		return nil, nil
	}
	return m.Search(ctx, unit, words...)
}

func (m *insides) FileSystem(path string) (host.FileSystem, error) {
	if disk, has := m.disks[path]; has {
		return disk, nil
	}
	return m.disks["/"], nil
}

func (m *insides) Listener(_ context.Context, port uint16) (*host.Process, error) {
	return m.listeners[port], nil
}

func (m *insides) AskHealthz(_ context.Context, url string) (bool, error) {
	if m.healthz != nil {
		return m.answered, fmt.Errorf("%s %w", url, m.healthz)
	}
	return true, nil
}

func (m *insides) Sysctl(key string) (string, error) {
	value, has := m.sysctls[key]
	if !has {
		return "", fmt.Errorf("sysctl %s: %w", key, fs.ErrNotExist)
	}
	return value, nil
}

func (m *insides) ModuleLoaded(module string) (bool, error) { return m.modules[module], nil }

func (m *insides) Digest(path string, _ int64) (string, error) { return m.digests[path], nil }

func (m *insides) RuntimeConditions(context.Context, string) ([]cri.Condition, error) {
	return m.conditions, m.runtime
}

func (m *insides) CgroupDriver(context.Context, string) (string, error) { return m.driver, m.runtime }

func (m *insides) Sandboxes(context.Context, string) ([]cri.Sandbox, error) { return m.sandboxes, nil }

func (m *insides) Containers(_ context.Context, _, sandbox string) ([]cri.Container, error) {
	return m.containers[sandbox], nil
}

func (m *insides) ContainerEnd(_ context.Context, _, container string) (cri.Ended, error) {
	return m.ends[container], nil
}

func (m *insides) HasImage(_ context.Context, image *resource.Image) (bool, error) {
	if image.Timeout <= 0 {
		return false, errors.New("a question without a time limit gets no answer")
	}
	return m.images[image.Image], nil
}

// runs is a unit that has run for an hour.
func runs() host.ExaminedUnit {
	return host.ExaminedUnit{
		UnitState: apply.UnitState{LoadState: "loaded", ActiveState: "active", SubState: "running"},
		Since:     now.Add(-time.Hour), MainPID: 100,
	}
}

// loops is a service that ends again and again.
func loops() host.ExaminedUnit {
	return host.ExaminedUnit{
		UnitState: apply.UnitState{LoadState: "loaded", ActiveState: "activating", SubState: "auto-restart", Result: "exit-code"},
		Since:     now.Add(-3 * time.Second), Restarts: 7, ExitCode: 1,
	}
}

// the state of a unit that does not run.
func rests(active, sub string) host.ExaminedUnit {
	return host.ExaminedUnit{UnitState: apply.UnitState{LoadState: "loaded", ActiveState: active, SubState: sub}, Since: now.Add(-time.Hour)}
}

const pause = "registry.k8s.io/pause:3.10"

// wellNode is a node that Slipway has made, and to which nothing has happened.
func wellNode() (*insides, *doctor.Patient) {
	m := &insides{
		journalled: now,
		tree: tree{
			"/proc/1/mountinfo":                          "1 0 8:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n2 1 0:5 / /run rw,nosuid - tmpfs tmpfs rw,size=800000k\n",
			"/proc/swaps":                                "Filename\t\t\t\tType\t\tSize\tUsed\tPriority\n",
			"/sys/fs/cgroup/cgroup.controllers":          "cpuset cpu io memory hugetlb pids rdma misc\n",
			"/etc/systemd/system/kubelet.service":        "[Service]\nExecStart=/usr/bin/kubelet --config=/var/lib/kubelet/config.yaml --kubeconfig=/etc/kubernetes/kubelet.conf\n",
			"/usr/lib/systemd/system/containerd.service": "[Service]\nExecStart=/usr/bin/containerd\n",
			"/usr/bin/kubelet":                           "#!kubelet",
			"/usr/bin/containerd":                        "#!containerd",
			"/var/lib/kubelet/config.yaml":               "cgroupDriver: systemd\nevictionHard:\n  nodefs.available: 10%\n  nodefs.inodesFree: 5%\n  imagefs.available: 2Gi\n",
			"/etc/containerd/config.toml": "version = 2\n[plugins.'io.containerd.grpc.v1.cri']\nsandbox_image = '" + pause + "'\n" +
				"[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc.options]\nSystemdCgroup = true\n",
			"/etc/cni/net.d/10-bridge.conflist": `{"name":"pods","cniVersion":"1.0.0","plugins":[{"type":"bridge","ipam":{"type":"host-local"}},{"type":"portmap"}]}`,
			"/opt/cni/bin/bridge":               "#!", "/opt/cni/bin/host-local": "#!", "/opt/cni/bin/portmap": "#!",
			"/var/lib/slipway/status.json": `{"apiVersion":"slipway.dev/v1","kind":"ProvisionStatus","outcome":"success","exitCode":0,"codeName":"SUCCESS"}`,
		},
		units: map[string]host.ExaminedUnit{
			"kubelet.service": runs(), "containerd.service": runs(), "slipway-watch.service": runs(), "motd-news.service": rests("failed", "failed"),
			"slipway-provision.service": rests("inactive", "dead"),
		},
		journal: map[string][]string{},
		disks:   map[string]host.FileSystem{"/": {Size: 30 << 30, Free: 20 << 30, Inodes: 2_000_000, FreeInodes: 1_900_000}},
		listeners: map[uint16]*host.Process{
			10250: {PID: 100, Name: "kubelet", Unit: "kubelet.service"}, 10248: {PID: 100, Name: "kubelet", Unit: "kubelet.service"},
		},
		sysctls: map[string]string{"net.ipv4.ip_forward": "1", "vm.overcommit_memory": "1"},
		modules: map[string]bool{"overlay": true, "br_netfilter": true},
		digests: map[string]string{},
		conditions: []cri.Condition{
			{Type: cri.RuntimeReady, Status: true}, {Type: cri.NetworkReady, Status: true},
		},
		sandboxes:  []cri.Sandbox{{ID: "s1", Name: "kube-proxy-x", Namespace: "kube-system", Ready: true, Created: now.Add(-time.Hour)}},
		containers: map[string][]cri.Container{}, ends: map[string]cri.Ended{},
		images: map[string]bool{pause: true},
	}
	for path := range m.tree {
		if strings.HasPrefix(m.tree[path], "#!") {
			m.digests[path] = strings.Repeat("a", 64)
		}
	}
	p := &doctor.Patient{
		Machine: m, Now: func() time.Time { return now },
		Gather: func() facts.Facts {
			return facts.Facts{CgroupVersion: 2, Components: []components.Component{{Name: "kubelet", Version: "1.36.3", Path: "/usr/bin/kubelet"}}}
		},
		Current: func() (*doctor.Planned, error) {
			return &doctor.Planned{Generation: 3, Plan: resource.Plan{Resources: []resource.Resource{
				{Spec: &resource.Module{Module: "overlay"}}, {Spec: &resource.Module{Module: "br_netfilter"}},
				{Spec: &resource.Sysctl{Key: "net.ipv4.ip_forward", Value: "1"}}, {Spec: &resource.Sysctl{Key: "vm.overcommit_memory", Value: "1"}},
				{Spec: &resource.Unit{Unit: "slipway-watch.service"}},
			}}}, nil
		},
		Drift: func(context.Context) ([]apply.Change, error) { return nil, nil },
	}
	return m, p
}

// becomeForeign makes a node one that kubeadm has made.
func becomeForeign(m *insides, p *doctor.Patient) {
	p.Current, p.Drift = nil, nil
	delete(m.tree, "/var/lib/slipway/status.json")
	delete(m.units, "slipway-provision.service")
	delete(m.sysctls, "vm.overcommit_memory")
	m.modules = nil
}

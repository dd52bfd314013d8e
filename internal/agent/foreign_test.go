package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/status"
)

const kubeletFile = resource.UnitDir + "/kubelet.service"

// mask has an administrator mask a unit, as "systemctl mask --force" does.
func (n *node) mask(unit string) {
	n.Helper()
	n.remove(resource.UnitDir + "/" + unit)
	if err := os.Symlink("/dev/null", n.root+resource.UnitDir+"/"+unit); err != nil {
		n.Fatal(err)
	}
}

// drifted is the drift, "ID action" each, sorted.
func (n *node) drifted() string {
	n.Helper()
	changes, err := n.Drift(n.Context())
	if err != nil {
		n.Fatal(err)
	}
	var list []string
	for _, c := range changes {
		list = append(list, fmt.Sprint(c.ID, " ", c.Action))
		if (c.Action == apply.Left) != (c.Note != "") {
			n.Errorf("%s %s says %q", c.ID, c.Action, c.Note)
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// A unit that an administrator has masked stays masked: a boot and a change refuse and explain how to continue; a
// repair and a rollback leave it and do the rest. With All, a repair unmasks it.
func TestMaskedUnit(t *testing.T) {
	n := running(t)
	node := func() map[string]string { // without the published documents
		tree := n.tree()
		maps.DeleteFunc(tree, func(path, _ string) bool { return strings.HasPrefix(path, "/var/log") })
		return tree
	}
	whole := node()
	masked := func() {
		t.Helper()
		if target, err := os.Readlink(n.root + kubeletFile); err != nil || target != "/dev/null" {
			t.Errorf("the kubelet is unmasked: %q, %v", target, err)
		}
	}
	n.mask("kubelet.service")
	equal(t, "drift", n.drifted(), "Unit:kubelet.service left")
	before := node()
	n.deliver("/etc/containerd/config.toml", []byte("changed"))

	st := n.provision()
	if st.ExitCode != 34 || st.Error == nil || !strings.Contains(st.Error.Message, "systemctl unmask kubelet.service") {
		t.Errorf("a boot: %d, %v", st.ExitCode, st.Error)
	}
	masked()
	equal(t, "after a boot", string(n.read("/etc/containerd/config.toml")), "changed")
	n.published(nativePlace, 34)
	if got := n.change(better(t)); !strings.Contains(got.Refused, "systemctl unmask kubelet.service") {
		t.Errorf("a change: %q, %v", got.Refused, got.Status.Error)
	}
	masked()
	if got := n.Repair(t.Context(), RepairOptions{}); got.Status.ExitCode != 0 {
		t.Errorf("a repair: %v", got.Status.Error)
	}
	masked()
	same(t, "after a repair", node(), before)
	equal(t, "generations", n.generations(), "1 provision good")
	equal(t, "drift", n.drifted(), "Unit:kubelet.service left")

	if got := n.Repair(t.Context(), RepairOptions{All: true}); got.Status.ExitCode != 0 {
		t.Errorf("a repair of all: %v", got.Status.Error)
	}
	same(t, "after a repair of all", node(), whole)
	equal(t, "drift", n.drifted(), "")

	// An empty file masks as well. A mask from before Slipway's first generation is the image's.
	n.deliver(kubeletFile, nil)
	equal(t, "drift", n.drifted(), "Unit:kubelet.service left")
	n = newNode(t)
	n.deliver(kubeletFile, nil)
	n.mask("kubelet.service")
	n.deliver(aksContract, example(t, "aks/minimal.json"))
	if st := n.provision(); st.ExitCode != 0 {
		t.Errorf("a unit that an image has masked: %v", st.Error)
	}
}

// A rollback on a machine with a masked unit skips the checks that need the stopped unit. It succeeds, and does not
// report that the whole node was checked. The other checks run.
func TestNodeWithAMaskedUnit(t *testing.T) {
	t.Parallel()
	health := []string{"health-containerd-active", "health-runtime-ready", "health-kubelet-active", "health-kubelet-healthz", "health-node-lease"}
	ways := map[string]struct {
		before func(n *node)
		back   func(n *node) Changed
	}{
		"a repair of drift": {
			func(n *node) { n.deliver("/etc/containerd/certs.d/registry.example/hosts.toml", []byte("drift")) },
			func(n *node) Changed { return n.Repair(n.Context(), RepairOptions{Attempt: 1}) },
		},
		"a rollback": {
			func(n *node) { n.change(better(n.T)) },
			func(n *node) Changed {
				return n.Rollback(n.Context(), RollbackOptions{Allow: difference.Restart})
			},
		},
		"an unconfirmed trial": {
			func(n *node) { n.change(better(n.T), onTrial) },
			func(n *node) Changed { return n.Rollback(n.Context(), RollbackOptions{Unconfirmed: 2}) },
		},
		"a repair of a change that died": {
			func(n *node) {
				n.host.before = dead("RestartUnit kubelet.service")
				n.change(better(n.T))
			},
			func(n *node) Changed { return n.Repair(n.Context(), RepairOptions{}) },
		},
	}
	for name, way := range ways {
		for unit, asked := range map[string]int{"kubelet.service": 2, "containerd.service": 0} {
			n := running(t)
			n.host.answers = true
			n.host.run = func(context.Context, *resource.Command) ([]byte, error) { return nil, nil }
			way.before(n)
			n.mask(unit)
			var probed []string
			n.host.before = func(op, probe string) error {
				if op != "Probe" || !strings.HasPrefix(probe, "health-") {
					return nil
				}
				probed = append(probed, probe)
				if slices.Index(health, probe) >= asked {
					return &apply.CheckError{Cause: resource.CauseUnit, Endpoint: probe, Err: errors.New("is not active")}
				}
				return nil
			}
			got := way.back(n)
			if got.Status.ExitCode != 0 || got.Checked || !slices.Equal(probed, health[:asked]) {
				t.Errorf("%s, %s: %v, checked %v, asked %q", name, unit, got.Status.Error, got.Checked, probed)
			}
		}
	}
}

// Drop-ins that an administrator adds to our units are drift, in each of systemd's directories: they are reported and
// left, unless a repair has All. The image's drop-ins are not drift.
func TestDropIns(t *testing.T) {
	const (
		image   = resource.UnitDir + "/kubelet.service.d/05-image.conf"
		edit    = resource.UnitDir + "/kubelet.service.d/override.conf"
		runtime = "/run/systemd/system/containerd.service.d/override.conf"
		setting = "/etc/systemd/system.control/kubelet.service.d/50-MemoryMax.conf"
		passing = "/run/systemd/system.control/kubelet.service.d/50-CPUQuota.conf"
		other   = resource.UnitDir + "/ssh.service.d/override.conf"
		// The drop-ins of all units with a prefix, and of a type (systemd.unit(5)).
		prefix = resource.UnitDir + "/kubelet-.service.d/override.conf"
		ofType = "/run/systemd/system/service.d/override.conf"
		vendor = "/usr/lib/systemd/system/service.d/10-timeout-abort.conf"
	)
	n := newNode(t)
	n.deliver(image, []byte("[Service]\n"))
	n.deliver(vendor, []byte("[Service]\n"))
	n.deliver(nativeContract, example(t, "native/full.yaml"))
	n.provision()
	equal(t, "drift", n.drifted(), "")
	var want []string
	for _, path := range []string{edit, runtime, setting, passing, prefix, ofType} {
		n.deliver(path, []byte("[Service]\n"))
		want = append(want, "File:"+path+" left")
	}
	slices.Sort(want)
	equal(t, "drift", n.drifted(), strings.Join(want, ", "))
	n.deliver(other, []byte("[Service]\n"))
	n.deliver(resource.UnitDir+"/ssh-.service.d/override.conf", []byte("[Service]\n"))
	n.deliver(resource.UnitDir+"/socket.d/override.conf", []byte("[Service]\n"))
	n.deliver("/usr/local/lib/systemd/system/service.d/later.conf", []byte("[Service]\n"))
	n.deliver(resource.UnitDir+"/kubelet.service.d/notes.txt", nil)
	equal(t, "drift of others", n.drifted(), strings.Join(want, ", "))
	// They stay, and are still known after another generation.
	if got := n.Repair(t.Context(), RepairOptions{}); got.Status.ExitCode != 0 || len(got.Status.Changes) > 0 {
		t.Errorf("a repair: %v, %v", got.Status.Error, got.Status.Changes)
	}
	if got := n.change(better(t)); got.Status.ExitCode != 0 {
		t.Fatalf("a change: %v", got.Status.Error)
	}
	equal(t, "drift after a change", n.drifted(), strings.Join(want, ", "))
	got := n.Repair(t.Context(), RepairOptions{All: true})
	if got.Status.ExitCode != 0 {
		t.Errorf("a repair of all: %v", got.Status.Error)
	}
	equal(t, "drift after a repair of all", n.drifted(), "File:"+ofType+" left")
	if !n.exists(image) || !n.exists(other) || n.exists(edit) || n.exists(prefix) {
		t.Error("what is not Slipway's concern was removed, or what is was not")
	}
	actions := string(n.read("/run/slipway/actions.jsonl"))
	last := actions[strings.LastIndex(actions, "daemon-reload"):]
	if !strings.Contains(last, `"restart","unit":"kubelet.service"`) || !strings.Contains(last, `"restart","unit":"containerd.service"`) {
		t.Errorf("what followed is %s", last)
	}
}

// The kubelet sets limits of its slice when it starts; these are not drift. A persistent setting of the slice is an
// administrator's.
func TestLimitsOfTheKubelets(t *testing.T) {
	const limit, setting = "/run/systemd/system.control/kubereserved.slice.d/50-MemoryMax.conf", "/etc/systemd/system.control/kubereserved.slice.d/50-MemoryMax.conf"
	n := newNode(t)
	n.deliver(aksContract, aksWith(t, "azure-cni.json", map[string]any{
		"kubelet_config": map[string]any{"kubelet_flags": map[string]any{"--kube-reserved-cgroup": "/kubereserved.slice"}},
	}))
	if got := n.provision(); got.ExitCode != 0 {
		t.Fatal(got.Error)
	}
	n.deliver(limit, []byte("[Slice]\nMemoryMax=1G\n"))
	equal(t, "drift", n.drifted(), "")
	if got := n.Repair(t.Context(), RepairOptions{All: true}); got.Status.ExitCode != 0 || !n.exists(limit) {
		t.Errorf("a repair of all: %v", got.Status.Error)
	}
	n.deliver(setting, []byte("[Slice]\nMemoryMax=1G\n"))
	equal(t, "drift", n.drifted(), "File:"+setting+" left")
}

// The advice for a drop-in undoes only that drop-in: "systemctl revert" would remove Slipway's drop-ins too.
func TestDropInAdvice(t *testing.T) {
	n := running(t)
	const edit, ofType = resource.UnitDir + "/kubelet.service.d/override.conf", resource.UnitDir + "/service.d/override.conf"
	n.deliver(edit, []byte("[Service]\n"))
	n.deliver(ofType, []byte("[Service]\n"))
	changes, err := n.Drift(n.Context())
	if err != nil || len(changes) != 2 {
		t.Fatal(changes, err)
	}
	for _, c := range changes {
		if strings.Contains(c.Note, "revert") || !strings.Contains(c.Note, "remove this file") || !strings.Contains(c.Note, "daemon-reload") || !strings.Contains(c.Note, "kubelet.service") {
			t.Errorf("%s: %s", c.ID, c.Note)
		}
		if whole := strings.Contains(c.Note, "containerd.service"); whole != (c.ID == "File:"+ofType) || strings.Contains(c.Note, "repair-all") == whole {
			t.Errorf("%s: %s", c.ID, c.Note)
		}
	}
}

// at gives the machine addresses.
func (n *node) at(addresses ...string) {
	n.host.addresses = nil
	for _, a := range addresses {
		n.host.addresses = append(n.host.addresses, netip.MustParseAddr(a))
	}
}

// If the boot's address is gone before the node is provisioned, the agent plans again, and publishes the result for the
// present address. If addresses go again and again, the provisioning fails.
func TestAddressIsGone(t *testing.T) {
	flags := func(n *node) string {
		for path, content := range n.tree() {
			if i := strings.Index(content, "--node-ip="); i > 0 {
				return path + " " + strings.Fields(content[i:])[0]
			}
		}
		return "none"
	}
	contract := aksWith(t, "azure-cni.json", nil)
	for _, c := range []struct {
		then  []string // the machine's address after each time that the kubelet is started
		ip    string
		fails bool
	}{
		{then: nil, ip: "10.0.0.4"},
		{then: []string{"10.0.0.9"}, ip: "10.0.0.9"},
		{then: []string{"10.0.0.9", "10.0.0.4"}, ip: "10.0.0.4"},
		{then: []string{"10.0.0.5", "10.0.0.6", "10.0.0.7", "10.0.0.8", "10.0.0.9"}, fails: true},
	} {
		n := newNode(t)
		n.deliver("/proc/sys/kernel/osrelease", []byte("6.8.0\n"))
		n.deliver("/opt/azure/containers/x", nil)
		n.deliver(aksContract, contract)
		n.at("10.0.0.4")
		starts := 0
		n.host.before = func(op, name string) error {
			if strings.HasSuffix(op, "artUnit") && name == plan.KubeletUnit {
				if starts < len(c.then) {
					n.at(c.then[starts])
				}
				starts++
			}
			return nil
		}
		st := n.Provision(t.Context(), ProvisionOptions{})
		if (st.ExitCode != 0) != c.fails {
			t.Errorf("%+v: %d, %v", c, st.ExitCode, st.Error)
			continue
		}
		if c.fails {
			if !strings.Contains(st.Error.Message, "again and again") {
				t.Errorf("%+v: %v", c, st.Error)
			}
			continue
		}
		if got := flags(n); !strings.Contains(got, "--node-ip="+c.ip) {
			t.Errorf("%+v: the kubelet gets %s", c, got)
		}
		n.published(aksPlace, 0)
		equal(t, fmt.Sprintf("%+v: drift", c), n.drifted(), "")
	}
}

// If a boot has nothing to do, its address then goes, and it fails for that, it publishes the failure: the earlier
// boot's result is not true any more.
func TestAddressIsGoneAfterNothingWasDone(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.deliver("/proc/sys/kernel/osrelease", []byte("6.8.0\n"))
	n.deliver(aksContract, aksWith(t, "azure-cni.json", nil))
	n.at("10.0.0.4")
	if st := n.Provision(t.Context(), ProvisionOptions{}); st.ExitCode != 0 {
		t.Fatal(st.Error)
	}
	rounds := 0
	n.host.before = func(op, name string) error {
		if op+" "+name == "ReadFile "+state.Index.Path {
			rounds++
			n.at("10.0.0.9")
		}
		if rounds > 1 && (name == state.Index.Path || name == state.Generations) {
			return syscall.EIO
		}
		return nil
	}
	st := n.Provision(t.Context(), ProvisionOptions{})
	if rounds != 2 || st.ExitCode == 0 || len(st.Changes) > 0 {
		t.Errorf("%d rounds, %d, %v, %v", rounds, st.ExitCode, st.Error, st.Changes)
	}
	n.published(aksPlace, st.ExitCode)
}

// The same is true of a change of a running node: the machine forces the second plan, so the change is not refused,
// however small the allowed class is.
func TestAddressIsGoneDuringAChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		then []string // the machine's address after each time that the kubelet is started
		code int
		want string
	}{
		{then: []string{"10.0.0.9"}, want: "10.0.0.9"},
		{then: []string{"10.0.0.9", "10.0.0.4"}, want: "10.0.0.4"},
		{then: []string{"10.0.0.5", "10.0.0.6", "10.0.0.7", "10.0.0.8", "10.0.0.9"}, code: exitcode.AKSNodeController},
	} {
		n := newNode(t)
		n.deliver("/proc/sys/kernel/osrelease", []byte("6.8.0\n"))
		n.deliver(aksContract, aksWith(t, "azure-cni.json", nil))
		n.at("10.0.0.4")
		if st := n.Provision(t.Context(), ProvisionOptions{}); st.ExitCode != 0 {
			t.Fatal(st.Error)
		}
		n.deliver(changedContract, aksWith(t, "azure-cni.json", map[string]any{"kubelet_config": map[string]any{"kubelet_flags": map[string]any{"--max-pods": "17"}}}))
		starts := 0
		n.host.before = func(op, name string) error {
			if op == "RestartUnit" && name == plan.KubeletUnit {
				if starts < len(c.then) {
					n.at(c.then[starts])
				}
				starts++
			}
			return nil
		}
		got := n.Change(t.Context(), ChangeOptions{Config: changedContract, Allow: difference.Restart, Origin: generation.Apply})
		if last, err := n.LastStatus(); err != nil || last.ExitCode != c.code || last.Generation != got.Status.Generation {
			t.Errorf("%+v: the status is of generation %d, %d, %v", c, last.Generation, last.ExitCode, err)
		}
		if got.Refused != "" || got.Status.ExitCode != c.code || c.code != 0 && !strings.Contains(got.Status.Error.Message, "again and again") {
			t.Errorf("%+v: refused %q, %d, %v", c, got.Refused, got.Status.ExitCode, got.Status.Error)
			continue
		}
		found := false
		for _, content := range n.tree() {
			found = found || strings.Contains(content, "--node-ip="+c.want)
		}
		if c.code == 0 && !found {
			t.Errorf("%+v: the kubelet does not have the address", c)
		}
	}
}

// Events between the rounds of a change do not cause a refusal, and do not hide what was changed. If an administrator
// masks a unit, the change fails. If an address changes that the plan does not need, nothing else changes.
func TestBetweenTheRoundsOfAChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		then string
		mask bool
		code int
	}{
		{then: "10.0.0.9", mask: true, code: 34},
		{then: "10.0.0.4", code: 0},
	} {
		n := newNode(t)
		n.deliver("/proc/sys/kernel/osrelease", []byte("6.8.0\n"))
		n.deliver(aksContract, aksWith(t, "azure-cni.json", nil))
		n.at("10.0.0.4", "fd00::4")
		if st := n.Provision(t.Context(), ProvisionOptions{}); st.ExitCode != 0 {
			t.Fatal(st.Error)
		}
		n.deliver(changedContract, aksWith(t, "azure-cni.json", map[string]any{"kubelet_config": map[string]any{"kubelet_flags": map[string]any{"--max-pods": "17"}}}))
		n.host.before = func(op, name string) error {
			if op == "RestartUnit" && name == plan.KubeletUnit {
				n.at(c.then)
				if c.mask {
					n.mask(plan.KubeletUnit)
				}
			}
			return nil
		}
		got := n.Change(t.Context(), ChangeOptions{Config: changedContract, Allow: difference.Restart, Origin: generation.Apply})
		if got.Refused != "" || got.Status.ExitCode != c.code || len(got.Status.Changes) == 0 {
			t.Errorf("%+v: refused %q, %d, %v", c, got.Refused, got.Status.ExitCode, got.Status.Error)
		}
		if last, err := n.LastStatus(); err != nil || last.ExitCode != c.code || last.Generation != 2 {
			t.Errorf("%+v: the status is of generation %d, %d, %v", c, last.Generation, last.ExitCode, err)
		}
	}
}

// If the address changes while the node runs, that is drift with the class of its repair. An additional address is not
// drift.
func TestAddressDrifts(t *testing.T) {
	n := newNode(t)
	n.deliver("/etc/machine-id", []byte("0123456789abcdef0123456789abcdef\n"))
	n.deliver(aksContract, example(t, "aks/azure-cni.json"))
	n.at("10.0.0.4")
	if st := n.Provision(t.Context(), ProvisionOptions{}); st.ExitCode != 0 {
		t.Fatal(st.Error)
	}
	equal(t, "drift", n.drifted(), "")
	n.at("10.0.0.4", "fd00::4")
	equal(t, "drift of one more", n.drifted(), "")
	n.at("10.0.0.9")
	equal(t, "drift", n.drifted(), "Address:10.0.0.4 left")
	changes, _ := n.Drift(t.Context())
	if note := changes[0].Note; !strings.Contains(note, "10.0.0.9") || !strings.Contains(note, "restart of the kubelet") || !strings.Contains(note, "slipway-node provision") {
		t.Errorf("it says %q", note)
	}
	n.at()
	equal(t, "drift without a network", n.drifted(), "")
	n.at("10.0.0.9")
	if st := n.Provision(t.Context(), ProvisionOptions{}); st.ExitCode != 0 {
		t.Fatal(st.Error)
	}
	equal(t, "drift after it is provisioned", n.drifted(), "")
}

// A change plans the node for the machine's present address, and a boot keeps that. The certificate for the old address
// is removed. A rollback to the plan for the old address is drift again, and the next boot plans again.
func TestChangeForAnotherAddress(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.deliver("/etc/machine-id", []byte("0123456789abcdef0123456789abcdef\n"))
	n.deliver("/proc/sys/kernel/osrelease", []byte("6.8.0\n"))
	n.deliver(aksContract, aksWith(t, "azure-cni.json", nil))
	flags := func(what, address string, pods bool) {
		t.Helper()
		content := string(n.read("/etc/default/kubelet"))
		if !strings.Contains(content, "--node-ip="+address) || strings.Contains(content, "--max-pods=17") != pods {
			t.Errorf("%s: %s", what, content)
		}
	}
	boot := func(what string) *status.Status {
		t.Helper()
		st := n.Provision(t.Context(), ProvisionOptions{})
		if st.ExitCode != 0 {
			t.Fatal(what, st.Error)
		}
		return st
	}
	n.at("10.0.0.4")
	boot("the first")
	signed := func() {
		for _, path := range plan.ServingCertificate() {
			n.deliver(path, []byte("for an address"))
		}
	}
	signed()
	n.at("10.0.0.9")
	n.deliver(changedContract, aksWith(t, "azure-cni.json", map[string]any{"kubelet_config": map[string]any{"kubelet_flags": map[string]any{"--max-pods": "17"}}}))
	got := n.Change(t.Context(), ChangeOptions{Config: changedContract, Allow: difference.Replace, Origin: generation.Apply})
	if got.Status.ExitCode != 0 {
		t.Fatal(got.Status.Error)
	}
	flags("the change", "10.0.0.9", true)
	equal(t, "certificates for the old address", len(n.has(plan.ServingCertificate())), 0)
	equal(t, "drift after the change", n.drifted(), "")
	signed()
	if st := boot("one of the changed node"); st.Identity != "" || len(st.Changes) > 0 {
		t.Errorf("%q, %v", st.Identity, st.Changes)
	}
	flags("the boot after it", "10.0.0.9", true)
	equal(t, "certificates for this address", len(n.has(plan.ServingCertificate())), len(plan.ServingCertificate()))

	if got := n.Rollback(t.Context(), RollbackOptions{Allow: difference.Replace}); got.Status.ExitCode != 0 {
		t.Fatal(got.Status.Error)
	}
	flags("the rollback", "10.0.0.4", false)
	equal(t, "drift after the rollback", n.drifted(), "Address:10.0.0.4 left")
	boot("one after the rollback")
	flags("the boot after the rollback", "10.0.0.9", false)
	equal(t, "drift in the end", n.drifted(), "")
	equal(t, "certificates in the end", len(n.has(plan.ServingCertificate())), 0)
}

// If the plan does not depend on the address, only the certificate changes, once.
func TestAddressThatThePlanDoesNotNeed(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.deliver(aksContract, example(t, "aks/minimal.json"))
	n.on(machineOf(t, "a", "", "10.0.0.4"))
	for range 2 {
		if st := n.on(machineOf(t, "a", "", "10.0.0.4", "fd00::4")); st.ExitCode != 0 || st.Identity != "" {
			t.Errorf("%q, %v", st.Identity, st.Error)
		}
	}
	for i := range 2 {
		for _, path := range plan.ServingCertificate() {
			n.deliver(path, []byte("for an address"))
		}
		st := n.on(machineOf(t, "a", "", "10.0.0.4", "fd00::9"))
		if st.ExitCode != 0 || len(st.Changes) > 0 || (st.Identity != "") != (i == 0) || (len(n.has(plan.ServingCertificate())) == 0) != (i == 0) {
			t.Errorf("%d: %q, %v, %v", i, st.Identity, st.Error, st.Changes)
		}
	}
	equal(t, "generations", n.generations(), "1 provision good")
}

package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/status"
)

// credential is a path at which a machine gets a contract from outside its disk.
const credential = "/run/credentials/@system/slipway.contract"

// on provisions as the machine with the facts.
func (n *node) on(known *facts.Facts, with ...func(*ProvisionOptions)) *status.Status {
	n.Helper()
	opts := ProvisionOptions{Facts: known}
	for _, set := range with {
		set(&opts)
	}
	return n.Provision(context.Background(), opts)
}

// machineOf is the example's machine with other identifiers.
func machineOf(t *testing.T, id, uuid string, addresses ...string) *facts.Facts {
	t.Helper()
	known := ubuntu(t)
	known.MachineID, known.DMI.ProductUUID = id, uuid
	if addresses != nil {
		known.NodeIPs = addresses
	}
	return known
}

func (n *node) remove(path string) {
	n.Helper()
	if err := os.Remove(n.root + path); err != nil {
		n.Fatal(err)
	}
}

// joined are the files that the kubelet and a directory client leave on the disk of a joined machine.
var joined = []string{
	"/var/lib/kubelet/pki/kubelet-client-2026-01-02-03-04-05.pem", "/var/lib/kubelet/pki/kubelet.crt", "/var/lib/kubelet/pki/kubelet.key",
	"/var/lib/kubelet/kubeconfig", "/var/lib/kubelet/cpu_manager_state", "/etc/krb5.keytab",
}

func (n *node) join() {
	n.Helper()
	for _, path := range joined {
		n.deliver(path, []byte("mine"))
	}
}

// has returns those of the paths that exist.
func (n *node) has(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return !n.exists(path) })
}

// A contract from elsewhere is kept for the next boot, readable for the superuser only.
func TestKept(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	document := example(t, "aks/minimal.json")
	n.deliver(credential, document)
	self := machineOf(t, "m1", "u1")
	if got := n.on(self); got.ExitCode != 0 || got.Config.Path != credential {
		t.Fatal(got.Error, got.Config.Path)
	}
	if got := n.read(aksContract); !bytes.Equal(got, document) {
		t.Errorf("kept is %q", got)
	}
	if info, err := os.Stat(n.root + aksContract); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	n.remove(credential)
	before := n.snapshot()
	got := n.on(self)
	if got.ExitCode != 0 || len(got.Changes) != 0 || got.Config.Path != aksContract {
		t.Errorf("the next boot: %v, %v, %s", got.Error, got.Changes, got.Config.Path)
	}
	for path, was := range n.snapshot() {
		if before[path] != was && !strings.HasPrefix(path, "/run/") {
			t.Errorf("the next boot has written %s", path)
		}
	}
}

// A copy of a disk is not the same machine.
func TestCopiedDisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name              string
		before, now       *facts.Facts
		copied, addressed bool
	}{
		{"the same", machineOf(t, "m1", "u1"), machineOf(t, "m1", "u1"), false, false},
		{"another UUID", machineOf(t, "m1", "u1"), machineOf(t, "m1", "u2"), true, false},
		{"all is another", machineOf(t, "m1", "u1"), machineOf(t, "m2", "u2"), true, false},
		{"a machine ID of each boot", machineOf(t, "m1", "u1"), machineOf(t, "m2", "u1"), false, false},
		{"no firmware, another machine ID", machineOf(t, "m1", ""), machineOf(t, "m2", ""), true, false},
		{"no firmware, the same machine ID", machineOf(t, "m1", ""), machineOf(t, "m1", ""), false, false},
		{"a firmware that has begun to tell", machineOf(t, "m1", ""), machineOf(t, "m1", "u1"), false, false},
		{"another address", machineOf(t, "m1", "u1", "10.0.0.4"), machineOf(t, "m1", "u1", "10.0.0.5"), false, true},
		{"an address of the other family", machineOf(t, "m1", "u1", "10.0.0.4", "fd00::4"), machineOf(t, "m1", "u1", "10.0.0.4"), false, false},
		{"no address yet", machineOf(t, "m1", "u1", "10.0.0.4"), machineOf(t, "m1", "u1", []string{}...), false, false},
	} {
		n := newNode(t)
		n.deliver(credential, example(t, "aks/minimal.json"))
		if got := n.on(c.before); got.ExitCode != 0 {
			t.Fatal(c.name, got.Error)
		}
		n.join()
		n.deliver(credential, aksWith(t, "minimal.json", map[string]any{"kubelet_config": map[string]any{"kubelet_node_labels": map[string]any{"of": "this"}}}))
		var mu sync.Mutex
		var order []string
		happens := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, what)
		}
		n.host.before = func(op, name string) error {
			if op == "Remove" && slices.Contains(joined, name) {
				happens(op)
			}
			return nil
		}
		got := n.on(c.now, func(o *ProvisionOptions) { o.Identified = func() { happens("identified") } })
		if got.ExitCode != 0 || (got.Identity != "") != (c.copied || c.addressed) {
			t.Errorf("%s: %v, identity %q", c.name, got.Error, got.Identity)
		}
		want := joined
		switch {
		case c.copied:
			want = []string{}
		case c.addressed:
			want = slices.DeleteFunc(slices.Clone(joined), func(p string) bool { return strings.Contains(p, "/kubelet.") })
		}
		if has := n.has(joined); !slices.Equal(has, want) {
			t.Errorf("%s: the kubelet finds %v, want %v", c.name, has, want)
		}
		// The machine's contract is applied, and the other machine's files are gone before a kubelet can start.
		if isNew := bytes.Contains(n.read("/etc/default/kubelet"), []byte("of=this")); isNew != c.copied {
			t.Errorf("%s: the contract is the new one: %v", c.name, isNew)
		}
		at := slices.Index(order, "identified")
		if at < 0 || slices.Contains(order[at+1:], "identified") || c.copied && (at == 0 || slices.Contains(order[at:], "Remove")) {
			t.Errorf("%s: in the order %v", c.name, order)
		}
		if got := n.on(c.now); got.ExitCode != 0 || got.Identity != "" || len(got.Changes) > 0 {
			t.Errorf("%s: the next boot: %v, identity %q, %v", c.name, got.Error, got.Identity, got.Changes)
		}
	}
}

// A dry run, and a change of the running machine, remove nothing.
func TestCopiedDiskLookedAt(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.deliver(credential, example(t, "aks/minimal.json"))
	n.on(machineOf(t, "m1", "u1"))
	n.join()
	before := n.snapshot()
	n.on(machineOf(t, "m2", "u2"), func(o *ProvisionOptions) { o.DryRun = true })
	for path, was := range before {
		if now := n.snapshot()[path]; now != was && !strings.HasPrefix(path, "/run/") {
			t.Errorf("%s was %q, is %q", path, was, now)
		}
	}
}

// If this machine has no contract, the other machine's contract is applied: it may belong to the image.
func TestCopiedContract(t *testing.T) {
	t.Parallel()
	for _, from := range []string{aksContract, credential} {
		n := newNode(t)
		n.deliver(from, example(t, "aks/minimal.json"))
		n.on(machineOf(t, "m1", "u1"))
		n.join()
		n.remove(from)
		n.deliver(aksContract, example(t, "aks/minimal.json"))
		if got := n.on(machineOf(t, "m2", "u2")); got.ExitCode != 0 || got.Identity == "" || len(n.has(joined)) > 0 {
			t.Errorf("%s: %v, identity %q, %v", from, got.Error, got.Identity, n.has(joined))
		}
	}
}

// If a copy failed its first provisioning, the next one still treats it as a copy: nothing of the other machine
// returns, and nothing of this machine is removed.
func TestCopiedDiskAgain(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.deliver(credential, example(t, "aks/minimal.json"))
	n.on(machineOf(t, "m1", "u1"))
	n.join()
	other := aksWith(t, "minimal.json", map[string]any{"kubelet_config": map[string]any{"kubelet_node_labels": map[string]any{"of": "this"}}})
	n.deliver(credential, other)
	n.host.before = once("RestartUnit kubelet.service")
	if got := n.on(machineOf(t, "m2", "u2")); got.ExitCode == 0 {
		t.Fatal("must fail")
	}
	n.join()
	if got := n.on(machineOf(t, "m2", "u2")); got.ExitCode != 0 || len(n.has(joined)) != len(joined) || !bytes.Equal(n.read(aksContract), other) {
		t.Errorf("%v, %v, kept %q", got.Error, n.has(joined), n.read(aksContract))
	}
}

// Of two runs on a copy, the second waits for the first, which fails. The second also treats the disk as another
// machine's.
func TestCopiedDiskTwoRuns(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.deliver(credential, example(t, "aks/minimal.json"))
	n.on(machineOf(t, "m1", "u1"))
	other := aksWith(t, "minimal.json", map[string]any{"kubelet_config": map[string]any{"kubelet_node_labels": map[string]any{"of": "this"}}})
	n.deliver(credential, other)
	quicker := newNode(t, n.root)
	quicker.host.before = once("RestartUnit kubelet.service")
	n.host.before = func(op, _ string) error {
		if op == "Lock" && quicker.host.before != nil {
			if got := quicker.on(machineOf(t, "m2", "u2")); got.ExitCode == 0 {
				t.Error("the first run must fail")
			}
			quicker.host.before = nil
		}
		return nil
	}
	if got := n.on(machineOf(t, "m2", "u2")); got.ExitCode != 0 || !bytes.Equal(n.read(aksContract), other) {
		t.Errorf("%v: the contract is %q", got.Error, n.read(aksContract))
	}
}

// A copied disk does not inherit the other machine's "apply" change.
func TestCopiedAfterChange(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.Program = "/usr/bin/slipway-node"
	n.deliver(nativeContract, example(t, "native/full.yaml"))
	n.on(machineOf(t, "m1", "u1"))
	if got := n.change(better(t)); got.Status.ExitCode != 0 {
		t.Fatal(got.Status.Error)
	}
	if n.on(machineOf(t, "m1", "u1")); !n.exists(brought) {
		t.Error("a reboot of the same machine takes the change back")
	}
	if n.on(machineOf(t, "m2", "u2")); n.exists(brought) {
		t.Error("a copy has what the original was changed to")
	}
}

// If the identity record cannot be read, the node keeps its identity.
func TestDamagedIdentity(t *testing.T) {
	t.Parallel()
	for _, record := range []string{"", "{", `{"machineID": 1}`, `{"kept": "/etc/passwd", "machineID": "m0", "sum": "x"}`} {
		n := newNode(t)
		n.deliver("/etc/passwd", []byte("root"))
		n.deliver(aksContract, example(t, "aks/minimal.json"))
		n.join()
		n.deliver(IdentityPath, []byte(record))
		got := n.on(machineOf(t, "m1", ""))
		taken := strings.Contains(record, "m0")
		if got.ExitCode != 0 || len(n.has(joined)) != 0 != !taken || !n.exists("/etc/passwd") {
			t.Errorf("%q: %v, %v", record, got.Error, n.has(joined))
		}
		var now identity.Record
		if err := json.Unmarshal(n.read(IdentityPath), &now); err != nil || now.MachineID != "m1" {
			t.Errorf("%q: recorded is %+v, %v", record, now, err)
		}
	}
}

// FuzzIdentity: whatever the record holds, only the kubelet's files, a published result and the kept contract are
// removed.
func FuzzIdentity(f *testing.F) {
	f.Add([]byte(`{"machineID": "m0", "kept": "/etc/slipway/config.json", "sum": ""}`))
	f.Add([]byte(`{"productUUID": "u0", "instance": {"id": "i"}, "source": "nocloud-disk", "kept": "x"}`))
	f.Fuzz(func(t *testing.T, record []byte) {
		n := newNode(t)
		n.deliver("/etc/passwd", []byte("root"))
		n.deliver(IdentityPath, record)
		n.on(machineOf(t, "m1", "u1"))
		if !n.exists("/etc/passwd") {
			t.Error("removed a file that is no part of the identity")
		}
	})
}

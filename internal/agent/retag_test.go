package agent

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/identity"
	"github.com/slipway-dev/slipway/internal/state"
)

func addressTag(address string) facts.Tags {
	return facts.Tags{Tagged: true, APIServerAddress: address}
}

// retagged plans a node for another address, and requires an exit code.
func (n *node) retagged(address string, code int) Changed {
	n.Helper()
	got := n.Retag(context.Background(), addressTag(address))
	if got.Status.ExitCode != code || got.Refused != "" || got.Busy {
		n.Fatalf("exit code %d, want %d: %v", got.Status.ExitCode, code, got.Status.Error)
	}
	return got
}

// keeps requires that the node keeps an address, in its current generation and in /etc/hosts.
func (n *node) keeps(address string) {
	n.Helper()
	if got, kept, err := n.ServerAddress(); got != address || !kept || err != nil {
		n.Errorf("the current generation has %q, %t, %v, want %q", got, kept, err, address)
	}
	n.wantAddress(address)
}

// privateNode is a node with an address of the API server's. Its kubelet has not joined, and its join credential is
// there.
func privateNode(t *testing.T, address string) *node {
	n := onAzure(t, &asked{described: described{taggedWith(address)}})
	n.made()
	n.keeps(address)
	if !n.exists("/var/lib/kubelet/bootstrap-kubeconfig") {
		t.Fatal("there is nothing to join with")
	}
	return n
}

// Another address is a new generation without any other difference. It survives boots and new contracts. The credential
// that the node still joins with stays.
func TestRetag(t *testing.T) {
	t.Parallel()
	n := privateNode(t, "10.0.0.4")
	before := n.tree()
	got := n.retagged("10.0.0.5", 0)
	n.keeps("10.0.0.5")
	if len(got.Status.Changes) != 1 || got.Status.Changes[0].ID != "Block:/etc/hosts#api-server" || got.Status.Generation != 2 {
		t.Errorf("generation %d: %v", got.Status.Generation, got.Status.Changes)
	}
	after := n.tree()
	after[hostsPath] = before[hostsPath]
	same(t, "all other files", after, before)
	equal(t, "generations", n.generations(), "1 provision good, 2 watch good")

	n.retagged("10.0.0.5", 0)
	n.retagged("", 0)
	equal(t, "generations", n.generations(), "1 provision good, 2 watch good")

	record, err := identity.Read(n.host)
	if err != nil || record == nil {
		t.Fatal(err)
	}
	recorded, err := facts.Parse(n.read(state.Facts.Path))
	if err != nil || record.Instance.APIServerAddress != "10.0.0.5" || recorded.Instance.APIServerAddress != "10.0.0.5" {
		t.Errorf("recorded is %+v and %+v, %v", record.Instance, recorded.Instance, err)
	}
	// A boot without the service, and another contract, use the tag's last address.
	n.Cloud = nil
	n.made()
	n.keeps("10.0.0.5")
	equal(t, "generations", n.generations(), "1 provision good, 2 watch good")
	n.retagged("fd00::6", 0)
	other := strings.Replace(string(privateContract(t)), `"version":"v1"`, `"version":"v1","message_of_the_day":"aGk="`, 1)
	if got := n.Change(t.Context(), n.with([]byte(other))); got.Status.ExitCode != 0 {
		t.Fatal(got.Status.Error)
	}
	n.keeps("fd00::6")
	if got := string(n.read("/etc/motd")); got != "hi\n" {
		t.Errorf("the other contract is not applied: %q", got)
	}
}

// with are the options of a change to a contract.
func (n *node) with(contract []byte) ChangeOptions {
	opts := n.options()
	opts.Config, opts.Facts = "", nil
	n.deliver(aksContract, contract)
	return opts
}

// A node without an address gets its first one the same way.
func TestRetagOfAnUntaggedNode(t *testing.T) {
	t.Parallel()
	n := privateNode(t, "")
	n.retagged("10.0.0.4", 0)
	n.keeps("10.0.0.4")
}

// A node that was rolled back gets the address and stays otherwise as it is, also after a boot: the agent plans the
// current generation again, not the contract.
func TestRetagAfterAWayBack(t *testing.T) {
	t.Parallel()
	n := privateNode(t, "10.0.0.4")
	other := strings.Replace(string(privateContract(t)), `"version":"v1"`, `"version":"v1","message_of_the_day":"aGk="`, 1)
	if got := n.Change(t.Context(), n.with([]byte(other))); got.Status.ExitCode != 0 {
		t.Fatal(got.Status.Error)
	}
	n.back(0)
	n.retagged("10.0.0.5", 0)
	n.keeps("10.0.0.5")
	n.deliver(aksContract, privateContract(t))
	n.made()
	n.keeps("10.0.0.5")
	if n.exists("/etc/motd") {
		t.Error("the contract is applied although the node was rolled back from it")
	}
}

// If an address cannot be applied, the node stays as it was, and the change can be tried again.
func TestRetagFails(t *testing.T) {
	t.Parallel()
	n := privateNode(t, "10.0.0.4")
	files := n.tree()
	n.host.before = once("Commit " + hostsPath)
	got := n.retagged("10.0.0.5", 240)
	if got.Status.Restored != 1 {
		t.Errorf("restored is %d: %v", got.Status.Restored, got.Status.Error)
	}
	same(t, "after a failure", n.tree(), files)
	n.keeps("10.0.0.4")
	n.retagged("10.0.0.5", 0)
	n.keeps("10.0.0.5")
}

// A provisioning that failed because it lacked the address is finished by Retag, and its result is published.
func TestRetagFinishesAProvisioning(t *testing.T) {
	t.Parallel()
	n := onAzure(t, &asked{described: described{taggedWith("")}})
	n.host.before = func(op, name string) error {
		if op == "Probe" && name == "api-server" && !strings.Contains(string(n.read(hostsPath)), "10.0.0.4 ") {
			return errors.New("no such host")
		}
		return nil
	}
	if got := n.Provision(context.Background(), ProvisionOptions{}); got.ExitCode == 0 {
		t.Fatal("it did not fail")
	}
	n.published(aksPlace, n.code())
	n.retagged("10.0.0.4", 0)
	n.keeps("10.0.0.4")
	n.published(aksPlace, 0)
	if !n.exists("/var/lib/kubelet/bootstrap-kubeconfig") {
		t.Error("what the node joins with is gone")
	}
}

// code is the exit code that is published.
func (n *node) code() int {
	n.Helper()
	result := n.result(aksPlace)
	code, err := result.Code()
	if err != nil || code == 0 {
		n.Fatal(code, err)
	}
	return code
}

// Retag leaves a node alone whose generation will change anyway: one on trial, and one of a change that died. It also
// leaves alone a node without an address from a tag, and a machine that is not a node.
func TestRetagLeavesAlone(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]*node{
		"on trial":  func() *node { n, _ := tried(t); return n }(),
		"public":    running(t),
		"no node":   newNode(t),
		"a machine": onAzure(t, nil),
	} {
		before := n.tree()
		n.retagged("10.0.0.5", 0)
		after := n.tree()
		for _, own := range []string{"/run", "/var", "/var/lib"} { // the lock's directories
			delete(after, own)
			delete(before, own)
		}
		same(t, name, after, before)
		if address, kept, err := n.ServerAddress(); address != "" || kept || err != nil {
			t.Errorf("%s: %q, %t, %v", name, address, kept, err)
		}
	}
	n := privateNode(t, "10.0.0.4")
	n.host.before = dead("Commit /etc/motd")
	other := strings.Replace(string(privateContract(t)), `"version":"v1"`, `"version":"v1","message_of_the_day":"aGk="`, 1)
	n.Change(t.Context(), n.with([]byte(other)))
	n.host.before = fine
	equal(t, "generations", n.generations(), "1 provision good, 2 apply applying")
	n.retagged("10.0.0.5", 0)
	equal(t, "generations", n.generations(), "1 provision good, 2 apply applying")
	// The repair goes back to the earlier address, and the next look finds that.
	if got := n.Repair(t.Context(), RepairOptions{}); got.Status.ExitCode != 0 {
		t.Fatal(got.Status.Error)
	}
	n.keeps("10.0.0.4")
	n.retagged("10.0.0.5", 0)
	n.keeps("10.0.0.5")
	if entries, err := n.Generations(); err != nil || entries[len(entries)-1].Origin != generation.Rollback {
		t.Errorf("%+v, %v", entries, err)
	}
}

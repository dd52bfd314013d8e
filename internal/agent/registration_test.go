package agent

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/registration"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/source"
)

// labelled is a contract with labels and taints of its Node, in YAML.
func labelled(t *testing.T, labels, taints string) []byte {
	t.Helper()
	return append(example(t, "native/minimal.yaml"), fmt.Sprintf("kubelet: {labels: {%s}, taints: [%s]}\n", labels, taints)...)
}

// registered is a node that has joined its cluster with labels and taints.
func registered(t *testing.T) *node {
	t.Helper()
	n := newNode(t)
	n.host.answers = true
	n.deliver(nativeContract, labelled(t, "a: one, b: two", "{key: old, value: x, effect: NoSchedule}"))
	if got := n.provision(); got.ExitCode != 0 {
		t.Fatal(got.Error)
	}
	n.join()
	n.deliver("/var/lib/kubelet/pki/kubelet-client-current.pem", []byte("mine"))
	n.host.inCluster = &registration.Node{
		Name:   "node-1",
		Labels: map[string]string{"a": "one", "b": "two", "kubernetes.io/os": "linux", "other": "x"},
		Taints: map[string]string{"old:NoSchedule": "x"},
	}
	return n
}

// relabel changes the node's labels and taints, by a change of the smallest class.
func (n *node) relabel(labels, taints string) Changed {
	n.Helper()
	return n.Change(n.Context(), ChangeOptions{
		Contract: &source.Contract{Data: labelled(n.T, labels, taints)}, Facts: ubuntu(n.T), Allow: difference.Reload, Origin: generation.Apply,
	})
}

const (
	newTaint = "{key: new, effect: NoExecute}"
	taintNew = "kubectl taint --overwrite node node-1 new:NoExecute"
	untaint  = "kubectl taint node node-1 old:NoSchedule-"
)

// Changed labels are set on the existing Node, and restart nothing. The status has the administrator's command for its
// taints until they are set.
func TestChangedLabelsReachTheNode(t *testing.T) {
	n := registered(t)
	equal(t, "drift", n.drifted(), "")
	before := len(n.read("/run/slipway/actions.jsonl"))
	got := n.relabel("a: other, c: three", newTaint)
	if got.Status.ExitCode != 0 || got.Refused != "" || got.Difference.Class > difference.Reload || len(got.Difference.Restarts) > 0 {
		t.Fatalf("a change: %v %q, class %s", got.Status.Error, got.Refused, got.Difference.Class)
	}
	if actions := string(n.read("/run/slipway/actions.jsonl"))[before:]; strings.Contains(actions, "kubelet.service") {
		t.Errorf("units are restarted: %s", actions)
	}
	if file := string(n.read("/etc/default/kubelet")); !strings.Contains(file, "a=other,c=three") || !strings.Contains(file, "new:NoExecute") {
		t.Errorf("a kubelet that registers again would have %s", file)
	}
	if want := map[string]string{"a": "other", "c": "three", "kubernetes.io/os": "linux", "other": "x"}; !maps.Equal(n.host.inCluster.Labels, want) {
		t.Errorf("the Node has %v, want %v", n.host.inCluster.Labels, want)
	}
	if text := strings.Join(got.Status.Pending, "\n"); !strings.Contains(text, taintNew) || !strings.Contains(text, untaint) || strings.Contains(text, "label") {
		t.Errorf("pending is %q", text)
	}
	equal(t, "drift", n.drifted(), "NodeTaint:new:NoExecute left, NodeTaint:old:NoSchedule left")
	n.host.inCluster.Taints = map[string]string{"new:NoExecute": "", "node.kubernetes.io/not-ready:NoSchedule": ""}
	equal(t, "drift after the administrator", n.drifted(), "")
	last, err := n.LastStatus()
	if err != nil || len(last.Pending) != 2 {
		t.Fatalf("the status has %v, %v", last, err)
	}
	if n.RefreshPending(t.Context(), last); len(last.Pending) > 0 {
		t.Errorf("status says that %q are pending", last.Pending)
	}
	// The rollback restores them.
	if got := n.Rollback(t.Context(), RollbackOptions{Allow: difference.Reload}); got.Status.ExitCode != 0 {
		t.Fatal(got.Status.Error)
	}
	if labels := n.host.inCluster.Labels; labels["a"] != "one" || labels["b"] != "two" || labels["c"] != "" {
		t.Errorf("after a rollback the Node has %v", labels)
	}
}

// If the server is unreachable when labels change, the next repair tries again. If it denies the change, the status has
// the administrator's command.
func TestLabelsThatCannotBeSet(t *testing.T) {
	n := registered(t)
	n.host.before = func(op, _ string) error {
		if op == "ReadNode" {
			return errors.New("no route to host")
		}
		return nil
	}
	if got := n.relabel("a: other, b: two", "{key: old, value: x, effect: NoSchedule}"); got.Status.ExitCode != 0 {
		t.Fatal(got.Status.Error)
	}
	equal(t, "drift that cannot be asked for", n.drifted(), "")
	n.host.before = func(string, string) error { return nil }
	equal(t, "drift", n.drifted(), "NodeLabel:a updated")
	n.host.labelling = func() error {
		return &apply.CheckError{Cause: resource.CauseForbidden, Endpoint: "https://x", Err: errors.New("HTTP status 403")}
	}
	got := n.Repair(t.Context(), RepairOptions{})
	if pending := strings.Join(got.Status.Pending, ""); got.Status.ExitCode == 0 || !strings.Contains(pending, "kubectl label --overwrite node node-1 a=other") {
		t.Errorf("a repair that is not allowed: %d, %q", got.Status.ExitCode, pending)
	}
	n.host.labelling = nil
	if got := n.Repair(t.Context(), RepairOptions{}); got.Status.ExitCode != 0 || len(got.Status.Changes) != 1 || n.host.inCluster.Labels["a"] != "other" {
		t.Errorf("a repair: %v, %v, %v", got.Status.Error, got.Status.Changes, n.host.inCluster.Labels)
	}
	equal(t, "drift after a repair", n.drifted(), "")
	equal(t, "generations", n.generations(), "1 provision good, 2 apply good")
}

// A kubelet that has not registered yet reads its labels again.
func TestLabelsBeforeRegistration(t *testing.T) {
	n := registered(t)
	n.remove("/var/lib/kubelet/pki/kubelet-client-current.pem")
	before := len(n.read("/run/slipway/actions.jsonl"))
	if got := n.relabel("a: other", ""); got.Status.ExitCode != 0 {
		t.Fatal(got.Status.Error)
	}
	if actions := string(n.read("/run/slipway/actions.jsonl"))[before:]; !strings.Contains(actions, `"restart","unit":"kubelet.service"`) {
		t.Errorf("the kubelet is not restarted: %s", actions)
	}
}

// A boot sets other labels on an existing Node.
func TestLabelsOfABoot(t *testing.T) {
	n := registered(t)
	n.deliver(nativeContract, labelled(t, "a: boot, b: two", ""))
	if got := n.provision(); got.ExitCode != 0 {
		t.Fatal(got.Error)
	}
	if n.host.inCluster.Labels["a"] != "boot" {
		t.Errorf("the Node has %v", n.host.inCluster.Labels)
	}
	equal(t, "drift", n.drifted(), "NodeTaint:old:NoSchedule left")
}

// If a file was changed by hand, units read it again, although the contract changes only labels.
func TestLabelsInAChangedFile(t *testing.T) {
	n := registered(t)
	n.deliver("/etc/default/kubelet", []byte("KUBELET_EXTRA_ARGS=--v=9\n"))
	before := len(n.read("/run/slipway/actions.jsonl"))
	if got := n.relabel("a: other", ""); got.Status.ExitCode != 0 {
		t.Fatal(got.Status.Error)
	}
	if actions := string(n.read("/run/slipway/actions.jsonl"))[before:]; !strings.Contains(actions, `"restart","unit":"kubelet.service"`) {
		t.Errorf("the kubelet is not restarted: %s", actions)
	}
}

// An image's generation has no labels, and a new Node registers with the wanted ones: no boot of a new machine sends a
// request, and none waits.
func TestFirstBootAsksForNoNode(t *testing.T) {
	n := newNode(t)
	n.host.answers = true
	n.deliver(place.BaseContracts[0], []byte(baseContract))
	if got := n.Provision(t.Context(), ProvisionOptions{Config: place.BaseContracts[0], Facts: ubuntu(t)}); got.ExitCode != 0 {
		t.Fatal(got.Error)
	}
	n.host.inCluster = &registration.Node{}
	n.host.before = func(op, _ string) error {
		if op == "ReadNode" {
			t.Error("the server is asked for the Node")
		}
		return nil
	}
	n.deliver(nativeContract, labelled(t, "a: one", ""))
	if got := n.provision(); got.ExitCode != 0 {
		t.Fatal(got.Error)
	}
}

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
)

const (
	kubeletConfigPath = "/var/lib/kubelet/config.yaml"
	clusterSettings   = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nclusterDNS: [10.96.0.10]\nmaxPods: 64\n"
)

// kubeadmNode is a machine with a kubeconfig for its contract, whose cluster answers; asked counts the requests.
func kubeadmNode(t *testing.T, root string, answer func(ctx context.Context, ready <-chan struct{}) (string, error)) (n *node, asked *atomic.Int32) {
	t.Helper()
	n, asked = newNode(t, root), new(atomic.Int32)
	n.host.defaults = func(ctx context.Context, way *resource.AsNode, ready <-chan struct{}) ([]byte, error) {
		asked.Add(1)
		if way.Server != "https://api.example.com:6443" || way.Bootstrap != "/etc/kubernetes/bootstrap-kubelet.conf" || way.CertificateAuthority == "" {
			t.Errorf("asked %+v", way)
		}
		text, err := answer(ctx, ready)
		return []byte(text), err
	}
	n.host.answers = true
	n.deliver(nativeContract, example(t, "kubeadm/kubeconfig.yaml"))
	return n, asked
}

// kubelet is a field of the kubelet's configuration.
func (n *node) kubelet(field string) string {
	n.Helper()
	var config map[string]any
	if err := json.Unmarshal(n.read(kubeletConfigPath), &config); err != nil {
		n.Fatal(err)
	}
	text, err := json.Marshal(config[field])
	if err != nil {
		n.Fatal(err)
	}
	return string(text)
}

// TestKubeletDefaults: the cluster gets one request. The kubelet starts with the answer, the generation has it, so that
// nothing drifts, and later runs need no cluster.
func TestKubeletDefaults(t *testing.T) {
	n, asked := kubeadmNode(t, "", func(_ context.Context, ready <-chan struct{}) (string, error) {
		<-ready // everything else is done, so the node does not wait earlier
		return clusterSettings, nil
	})
	started := ""
	n.host.before = func(op, name string) error {
		if op == "StartUnit" && name == "kubelet.service" {
			started = n.kubelet("clusterDNS")
		}
		return nil
	}
	got := n.Provision(t.Context(), ProvisionOptions{})
	if got.ExitCode != 0 || asked.Load() != 1 || started != `["10.96.0.10"]` || n.kubelet("maxPods") != "64" {
		t.Fatalf("%d after %d questions, the kubelet is started with %s: %v", got.ExitCode, asked.Load(), started, got.Errors)
	}
	if got.Generation != 1 {
		t.Errorf("it is generation %d", got.Generation)
	}
	for _, p := range got.Problems {
		if strings.Contains(p.Reason, "service") {
			t.Error(p)
		}
	}
	if changes, err := n.Drift(t.Context()); err != nil || len(changes) > 0 {
		t.Errorf("has drifted: %v, %v", changes, err)
	}
	if recorded := string(n.read(state.Facts.Path)); !strings.Contains(recorded, `"clusterDNS"`) {
		t.Errorf("the facts are %s", recorded)
	}
	if err := os.Remove(n.root + kubeletConfigPath); err != nil {
		t.Fatal(err)
	}
	again, asked := kubeadmNode(t, n.root, func(context.Context, <-chan struct{}) (string, error) { return "", errors.New("must not be asked") })
	if got := again.Provision(t.Context(), ProvisionOptions{}); got.ExitCode != 0 || asked.Load() != 0 || again.kubelet("clusterDNS") != `["10.96.0.10"]` {
		t.Errorf("the second boot: %d after %d questions: %v", got.ExitCode, asked.Load(), got.Errors)
	}
	if entries, err := again.Generations(); err != nil || len(entries) != 1 {
		t.Errorf("there are %d generations: %v", len(entries), err)
	}
}

// TestNoKubeletDefaults: without an answer the node starts, with a warning that explains the effect. The next run asks
// again, and changes the running node.
func TestNoKubeletDefaults(t *testing.T) {
	for name, err := range map[string]error{
		"forbidden": &apply.CheckError{Cause: resource.CauseForbidden, Endpoint: "https://api.example.com:6443", Err: errors.New("the node's credential may not read it (HTTP status 403)")},
		"silence":   &apply.CheckError{Cause: resource.CauseConnection, Endpoint: "https://api.example.com:6443", Err: context.DeadlineExceeded},
		"unprobed":  apply.ErrNotProbed,
	} {
		t.Run(name, func(t *testing.T) {
			n, asked := kubeadmNode(t, "", func(context.Context, <-chan struct{}) (string, error) { return "", err })
			got := n.Provision(t.Context(), ProvisionOptions{})
			warned := 0
			for _, p := range got.Problems {
				if strings.Contains(p.Reason, "no name of a service") {
					warned++
				}
			}
			if got.ExitCode != 0 || asked.Load() != 1 || warned != 1 || n.kubelet("clusterDNS") != "null" {
				t.Fatalf("%d after %d questions, %d warnings: %v %v", got.ExitCode, asked.Load(), warned, got.Errors, got.Problems)
			}
			if n.exists(state.KubeletDefaults.Path) {
				t.Error("an answer is recorded")
			}
			n, asked = kubeadmNode(t, n.root, func(context.Context, <-chan struct{}) (string, error) { return clusterSettings, nil })
			got = n.Provision(t.Context(), ProvisionOptions{})
			if got.ExitCode != 0 || asked.Load() != 1 || n.kubelet("clusterDNS") != `["10.96.0.10"]` {
				t.Errorf("the second boot: %d after %d questions: %v", got.ExitCode, asked.Load(), got.Errors)
			}
			if entries, err := n.Generations(); err != nil || len(entries) != 2 || entries[1].Outcome != generation.Good {
				t.Errorf("generations %v, %v", entries, err)
			}
		})
	}
}

// TestUnusableKubeletDefaults: an answer that is not a configuration counts as no answer.
func TestUnusableKubeletDefaults(t *testing.T) {
	n, _ := kubeadmNode(t, "", func(context.Context, <-chan struct{}) (string, error) { return "kind: Pod", nil })
	got := n.Provision(t.Context(), ProvisionOptions{})
	if got.ExitCode != 0 || n.exists(state.KubeletDefaults.Path) || !strings.Contains(n.log.String(), "is not a KubeletConfiguration") {
		t.Errorf("%d: %v", got.ExitCode, got.Errors)
	}
}

// TestOnlyKubeadmIsAsked: only a kubeadm contract's cluster gets a request, and a preview makes none.
func TestOnlyKubeadmIsAsked(t *testing.T) {
	for contract, path := range map[string]string{"native/minimal.yaml": nativeContract, "aks/minimal.json": aksContract, "eksctl/minimal.yaml": nativeContract, "": nativeContract} {
		n, asked := kubeadmNode(t, "", func(context.Context, <-chan struct{}) (string, error) { return clusterSettings, nil })
		if contract == "" {
			n.Provision(t.Context(), ProvisionOptions{DryRun: true})
		} else {
			_ = os.Remove(n.root + nativeContract)
			n.deliver(path, example(t, contract))
			n.provision()
		}
		if asked.Load() != 0 {
			t.Errorf("%s: asked", contract)
		}
	}
}

// TestUpgradeByKubeadm: the file that kubeadm upgrade node writes is the new base. It is not drift, no repair reverts
// it, and the next plan begins with it. Another change of the file is drift as before.
func TestUpgradeByKubeadm(t *testing.T) {
	n, _ := kubeadmNode(t, "", func(context.Context, <-chan struct{}) (string, error) { return clusterSettings, nil })
	if got := n.Provision(t.Context(), ProvisionOptions{}); got.ExitCode != 0 {
		t.Fatal(got.Errors)
	}
	if !n.exists("/var/lib/kubelet/kubeadm-flags.env") || !n.exists("/var/lib/kubelet/instance-config.yaml") {
		t.Error("what kubeadm upgrade node reads is missing")
	}
	before := n.read(kubeletConfigPath)
	n.deliver(kubeletConfigPath, []byte(strings.Replace(clusterSettings, "64", "65", 1)))
	if changes, err := n.Drift(t.Context()); err != nil || len(changes) == 0 {
		t.Errorf("what an administrator has changed is no drift: %v, %v", changes, err)
	}
	n.deliver("/etc/kubernetes/tmp/kubeadm-kubelet-config-2026-11-26-01-02-03/config.yaml", before)
	upgraded := strings.Replace(clusterSettings, "64", "99", 1) + "containerRuntimeEndpoint: unix:///var/run/containerd/containerd.sock\n"
	n.deliver(kubeletConfigPath, []byte(upgraded))
	if changes, err := n.Drift(t.Context()); err != nil || len(changes) > 0 {
		t.Errorf("the upgrade is drift: %v, %v", changes, err)
	}
	if got := n.Repair(t.Context(), RepairOptions{}); got.Status.ExitCode != 0 || string(n.read(kubeletConfigPath)) != upgraded {
		t.Errorf("a repair takes it back: %v", got.Status.Errors)
	}
	n, asked := kubeadmNode(t, n.root, func(context.Context, <-chan struct{}) (string, error) { return "", errors.New("must not be asked") })
	if got := n.Provision(t.Context(), ProvisionOptions{}); got.ExitCode != 0 || asked.Load() != 0 || n.kubelet("maxPods") != "99" || n.kubelet("clusterDNS") != `["10.96.0.10"]` {
		t.Errorf("the next boot: %d after %d questions: %v", got.ExitCode, asked.Load(), got.Errors)
	}
	if changes, err := n.Drift(t.Context()); err != nil || len(changes) > 0 {
		t.Errorf("after the next boot: %v, %v", changes, err)
	}
}

// TestForeignNode: a Ready Node of another machine stops the join. No kubelet starts, and no boot starts one. When the
// name is free, the next run joins.
func TestForeignNode(t *testing.T) {
	n, _ := kubeadmNode(t, "", func(context.Context, <-chan struct{}) (string, error) { return clusterSettings, nil })
	taken := true
	n.host.before = func(op, name string) error {
		if op == "Probe" && name == "node-name" && taken {
			return &apply.CheckError{Cause: resource.CauseForeign, Endpoint: "https://api.example.com:6443", Err: errors.New("the cluster has a Node")}
		}
		return nil
	}
	actions := func() string {
		if !n.exists(state.Actions.Path) {
			return ""
		}
		return string(n.read(state.Actions.Path))
	}
	got := n.Provision(t.Context(), ProvisionOptions{})
	if got.ExitCode != exitcode.NodeNameTaken || len(got.Errors) == 0 || got.Errors[0].Cause != "foreign" || !strings.Contains(got.Errors[0].Action, "another name") {
		t.Fatalf("%d: %+v", got.ExitCode, got.Errors)
	}
	if !strings.Contains(actions(), `"disable","unit":"kubelet.service"`) || strings.Contains(actions(), `"start","unit":"kubelet.service"`) {
		t.Errorf("a kubelet starts: %s", actions())
	}
	taken = false
	if got := n.Provision(t.Context(), ProvisionOptions{}); got.ExitCode != 0 || !strings.Contains(actions(), `"start","unit":"kubelet.service"`) {
		t.Errorf("%d: %+v", got.ExitCode, got.Errors)
	}
}

// TestNodeIsAnnotatedForKubeadm: before Kubernetes 1.34 kubeadm upgrade node needs an annotation of the Node.
func TestNodeIsAnnotatedForKubeadm(t *testing.T) {
	for version, want := range map[string]int{"1.33.2": 1, "1.34.0": 0} {
		n, _ := kubeadmNode(t, "", func(context.Context, <-chan struct{}) (string, error) { return clusterSettings, nil })
		n.host.annotations = make(map[string]map[string]string)
		n.deliver(nativeContract, []byte(strings.Replace(string(example(t, "native/minimal.yaml")), "  kubernetesVersion: \"1.36.3\"\n", "  kubeadm: true\n  kubernetesVersion: \""+version+"\"\n", 1)))
		n.host.defaults = nil
		if got := n.Provision(t.Context(), ProvisionOptions{}); got.ExitCode != 0 || len(n.host.annotations[""]) != want {
			t.Errorf("%s: %d, %v: %v", version, got.ExitCode, n.host.annotations, got.Errors)
		}
	}
}

package eksctl_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/eks"
	"github.com/slipway-dev/slipway/nodeconfig/eksctl"
	"github.com/slipway-dev/slipway/test/contracts"
)

// withOverride is the example with a group of Amazon Linux 2023 and a NodeConfig.
func withOverride(t testing.TB, spec, change string) *document.Node {
	t.Helper()
	group := map[string]any{"name": "a", "amiFamily": "AmazonLinux2023"}
	if spec != "" {
		group["overrideBootstrapCommand"] = spec
	}
	data, err := json.Marshal(map[string]any{"nodeGroups": []any{group}})
	if err != nil {
		t.Fatal(err)
	}
	n := set(t, contracts.Parse(t, minimal), string(data))
	groups, _ := n.Get("nodeGroups")
	changes, err := document.Parse([]byte(change))
	if err != nil {
		t.Fatal(err)
	}
	groups.Items[0] = *contracts.Merge(&groups.Items[0], changes)
	return n
}

const head = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n"

// A group that names no family is of Amazon Linux 2023, and its images have nodeadm's places.
func TestAmazonLinux2023(t *testing.T) {
	for _, list := range []string{"nodeGroups", "managedNodeGroups"} {
		for _, family := range []string{"", ", amiFamily: AmazonLinux2023"} {
			r := read(set(t, contracts.Parse(t, minimal), strings.Replace("nodeGroups: null\nmanagedNodeGroups: null", list+": null", list+": [{name: a"+family+"}]", 1)), eksctl.Choice{})
			contracts.Compare(t, r.Problems, nil)
			want := &nodeconfig.OperatingSystem{ID: "amzn", VersionID: "2023"}
			if c := r.NodeConfig; c.Components.Layout != nodeconfig.LayoutEKS || *c.Components.OS != *want || len(c.Kubelet.MachineLabels) > 0 {
				t.Errorf("%s%s: %+v, machine labels %v", list, family, c.Components, c.Kubelet.MachineLabels)
			}
		}
	}
}

// A type that is missing is reported at a field that the kind of group has.
func TestMissingInstanceType(t *testing.T) {
	for list, want := range map[string]string{"nodeGroups": "instanceType", "managedNodeGroups": "instanceTypes"} {
		r := read(set(t, contracts.Parse(t, minimal), strings.Replace("nodeGroups: null\nmanagedNodeGroups: null", list+": null", list+": [{name: a, instanceSelector: {vCPUs: 2}}]", 1)), eksctl.Choice{})
		if got := r.Origin("$.kubelet.capacity.instanceTypes"); got != "$."+list+"[0]."+want {
			t.Errorf("%s: %s", list, got)
		}
	}
}

// An override takes precedence over the group's settings, map by map, and is no command.
func TestOverrideIsANodeConfig(t *testing.T) {
	r := read(withOverride(t, head+`
metadata: {name: x}
spec:
  cluster: {name: prod, cidr: 10.100.0.0/16}
  kubelet:
    config: {apiVersion: kubelet.config.k8s.io/v1beta1, maxPods: 17, kubeReserved: {cpu: 1}, systemReservedCgroup: ""}
    flags: ["--node-labels=\"a=b,c=d\" --v=3", --register-with-taints, "x=y:NoSchedule,z:NoExecute", --fail-swap-on]
    maxPodsExpression: max_pods + 2
  containerd: {config: "oom_score = -1\n", baseRuntimeSpec: {process: {noNewPrivileges: false}}}
  instance:
    environment: {default: {HTTPS_PROXY: http://secret.example}}
    localStorage: {strategy: RAID0}
    network: {nameservers: [10.0.0.2], domains: [a.example]}
  featureGates: {FastImagePull: true, InstanceIdNodeName: false}
`, `{"labels": {"a": "z", "e": "f"}, "kubeletExtraConfig": {"kubeReserved": {"memory": "1Gi"}, "registryPullQPS": 0}}`), eksctl.Choice{})
	contracts.Compare(t, r.Problems, nil)
	c := r.NodeConfig
	got := map[string]any{
		"config": c.Kubelet.Config, "labels": c.Kubelet.Labels, "taints": c.Kubelet.Taints, "flags": c.Kubelet.Flags, "commands": c.Commands,
		"expression": c.Kubelet.MaxPodsExpression, "toml": c.Runtime.Containerd.Config.Reveal(), "spec": c.Runtime.Containerd.BaseRuntimeSpec,
		"proxy": c.System.Environment["default"]["HTTPS_PROXY"].Reveal(), "storage": *c.System.LocalStorage, "pull": c.Runtime.LazyPull,
		"nameservers": c.Network.Nameservers, "domains": c.Network.SearchDomains,
	}
	want := map[string]any{
		"config": map[string]any{
			"maxPods": json.Number("17"), "kubeReserved": map[string]any{"cpu": json.Number("1"), "memory": "1Gi"}, "systemReservedCgroup": "", "registryPullQPS": json.Number("0"),
		},
		"labels":   map[string]string{"a": "b", "c": "d", "e": "f", "alpha.eksctl.io/cluster-name": "prod", "alpha.eksctl.io/nodegroup-name": "a"},
		"taints":   []nodeconfig.Taint{{Key: "x", Value: "y", Effect: "NoSchedule"}, {Key: "z", Effect: "NoExecute"}},
		"flags":    []nodeconfig.Flag{{Name: "v", Value: "3"}, {Name: "fail-swap-on", Value: "true"}},
		"commands": []nodeconfig.ShellCommand(nil), "expression": "max_pods + 2", "toml": "oom_score = -1\n",
		"spec": map[string]any{"process": map[string]any{"noNewPrivileges": false}}, "proxy": "http://secret.example",
		"storage": nodeconfig.LocalStorage{Strategy: "RAID0"}, "pull": "soci", "nameservers": []string{"10.0.0.2"}, "domains": []string{"a.example"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	const at = "$.nodeGroups[0].overrideBootstrapCommand.spec."
	for path, want := range map[string]string{
		"$.kubelet.config.kubeReserved.cpu":    at + "kubelet.config.kubeReserved.cpu",
		"$.kubelet.config.kubeReserved.memory": "$.nodeGroups[0].kubeletExtraConfig.kubeReserved.memory",
		"$.kubelet.labels.a":                   at + "kubelet.flags[0]",
		"$.kubelet.labels.e":                   "$.nodeGroups[0].labels.e",
		"$.kubelet.taints[0].effect":           at + "kubelet.flags[1].effect",
		"$.kubelet.flags[1]":                   at + "kubelet.flags[3]",
		"$.runtime.containerd.config":          at + "containerd.config",
	} {
		if got := r.Origin(path); got != want {
			t.Errorf("%s comes from %s, want %s", path, got, want)
		}
	}
}

// An override may supply what a ClusterConfig lacks about its cluster.
func TestOverrideNamesTheCluster(t *testing.T) {
	n := contracts.Parse(t, minimal)
	status, _ := n.Get("status")
	spec := head + "spec: {cluster: {apiServerEndpoint: " + status.GetText("endpoint") + ", certificateAuthority: " + status.GetText("certificateAuthorityData") + ", cidr: 10.100.0.0/16}}"
	r := read(set(t, withOverride(t, spec, `{}`), `{"status":null,"kubernetesNetworkConfig":null}`), eksctl.Choice{})
	contracts.Compare(t, r.Problems, nil)
	if whole := read(withOverride(t, "", `{}`), eksctl.Choice{}); form(r) != form(whole) {
		t.Errorf("got\n%s\nwant\n%s", form(r), form(whole))
	}
}

// What is wrong with an override is reported at its place within it, and no value is repeated.
func TestProblemsOfAnOverride(t *testing.T) {
	const at = "$.nodeGroups[0].overrideBootstrapCommand"
	problem := func(path, reason string, fatal bool) nodeconfig.Problem {
		return nodeconfig.Problem{Path: at + path, Reason: reason, Fatal: fatal}
	}
	for name, c := range map[string]struct {
		spec, change string
		want         []nodeconfig.Problem
	}{
		"no YAML":      {"spec: [secret", `{}`, []nodeconfig.Problem{problem("", "cannot be read as the NodeConfig", true)}},
		"a text":       {"secret", `{}`, []nodeconfig.Problem{problem("", "cannot be read as the NodeConfig", true)}},
		"a script":     {"#!/bin/bash\n/etc/eks/bootstrap.sh secret", `{}`, []nodeconfig.Problem{problem("", "move commands to preBootstrapCommands", true)}},
		"another kind": {"apiVersion: v1\nkind: Secret", `{}`, []nodeconfig.Problem{problem(".apiVersion", "node.eks.aws/v1alpha1", true), problem(".kind", "NodeConfig", true)}},
		"unknown fields": {head + "spec: {kubelt: {}, kubelet: {flagz: []}, featureGates: {Other: true}}", `{}`, []nodeconfig.Problem{
			problem(".spec.kubelt", "did you mean kubelet?", false), problem(".spec.kubelet.flagz", "did you mean flags?", false), problem(".spec.featureGates.Other", "unknown feature gate", false),
		}},
		"wrong types": {head + "spec: {kubelet: {flags: {a: b}}, featureGates: {FastImagePull: secret}}", `{}`, []nodeconfig.Problem{
			problem(".spec.kubelet.flags", "is a map", true), problem(".spec.featureGates.FastImagePull", "want a boolean", true),
		}},
		"flags that are none": {head + "spec: {kubelet: {flags: [secret, '--v=\"2']}}", `{}`, []nodeconfig.Problem{
			problem(".spec.kubelet.flags[1]", "has a quote without an end", true), problem(".spec.kubelet.flags[0]", "is not a flag", true),
		}},
		"an outpost": {head + "spec: {cluster: {enableOutpost: true, id: x}}", `{}`, []nodeconfig.Problem{problem(".spec.cluster.enableOutpost", "outpost", true)}},
		"a hybrid node": {head + "spec: {cluster: {region: eu-west-1}, hybrid: {}}", `{}`, []nodeconfig.Problem{
			problem(".spec.cluster.region", "hybrid", false), problem(".spec.hybrid", "hybrid", true),
		}},
		"another name for the node": {head + "spec: {featureGates: {InstanceIdNodeName: true}}", `{}`, []nodeconfig.Problem{problem(".spec.featureGates.InstanceIdNodeName", "private DNS name", true)}},
		"another cluster": {head + "spec: {cluster: {name: secret, cidr: 10.0.0.0/16}}", `{}`, []nodeconfig.Problem{
			{Path: "$.metadata.name", Reason: "differs from spec.cluster.name of overrideBootstrapCommand", Fatal: true},
			{Path: "$.kubernetesNetworkConfig.serviceIPv4CIDR", Reason: "differs from spec.cluster.cidr of overrideBootstrapCommand", Fatal: true},
		}},
		"taints and pods in three places": {
			head + "spec: {kubelet: {config: {maxPods: 3}, flags: ['--register-with-taints=a=b:NoSchedule']}}",
			`{"maxPodsPerNode": 2, "taints": [{"key": "c", "effect": "NoSchedule"}], "kubeletExtraConfig": {"maxPods": 1}}`,
			[]nodeconfig.Problem{
				{Path: "$.nodeGroups[0].kubeletExtraConfig.maxPods", Reason: "maxPodsPerNode has another value"},
				{Path: "$.nodeGroups[0].taints", Reason: "--register-with-taints, which replaces it"},
				{Path: "$.nodeGroups[0].maxPodsPerNode", Reason: "overrideBootstrapCommand has another value"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(withOverride(t, c.spec, c.change), eksctl.Choice{})
			contracts.Compare(t, r.Problems, c.want)
			for _, p := range r.Problems {
				if strings.Contains(p.Reason, "secret") {
					t.Errorf("%s", p)
				}
			}
		})
	}
}

// FuzzNodeConfig: whatever an override has, there is a config, and a second reading is the same.
func FuzzNodeConfig(f *testing.F) {
	f.Add(head + "spec: {kubelet: {flags: ['--a=\"b c\" --d'], config: {a: {b: 1}}}, featureGates: {FastImagePull: true}}")
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := document.Parse([]byte(text))
		if err != nil {
			return
		}
		first, second := eks.FromTree(tree), eks.FromTree(tree)
		if string(nodeconfig.Encode(first.NodeConfig)) != string(nodeconfig.Encode(second.NodeConfig)) || cmp.Diff(first.Origins, second.Origins) != "" {
			t.Fatal("a second reading is another one")
		}
		for _, p := range first.Problems {
			if !strings.HasPrefix(p.Path, "$") || p.Reason == "" {
				t.Fatalf("a problem without a path or a reason: %+v", p)
			}
		}
	})
}

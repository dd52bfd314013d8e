package eksctl_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/eksctl"
	"github.com/slipway-dev/slipway/test/contracts"
)

const (
	groups  = "testdata/groups.yaml"
	minimal = "../../examples/eksctl/minimal.yaml"
)

// read reads a document with a choice.
func read(n *document.Node, choice eksctl.Choice) *eksctl.Result { return eksctl.FromTree(n, choice) }

// form is a complete config in its canonical form.
func form(r *eksctl.Result) string {
	nodeconfig.Default(r.NodeConfig)
	return string(nodeconfig.Encode(r.NodeConfig))
}

// set returns a document with something changed.
func set(t testing.TB, n *document.Node, change string) *document.Node {
	t.Helper()
	changes, err := document.Parse([]byte(change))
	if err != nil {
		t.Fatal(err)
	}
	return contracts.Merge(n, changes)
}

// One of several groups is named; of which kind the others are does not matter, nor in which order they are.
func TestNodeGroup(t *testing.T) {
	tree := contracts.Parse(t, groups)
	batch := read(tree, eksctl.Choice{NodeGroup: "batch"})
	contracts.Compare(t, batch.Problems, nil)
	for _, part := range []string{
		`"maxPods":20`, `"instanceTypes":["m5.large","m5a.large"]`, `"key":"dedicated"`, `"text":"yum install -y nfs-utils"`, `"alpha.eksctl.io/nodegroup-name":"batch"`,
		`"dnsServiceIPs":["169.254.20.10"]`,
	} {
		if !strings.Contains(form(batch), part) {
			t.Errorf("no %s in %s", part, form(batch))
		}
	}
	if web := read(tree, eksctl.Choice{NodeGroup: "web"}); len(web.Problems) > 0 || !strings.Contains(form(web), `"instanceTypes":["c5.xlarge"]`) {
		t.Errorf("%v %s", web.Problems, form(web))
	}
	other := *tree
	other.Fields = slices.Clone(tree.Fields)
	slices.Reverse(other.Fields)
	for i := range other.Fields {
		if f := &other.Fields[i]; f.Name == "nodeGroups" {
			f.Value.Items = slices.Clone(f.Value.Items)
			slices.Reverse(f.Value.Items)
		}
	}
	if turned := read(&other, eksctl.Choice{NodeGroup: "batch"}); form(turned) != form(batch) {
		t.Errorf("in another order it is\n%s\nand not\n%s", form(turned), form(batch))
	}
	for _, c := range []struct{ name, want string }{
		{"", "name that of the node with --node-group; there are batch, web, windows"},
		{"Batch", "has no group of the name that was given, and neither has managedNodeGroups; there are batch, web, windows"},
	} {
		contracts.Compare(t, read(tree, eksctl.Choice{NodeGroup: c.name}).Problems, []nodeconfig.Problem{{Path: "$.nodeGroups", Reason: c.want, Fatal: true}})
	}
	windows := read(tree, eksctl.Choice{NodeGroup: "windows"})
	contracts.Compare(t, windows.Problems, []nodeconfig.Problem{{Path: "$.nodeGroups[0].amiFamily", Reason: "is Windows", Fatal: true}})
}

// A problem of a group that is not the first has its place.
func TestPathsOfAGroup(t *testing.T) {
	tree := contracts.Parse(t, groups)
	spoiled := contracts.Replace(tree, "$.nodeGroups[1].labels", &document.Node{Kind: document.List})
	r := read(spoiled, eksctl.Choice{NodeGroup: "batch"})
	contracts.Compare(t, r.Problems, []nodeconfig.Problem{{Path: "$.nodeGroups[1].labels", Reason: "is a list", Fatal: true}})
	for path, want := range map[string]string{
		"$.kubelet.config.kubeReserved.cpu": "$.nodeGroups[1].kubeletExtraConfig.kubeReserved.cpu",
		"$.kubelet.config.maxPods":          "$.nodeGroups[1].maxPodsPerNode",
		"$.kubelet.taints[0]":               "$.nodeGroups[1].taints[0]",
		"$.kubelet.capacity":                "$.nodeGroups[1].instancesDistribution.instanceTypes",
		"$.commands[0].text":                "$.nodeGroups[1].preBootstrapCommands[0]",
		"$.join.aws.region":                 "$.metadata.region",
		"$.metadata.name":                   "$.metadata.name",
	} {
		if got := r.Origin(path); got != want {
			t.Errorf("%s comes from %s, want %s", path, got, want)
		}
	}
}

// cluster is what describes the cluster of the example.
func cluster(t testing.TB, change string) []byte {
	t.Helper()
	data, err := os.ReadFile("../../examples/facts/cluster.json")
	if err != nil {
		t.Fatal(err)
	}
	n, err := document.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return set(t, n, change).AppendJSON(nil)
}

// The cluster's description supplies what a document lacks. If both have a value and the values differ, the problem names the paths,
// and no value.
func TestCluster(t *testing.T) {
	const file = "cluster.json"
	tree := contracts.Parse(t, minimal)
	whole := read(tree, eksctl.Choice{})
	for name, c := range map[string]struct {
		document, cluster string
		want              []nodeconfig.Problem
	}{
		"both":     {`{}`, `{}`, nil},
		"the file": {`{"status":null,"kubernetesNetworkConfig":null,"metadata":{"version":null}}`, `{}`, nil},
		"the same in other words": {
			`{"status":{"endpoint":"https://0123456789abcdef0123456789abcdef.gr7.eu-west-1.eks.amazonaws.com/"}}`, `{}`, nil,
		},
		"another endpoint": {`{"status":{"endpoint":"https://secret.example"}}`, `{}`, []nodeconfig.Problem{
			{Path: "$.status.endpoint", Fatal: true, Reason: "differs from cluster.endpoint of cluster.json"},
		}},
		"another CA": {`{}`, `{"cluster":{"certificateAuthority":{"data":"c2VjcmV0"}}}`, []nodeconfig.Problem{
			{Path: "$.status.certificateAuthorityData", Fatal: true, Reason: "differs from cluster.certificateAuthority.data of cluster.json"},
		}},
		"another range": {`{}`, `{"cluster":{"kubernetesNetworkConfig":{"serviceIpv4Cidr":"172.20.0.0/16"}}}`, []nodeconfig.Problem{
			{Path: "$.kubernetesNetworkConfig.serviceIPv4CIDR", Fatal: true, Reason: "differs from cluster.kubernetesNetworkConfig.serviceIpv4Cidr of cluster.json"},
		}},
		"another cluster": {`{}`, `{"cluster":{"name":"secret"}}`, []nodeconfig.Problem{
			{Path: "$.metadata.name", Fatal: true, Reason: "differs from cluster.name of cluster.json"},
		}},
		"one that is being made": {`{}`, `{"cluster":{"endpoint":null,"certificateAuthority":null}}`, []nodeconfig.Problem{
			{Path: "$.cluster", Fatal: true, Reason: "has neither endpoint nor certificateAuthority"},
		}},
		"a value of another type": {`{}`, `{"cluster":{"endpoint":7}}`, []nodeconfig.Problem{
			{Path: "$.cluster.endpoint", Fatal: true, Reason: "is a number"},
		}},
	} {
		r := read(set(t, tree, c.document), eksctl.Choice{Cluster: cluster(t, c.cluster), ClusterName: file})
		contracts.Compare(t, r.Problems, c.want)
		for _, p := range r.Problems {
			if (p.Document != "") != strings.HasPrefix(p.Path, "$.cluster") || strings.Contains(p.Reason, "secret") {
				t.Errorf("%s: %+v", name, p)
			}
		}
		again := read(r.Document, eksctl.Choice{})
		if len(r.Problems) == 0 && (form(again) != form(r) || len(again.Problems) > 0) {
			t.Errorf("%s: its own document is read as\n%s\n%v\nand was\n%s", name, form(again), again.Problems, form(r))
		}
		if name == "both" || name == "the file" {
			if form(r) != form(whole) {
				t.Errorf("%s: got\n%s\nwant\n%s", name, form(r), form(whole))
			}
		}
	}
	for _, text := range []string{"", "{", "[]", "cluster: x", "\x00"} {
		r := read(tree, eksctl.Choice{Cluster: []byte(text), ClusterName: file})
		if len(nodeconfig.Fatal(r.Problems)) == 0 || r.Problems[0].Document != file {
			t.Errorf("%q: %v", text, r.Problems)
		}
	}
}

// FuzzFromTree: for every input there is a config, each problem has a path and a reason, a repeated value is always read the same way,
// and the document with only the node's group gives the same node.
func FuzzFromTree(f *testing.F) {
	for _, name := range []string{groups, minimal} {
		f.Add(contracts.Parse(f, name).AppendJSON(nil), "batch", cluster(f, "{}"))
	}
	for _, c := range contracts.Load(f, minimal, "../dialect/testdata/eksctl.yaml") {
		f.Add(c.Document, "", []byte(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte, name string, described []byte) {
		tree, err := document.Parse(data)
		if err != nil {
			return
		}
		before := string(tree.AppendJSON(nil))
		choice := eksctl.Choice{NodeGroup: name, Cluster: described, ClusterName: "cluster"}
		r := read(tree, choice)
		if string(tree.AppendJSON(nil)) != before {
			t.Fatal("the document is changed")
		}
		if form(read(tree, choice)) != form(r) {
			t.Fatal("a second reading is another one")
		}
		for _, p := range r.Problems {
			if p.Path == "" || p.Path[0] != '$' || p.Reason == "" {
				t.Fatalf("a problem without a path or a reason: %+v", p)
			}
			if origin := r.Origin(p.Path); origin == "" || origin[0] != '$' {
				t.Fatalf("%s comes from %q", p.Path, origin)
			}
		}
		if len(nodeconfig.Fatal(r.Problems)) > 0 {
			return
		}
		if again := read(r.Document, eksctl.Choice{}); form(again) != form(r) || len(again.Problems) != len(r.Problems) {
			t.Fatalf("the document of the node alone is read as\n%s\n%v\nand was\n%s\n%v", form(again), again.Problems, form(r), r.Problems)
		}
	})
}

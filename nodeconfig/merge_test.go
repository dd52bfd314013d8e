package nodeconfig_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// TestMerge: a later config's values win, field by field.
func TestMerge(t *testing.T) {
	base := &nodeconfig.NodeConfig{
		Join: nodeconfig.Join{BootstrapToken: nodeconfig.NewSecret("old")},
		Kubelet: nodeconfig.Kubelet{
			NodeName: "a", NodeIPs: []string{"10.0.0.4"}, Labels: map[string]string{"team": "blue", "tier": "web"},
			Taints: []nodeconfig.Taint{{Key: "k", Effect: "NoSchedule"}},
			Config: map[string]any{"maxPods": 50, "failSwapOn": true, "evictionHard": map[string]any{"memory.available": "1Gi"}, "clusterDNS": []any{"10.0.0.10"}},
		},
		Components: nodeconfig.Components{Preinstalled: new(true), Artifacts: map[string]nodeconfig.Artifact{"kubernetes": {Version: "1.36.3", URL: "https://a"}}},
		Cloud:      nodeconfig.Cloud{Azure: &nodeconfig.Azure{Location: "eastus", VNet: "v", UseInstanceMetadata: true}},
	}
	later := &nodeconfig.NodeConfig{
		Join: nodeconfig.Join{BootstrapToken: nodeconfig.NewSecret("new")},
		Kubelet: nodeconfig.Kubelet{
			NodeIPs: []string{}, Labels: map[string]string{"tier": ""},
			Config: map[string]any{"maxPods": nil, "failSwapOn": false, "evictionHard": map[string]any{"nodefs.available": "5%"}, "clusterDNS": []any{}},
		},
		Components: nodeconfig.Components{Preinstalled: new(false), Artifacts: map[string]nodeconfig.Artifact{"kubernetes": {Version: "1.36.4"}}},
		Cloud:      nodeconfig.Cloud{Azure: &nodeconfig.Azure{Location: "westus"}},
	}
	want := &nodeconfig.NodeConfig{
		Join: nodeconfig.Join{BootstrapToken: nodeconfig.NewSecret("new")},
		Kubelet: nodeconfig.Kubelet{
			NodeName: "a", NodeIPs: []string{}, Labels: map[string]string{"team": "blue", "tier": ""},
			Taints: []nodeconfig.Taint{{Key: "k", Effect: "NoSchedule"}},
			Config: map[string]any{
				"maxPods": 50, "failSwapOn": false, "clusterDNS": []any{},
				"evictionHard": map[string]any{"memory.available": "1Gi", "nodefs.available": "5%"},
			},
		},
		Components: nodeconfig.Components{Preinstalled: new(false), Artifacts: map[string]nodeconfig.Artifact{"kubernetes": {Version: "1.36.4", URL: "https://a"}}},
		Cloud:      nodeconfig.Cloud{Azure: &nodeconfig.Azure{Location: "westus", VNet: "v", UseInstanceMetadata: true}},
	}
	before := nodeconfig.Merge(base)
	got := nodeconfig.Merge(nil, base, later)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", nodeconfig.Encode(got), nodeconfig.Encode(want))
	}
	got.Kubelet.Labels["tier"], got.Cloud.Azure.VNet, *got.Components.Preinstalled = "x", "x", true
	got.Kubelet.Config["evictionHard"].(map[string]any)["memory.available"] = "x"
	got.Kubelet.Taints[0].Key = "x"
	if !reflect.DeepEqual(base, before) || *later.Components.Preinstalled {
		t.Error("a config shares something with what was made of it")
	}
}

// TestMergeLaws: the result does not depend on how configs are grouped; merging an empty config, or the same config again, changes
// nothing; and the result equals that of merging the configs' documents, if these have no zero values.
func TestMergeLaws(t *testing.T) {
	text, err := os.ReadFile("../examples/native/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := document.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	chance := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var trees [3]*document.Node
		var configs [3]*nodeconfig.NodeConfig
		for i := range trees {
			trees[i] = some(tree, chance)
			configs[i], _ = nodeconfig.FromTree(trees[i])
		}
		checkLaws(t, configs)
		merged, _ := nodeconfig.FromTree(&document.Merge(trees[:]...).Top)
		if got := nodeconfig.Merge(configs[:]...); !reflect.DeepEqual(got, merged) {
			t.Fatalf("configs become\n%s\ndocuments\n%s", nodeconfig.Encode(got), nodeconfig.Encode(merged))
		}
	}
}

// some returns a document with some fields of another one, and some of its strings and numbers changed.
func some(n *document.Node, chance *rand.Rand) *document.Node {
	part := *n
	part.Fields, part.Items = nil, nil
	for _, f := range n.Fields {
		if f.Name != "checks" && chance.IntN(3) > 0 { // a changed string is not a duration
			part.Fields = append(part.Fields, document.Field{Name: f.Name, Value: *some(&f.Value, chance)})
		}
	}
	for i := range n.Items {
		if i == 0 || chance.IntN(3) > 0 {
			part.Items = append(part.Items, n.Items[i])
		}
	}
	if (n.Kind == document.String || n.Kind == document.Number) && n.Text != "0" && chance.IntN(2) > 0 {
		part.Text += "1"
	}
	return &part
}

func checkLaws(t *testing.T, c [3]*nodeconfig.NodeConfig) {
	t.Helper()
	equal := func(law string, a, b *nodeconfig.NodeConfig) {
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%s: got\n%s\nwant\n%s", law, nodeconfig.Encode(a), nodeconfig.Encode(b))
		}
	}
	merge := nodeconfig.Merge
	equal("alone", merge(c[0]), c[0])
	equal("nothing before", merge(new(nodeconfig.NodeConfig), c[0]), c[0])
	equal("nothing after", merge(c[0], new(nodeconfig.NodeConfig)), c[0])
	equal("the same again", merge(c[0], c[0]), c[0])
	equal("grouped to the left", merge(merge(c[0], c[1]), c[2]), merge(c[0], c[1], c[2]))
	equal("the last again", merge(c[0], c[1], c[1]), merge(c[0], c[1]))
	if !conflict(c[0].Kubelet.Config, c[1].Kubelet.Config) && !conflict(c[1].Kubelet.Config, c[2].Kubelet.Config) && !conflict(c[0].Kubelet.Config, c[2].Kubelet.Config) {
		equal("grouped to the right", merge(c[0], merge(c[1], c[2])), merge(c[0], c[1], c[2]))
	}
}

// conflict reports whether one value has a map and the other has another type at the same path.
func conflict(a, b any) bool {
	one, first := a.(map[string]any)
	other, second := b.(map[string]any)
	if a == nil || b == nil || !first && !second {
		return false
	}
	if first != second {
		return true
	}
	for name := range one {
		if conflict(one[name], other[name]) {
			return true
		}
	}
	return false
}

// FuzzMerge: the laws hold for all valid documents.
func FuzzMerge(f *testing.F) {
	files, err := filepath.Glob("../examples/native/*")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, []byte("kubelet: {config: {maxPods: null, a: {b: 1}}, labels: {a: ''}}"), []byte("kubelet: {config: {a: {b: {}}}, nodeIPs: []}"))
	}
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		var configs [3]*nodeconfig.NodeConfig
		for i, data := range [][]byte{a, b, c} {
			tree, err := document.Parse(data)
			if err != nil {
				return
			}
			// Only kubelet.config may have a map in one document and another type in the other.
			kept := &document.Node{Kind: document.Map}
			for _, f := range tree.Fields {
				if f.Name == "kubelet" || f.Name == "join" || f.Name == "components" {
					kept.Fields = append(kept.Fields, f)
				}
			}
			configs[i], _ = nodeconfig.FromTree(kept)
			configs[i].Kubelet.ImageCredentialProvider = nil
		}
		checkLaws(t, configs)
	})
}

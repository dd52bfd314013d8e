package explain

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
)

func TestWith(t *testing.T) {
	const before = `{"a":{"b":[1,2]},"c":"x"}`
	tree := parseTree([]byte(before))
	seven := numberNode("7")
	for _, tt := range []struct {
		steps []step
		value *document.Node
		want  string
	}{
		{[]step{field("c")}, &seven, `{"a":{"b":[1,2]},"c":7}`},
		{[]step{field("c")}, nil, `{"a":{"b":[1,2]}}`},
		{[]step{field("d"), field("e")}, &seven, `{"a":{"b":[1,2]},"c":"x","d":{"e":7}}`},
		{[]step{field("a"), field("b"), item(1)}, &seven, `{"a":{"b":[1,7]},"c":"x"}`},
		{[]step{field("a"), field("b"), item(0)}, nil, `{"a":{"b":[2]},"c":"x"}`},
		{[]step{field("a"), field("b"), item(2)}, &seven, `{"a":{"b":[1,2,7]},"c":"x"}`},
		{[]step{field("a"), field("x")}, nil, before},
		{nil, &seven, `7`},
	} {
		if got := string(with(tree, tt.steps, tt.value).AppendJSON(nil)); got != tt.want {
			t.Errorf("with %s is %s, want %s", pathOf(tt.steps), got, tt.want)
		}
		if got := string(tree.AppendJSON(nil)); got != before {
			t.Fatalf("with %s changed the tree to %s", pathOf(tt.steps), got)
		}
	}
}

func TestFind(t *testing.T) {
	native, aks := loadCatalog("native"), loadCatalog("aks")
	tree := parseTree([]byte(`{"kubelet":{"labels":{"a.b/c":"1","a":"2"},"taints":[{"key":"k"}],
		"config":{"evictionHard":{"memory.available":"1"},"list":[1]}},"kubelet_config":{"kubeletFlags":{"--v":"2"}}}`))
	for _, tt := range []struct {
		catalog    *catalog
		path, want string // want begins with ! for an error
	}{
		{native, "kubelet.labels", "$.kubelet.labels"},
		{native, "$.kubelet.labels", "$.kubelet.labels"},
		{native, "$", "$"},
		{native, "", "$"},
		{native, "kubelet.labels.a.b/c", `$.kubelet.labels["a.b/c"]`},
		{native, `kubelet.labels["a.b/c"]`, `$.kubelet.labels["a.b/c"]`},
		{native, "kubelet.labels['a.b/c']", `$.kubelet.labels["a.b/c"]`},
		{native, "kubelet.labels.a", "$.kubelet.labels.a"},
		{native, "kubelet.labels.x.y", `$.kubelet.labels["x.y"]`},
		{native, "kubelet.taints[0].key", "$.kubelet.taints[0].key"},
		{native, "kubelet.config.evictionHard.memory.available", `$.kubelet.config.evictionHard["memory.available"]`},
		{native, "kubelet.config.list[0]", "$.kubelet.config.list[0]"},
		{native, "kubelet.config.new.field", "$.kubelet.config.new.field"},
		{native, "system.environment.kubelet.A", "$.system.environment.kubelet.A"},
		{native, "kubelet.taints[1]", "$.kubelet.taints[1]"},
		{native, "kubelet.taints[2]", "!$.kubelet.taints[2]: does not exist: the list has 1"},
		{native, "kubelet.taints.key", "!$.kubelet.taints: is a list: name an item, such as [0]"},
		{native, "kubelet.config.list[9999999999999999999]", "!$.kubelet.config.list: is a list: name an item, such as [0]"},
		{native, "kubelet.labels.a.x", `$.kubelet.labels["a.x"]`},
		{native, "cluster.server.x", "!$.cluster.server: has nothing below it"},
		{native, "cluster[server]", `![server]: write the name in brackets as ["name"]`},
		{native, "kubelet.nope", "!$.kubelet.nope: there is no such field"},
		{aks, "kubelet_config.kubelet_flags.--v", `$.kubelet_config.kubelet_flags["--v"]`},
		{aks, "kubeletConfig.kubeletFlags['--v']", `$.kubelet_config.kubelet_flags["--v"]`},
	} {
		at, err := tt.catalog.find(tt.path, tree)
		got := ""
		if err != nil {
			got = "!" + err.Error()
		} else {
			got = pathOf(at.first)
		}
		if got != tt.want {
			t.Errorf("%s is %s, want %s", tt.path, got, tt.want)
		}
	}
}

func FuzzFind(f *testing.F) {
	native := loadCatalog("native")
	tree := parseTree([]byte(`{"kubelet":{"labels":{"a.b/c":"1"},"taints":[{"key":"k"}],"config":{"a":[{"b":1}]}}}`))
	for _, seed := range []string{"kubelet.labels.a.b/c", `kubelet.labels["a`, "kubelet.taints[0].key", "kubelet.config.a[0].b", "$..[", "[']"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		at, err := native.find(path, tree)
		if err != nil {
			return
		}
		again, err := native.find(pathOf(at.first), tree)
		if err != nil || pathOf(again.first) != pathOf(at.first) {
			t.Errorf("%q is %s, which is found as %v, %v", path, pathOf(at.first), again, err)
		}
	})
}

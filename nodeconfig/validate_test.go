package nodeconfig_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/contracts"
)

const minimal = "../examples/native/minimal.yaml"

// validateCases are the documents of testdata/validate, each a change to the minimal example.
func validateCases(t *testing.T) map[string][]contracts.Case {
	t.Helper()
	files, err := filepath.Glob("testdata/validate/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	cases := make(map[string][]contracts.Case)
	for _, file := range files {
		cases[strings.TrimSuffix(filepath.Base(file), ".yaml")] = contracts.Load(t, minimal, file)
	}
	return cases
}

// complete decodes a document that has no problem yet, and sets its defaults.
func complete(t *testing.T, doc []byte) *nodeconfig.NodeConfig {
	t.Helper()
	config, problems := decode(doc)
	if len(problems) > 0 {
		t.Errorf("does not decode:\n%s", contracts.List(problems))
	}
	nodeconfig.Default(config)
	return config
}

// TestRepair: Repair reports all problems, removes exactly the values that are not fatal, and leaves a config with only the fatal
// problems.
func TestRepair(t *testing.T) {
	// These have a default that replaces the removed value.
	replaced := map[string]bool{"$.cluster.dnsDomain": true, "$.runtime.sandboxImage": true}
	for file, cases := range validateCases(t) {
		for _, c := range cases {
			t.Run(file+"/"+c.Name, func(t *testing.T) {
				config := complete(t, c.Document)
				before := tree(t, config)
				contracts.Compare(t, nodeconfig.Repair(config), c.Want)

				unusable := make(map[string]bool)
				for _, p := range c.Want {
					unusable[p.Path] = unusable[p.Path] || !p.Fatal
				}
				var left []nodeconfig.Problem
				for _, p := range nodeconfig.Fatal(c.Want) {
					if !unusable[p.Path] {
						left = append(left, p)
					}
				}
				contracts.Compare(t, nodeconfig.Repair(config), left)

				want := without(before, func(path string) bool { return unusable[path] })
				got := without(tree(t, config), func(path string) bool { return replaced[path] && unusable[path] })
				if string(got) != string(want) {
					t.Errorf("left is\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

func tree(t *testing.T, config *nodeconfig.NodeConfig) *document.Node {
	t.Helper()
	n, err := document.Parse(nodeconfig.Encode(config))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// without is the canonical form of a document with some values removed, and with the containers that are then empty.
func without(n *document.Node, drop func(path string) bool) []byte {
	left := contracts.Edit(n, func(path string, n *document.Node) *document.Node {
		if drop(path) {
			return nil
		}
		return n
	})
	config, _ := nodeconfig.FromTree(left)
	return nodeconfig.Encode(config)
}

// TestRepairFindsAll merges the documents of all cases: every problem is reported at once.
func TestRepairFindsAll(t *testing.T) {
	all := contracts.Parse(t, minimal)
	for _, file := range []string{"host", "kubelet", "labels"} {
		for _, c := range contracts.Parse(t, "testdata/validate/"+file+".yaml").Fields {
			if set, ok := c.Value.Get("set"); ok {
				all = contracts.Merge(all, set)
			}
		}
	}
	problems := nodeconfig.Repair(complete(t, all.AppendJSON(nil)))
	if len(problems) < 60 {
		t.Errorf("only %d problems:\n%s", len(problems), contracts.List(problems))
	}
	seen := make(map[string]bool)
	for i, p := range problems {
		if seen[p.Path] {
			t.Errorf("%s is in the list twice", p.Path)
		}
		seen[p.Path] = true
		if i > 0 && p.Fatal == problems[i-1].Fatal && p.Path < problems[i-1].Path || i > 0 && p.Fatal && !problems[i-1].Fatal {
			t.Errorf("%s is out of order", p.Path)
		}
	}
}

// TestRepairNothing: a config without Default has problems, and Repair does not panic.
func TestRepairNothing(t *testing.T) {
	for _, config := range []*nodeconfig.NodeConfig{new(nodeconfig.NodeConfig), fullConfig()} {
		fatal := nodeconfig.Fatal(nodeconfig.Repair(config))
		if len(fatal) == 0 {
			t.Error("no fatal problem")
		}
		contracts.Compare(t, nodeconfig.Repair(config), fatal)
	}
}

// TestReasonsDoNotRepeatValues: no problem of a string shows the string.
func TestReasonsDoNotRepeatValues(t *testing.T) {
	for _, word := range []string{canary, "!" + canary, canary + "\n", "\x00" + canary, "-----BEGIN " + canary + "-----"} {
		config := fullConfig()
		form := contracts.Edit(tree(t, config), func(_ string, n *document.Node) *document.Node {
			if n.Kind == document.String {
				return &document.Node{Kind: document.String, Text: word}
			}
			return n
		})
		changed, problems := nodeconfig.FromTree(form)
		nodeconfig.Default(changed)
		for _, p := range append(problems, nodeconfig.Repair(changed)...) {
			if strings.Contains(p.String(), canary) {
				t.Errorf("%q: %s", word, p)
			}
		}
	}
}

// TestLongVariables: no unit gets a variable with which the kernel does not start its program (execve(2), MAX_ARG_STRLEN).
func TestLongVariables(t *testing.T) {
	for size, taken := range map[int]bool{100 << 10: true, 128 << 10: false} {
		c := &nodeconfig.NodeConfig{}
		long := strings.Repeat("a", size)
		c.Proxy.NoProxy = []string{long[size/2:], long[:size/2]}
		c.System.Environment = map[string]map[string]nodeconfig.Secret{"default": {"A": nodeconfig.NewSecret(long)}}
		problems := nodeconfig.Repair(c)
		for _, path := range []string{"$.proxy.noProxy", "$.system.environment.default.A"} {
			if refused := slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool { return p.Path == path }); refused == taken {
				t.Errorf("%d bytes in %s: refused: %v", size, path, refused)
			}
		}
		if left := len(c.Proxy.NoProxy) > 0; left != taken {
			t.Errorf("%d bytes: left: %v", size, left)
		}
	}
}

package compile_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
)

func several(texts ...string) []compile.Document {
	var documents []compile.Document
	for i, text := range texts {
		documents = append(documents, compile.Document{Name: string(rune('a' + i)), Data: []byte(text)})
	}
	return documents
}

// TestSeveral: documents are merged before they are decoded, and each problem has the position in the document with the value.
func TestSeveral(t *testing.T) {
	base := read(t, minimal)
	c := compile.Read(several(base, "system:\n  swapMB: x\nkubelet: {config: {failSwapOn: true, maxPods: 30}, nope: 1}", "kubelet:\n  config: {failSwapOn: false}\nruntime: {lazyPull: soci}"), "")
	if c.Dialect != "native" || c.Config.Kubelet.Config["failSwapOn"] != false || len(c.Fatal()) > 0 || !bytes.Contains(c.Canonical(), []byte(`"failSwapOn":false`)) {
		t.Errorf("%s is\n%s", c.Dialect, c.Canonical())
	}
	_, problems := c.Plan(facts.Facts{CPUs: 2}) // too few for the snapshotter
	places := map[string]nodeconfig.Problem{}
	for _, p := range problems {
		places[p.Path] = p
	}
	for path, want := range map[string]nodeconfig.Problem{
		"$.system.swapMB":    {Document: "b", Line: 2, Column: 11},
		"$.kubelet.nope":     {Document: "b", Line: 3, Column: 58},
		"$.runtime.lazyPull": {Document: "c", Line: 3, Column: 21},
	} {
		if got := places[path]; got.Document != want.Document || got.Line != want.Line || got.Column != want.Column {
			t.Errorf("%s: %s:%d:%d", path, got.Document, got.Line, got.Column)
		}
	}
	alone := compile.ReadOne("", c.Canonical())
	if nodeconfig.Digest(alone.Config) != nodeconfig.Digest(c.Config) || len(alone.Problems) != len(c.Problems) {
		t.Error("what is delivered is not what was read")
	}
	if one := compile.Read(several(base, "{}"), ""); nodeconfig.Digest(one.Config) != nodeconfig.Digest(compile.ReadOne("", []byte(base)).Config) {
		t.Error("nothing changes something")
	}
}

// TestSeveralRefused: documents that cannot form a contract are refused, with the name of each wrong one.
func TestSeveralRefused(t *testing.T) {
	native, aks := read(t, minimal), read(t, "../../examples/aks/minimal.json")
	large := "kubelet: {config: {x: " + strings.Repeat("a", 600<<10) + "}}"
	for name, c := range map[string]struct {
		documents []compile.Document
		dialect   string
		want      []string
	}{
		"none":             {nil, "", []string{": is made of 0 documents"}},
		"too many":         {make([]compile.Document, compile.MaxDocuments+1), "", []string{": is made of 17 documents"}},
		"two dialects":     {several(native, "kubelet: {}", aks), "", []string{"c: is of the dialect aks, and a is of native"}},
		"another program":  {several(native, "apiVersion: node.eks.aws/v1alpha1"), "", []string{"b: is a NodeConfig of EKS's nodeadm"}},
		"no contract":      {several("a: 1", "b: 2"), "", []string{": is not a known contract"}},
		"unreadable":       {several("{", native, "a: [", "x"), "", []string{"a: json", "c: yaml", "d: document is a string"}},
		"too large as one": {several(native, large, strings.Replace(large, "x:", "y:", 1)), "", []string{": document too large"}},
		"unknown dialect":  {several(native, native), "x", []string{": unknown dialect"}},
	} {
		got := compile.Read(c.documents, c.dialect)
		same := len(got.Problems) == len(c.want) && !got.Readable() && got.Config != nil && len(got.Fatal()) == len(c.want)
		for i := range c.want {
			same = same && strings.HasPrefix(got.Problems[i].Document+": "+got.Problems[i].Reason, c.want[i])
		}
		if !same {
			t.Errorf("%s: %v", name, got.Problems)
		}
	}
}

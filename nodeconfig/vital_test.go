package nodeconfig_test

import (
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/contracts"
)

// badTexts are each refused by some field.
var badTexts = []string{"?", "a b", "a\nb", "1ns", "-1", "0", "x:99999", "127.0.0.1", "https://", "/", "{", "", "zz", "99999999999"}

// TestWrongTypeIsNoLesserFault: if a field refuses a value of the right type, it also refuses one of the wrong type. Every leaf of
// a full document gets bad values of its type, and then a value of another type.
func TestWrongTypeIsNoLesserFault(t *testing.T) {
	full := tree(t, fullConfig())
	refused, fields := 0, 0
	contracts.Walk(full, func(path string, n *document.Node) {
		if n.Kind == document.List || n.Kind == document.Map {
			return
		}
		fields++
		for _, bad := range badTexts {
			value := &document.Node{Kind: n.Kind, Text: bad}
			if n.Kind != document.String {
				value.Text = "-1"
			}
			if !fatalAt(contracts.Replace(full, path, value), path) {
				continue
			}
			refused++
			for _, wrong := range literals {
				if wrong.Kind == n.Kind || under(path, anyData) {
					continue // data of any type: another table validates its fields
				}
				if !fatalAt(contracts.Replace(full, path, wrong), path) {
					t.Errorf("%s: %q is refused, and %s is not", path, bad, wrong.Kind)
				}
			}
			break
		}
	})
	if refused < 20 || fields < 150 {
		t.Errorf("only %d of %d fields refuse anything", refused, fields)
	}
}

// fatalAt reports whether a document has a fatal problem at a path.
func fatalAt(doc *document.Node, path string) bool {
	config, problems := nodeconfig.FromTree(doc)
	nodeconfig.Default(config)
	return slices.ContainsFunc(append(problems, nodeconfig.Repair(config)...), func(p nodeconfig.Problem) bool {
		return p.Fatal && p.Path == path
	})
}

// TestVital compares the table with the fields for which a wrong type was first reported, and with their parents.
func TestVital(t *testing.T) {
	for _, c := range []struct {
		doc, path string
	}{
		{`{"kubelet":{"taints":["dedicated:NoSchedule"]}}`, "$.kubelet.taints[0]"},
		{`{"kubelet":{"taints":[{"key":"a","value":1,"effect":"NoSchedule"}]}}`, "$.kubelet.taints[0].value"},
		{`{"kubelet":{"config":[1]}}`, "$.kubelet.config"},
		{`{"kubelet":[]}`, "$.kubelet"},
		{`{"cluster":"x"}`, "$.cluster"},
		{`{"kubelet":{"labels":{"a":true}}}`, "$.kubelet.labels.a"},
		{`{"metadata":{"revision":"three"}}`, "$.metadata.revision"},
		{`{"runtime":[]}`, "$.runtime"},
		{`{"network":[]}`, "$.network"},
		{`{"network":{"metadataRestriction":true}}`, "$.network.metadataRestriction"},
		{`{"access":{"ssh":{"enabled":"no"}}}`, "$.access.ssh.enabled"},
	} {
		n, err := document.Parse([]byte(c.doc))
		if err != nil {
			t.Fatal(err)
		}
		if !fatalAt(n, c.path) {
			t.Errorf("%s: no fatal problem at %s", c.doc, c.path)
		}
	}
	for _, path := range []string{"$.network.plugin", "$.access.adminUser", "$.kubelet.dataDisk", "$.kubelet.configuration", "$.system.sysctls[\"a.b\"]"} {
		if nodeconfig.Vital(path) {
			t.Errorf("%s is vital", path)
		}
	}
}

package aks_test

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"

	aksnodeconfigv1 "github.com/slipway-dev/slipway/api/aksnodeconfig/v1"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/aks"
	"github.com/slipway-dev/slipway/test/contracts"
)

// FuzzDecode: every input gives a config with a canonical form, and every problem has a path and a
// reason. A document that protobuf reads without an error has no fatal problem, except for the
// version.
func FuzzDecode(f *testing.F) {
	examples, err := filepath.Glob("../../examples/aks/*.json")
	if err != nil || len(examples) == 0 {
		f.Fatal("no examples", err)
	}
	for _, example := range examples {
		f.Add(contracts.Parse(f, example).AppendJSON(nil))
	}
	for _, cases := range translateCases(f) {
		for _, c := range cases {
			f.Add(c.Document)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, err := document.Parse(data)
		if err != nil {
			return
		}
		result := aks.FromTree(tree)
		if result.NodeConfig == nil {
			t.Fatal("no config")
		}
		form := nodeconfig.Encode(result.NodeConfig)
		if utf8.Valid(form) && !json.Valid(form) {
			t.Fatalf("the canonical form is not JSON: %q", form)
		}
		for _, p := range result.Problems {
			if p.Path == "" || p.Path[0] != '$' || p.Reason == "" {
				t.Fatalf("a problem says nothing: %+v", p)
			}
			if origin := result.Origin(p.Path); origin == "" || origin[0] != '$' {
				t.Fatalf("%s comes from %q", p.Path, origin)
			}
		}
		message := new(aksnodeconfigv1.Configuration)
		if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(data, message); err != nil {
			return
		}
		for _, p := range nodeconfig.Fatal(result.Problems) {
			if p.Path != "$" && p.Path != "$.version" && p.Reason != "unknown value, ignored" && p.Kind != nodeconfig.NotApplied {
				t.Fatalf("fatal, and protobuf reads it: %s", p)
			}
		}
	})
}

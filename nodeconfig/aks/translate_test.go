package aks_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/aks"
	"github.com/slipway-dev/slipway/test/contracts"
)

const minimal = "../../examples/aks/minimal.json"

// translateCases are the documents of testdata/translate, each a change to the minimal example.
func translateCases(t testing.TB) map[string][]contracts.Case {
	t.Helper()
	files, err := filepath.Glob("testdata/translate/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	cases := make(map[string][]contracts.Case)
	for _, file := range files {
		cases[strings.TrimSuffix(filepath.Base(file), ".yaml")] = contracts.Load(t, minimal, file)
	}
	return cases
}

func parse(t testing.TB, data []byte) *document.Node {
	t.Helper()
	n, err := document.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTranslate(t *testing.T) {
	for file, cases := range translateCases(t) {
		for _, c := range cases {
			t.Run(file+"/"+c.Name, func(t *testing.T) {
				result := aks.FromTree(parse(t, c.Document))
				nodeconfig.SortProblems(result.Problems)
				contracts.Compare(t, result.Problems, c.Want)
				c.CompareConfig(t, result.NodeConfig)
			})
		}
	}
}

// TestExamples compares each example's translation with a golden file.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/aks/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			result := aks.FromTree(contracts.Parse(t, file))
			contracts.Compare(t, result.Problems, nil)
			contracts.Golden(t, "testdata/examples/"+name+".golden.json", nodeconfig.Encode(result.NodeConfig))
		})
	}
}

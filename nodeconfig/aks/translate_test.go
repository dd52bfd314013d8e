package aks_test

import (
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

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

func TestTranslate(t *testing.T) {
	for file, cases := range translateCases(t) {
		for _, c := range cases {
			t.Run(file+"/"+c.Name, func(t *testing.T) {
				result := aks.Decode(c.Document)
				nodeconfig.SortProblems(result.Problems)
				contracts.Compare(t, result.Problems, c.Want)
				c.CompareConfig(t, result.NodeConfig)
			})
		}
	}
}

// TestExamples compares what becomes of each example with a golden file.
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

// TestDecodeNothing: what is no document has one problem.
func TestDecodeNothing(t *testing.T) {
	for doc, reason := range map[string]string{
		"":                   "document is empty",
		"{":                  "the document is cut off",
		"[]":                 "document is a list",
		`{"a":1,"a":2}`:      "duplicate field",
		"a: *b":              "yaml",
		`{"version":"v1"} {`: "there is text after",
	} {
		result := aks.Decode([]byte(doc))
		contracts.Compare(t, result.Problems, []nodeconfig.Problem{{Path: "$", Reason: reason, Fatal: true}})
		if got := string(nodeconfig.Encode(result.NodeConfig)); got != "{}" {
			t.Errorf("%q: got config %s", doc, got)
		}
		if got := result.Origin("$.kubelet.labels"); got != "$.kubelet.labels" {
			t.Errorf("%q: the labels come from %s", doc, got)
		}
	}
}

// TestFromMessage: a message that is built in Go is translated as the document that protobuf makes of
// it, and stays as it is, whatever is done to the result.
func TestFromMessage(t *testing.T) {
	tried := 0
	for file, cases := range translateCases(t) {
		for _, c := range cases {
			message := new(aks.Config)
			if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(c.Document, message); err != nil {
				continue // it is not a document to protobuf
			}
			tried++
			before := proto.Clone(message)
			doc, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(message)
			if err != nil {
				t.Fatal(err)
			}
			want, got := aks.Decode(doc), aks.FromMessage(message)
			for i := range want.Problems { // a message has no text to be at a place in
				want.Problems[i].Line, want.Problems[i].Column = 0, 0
			}
			nodeconfig.SortProblems(want.Problems)
			nodeconfig.SortProblems(got.Problems)
			contracts.Compare(t, got.Problems, want.Problems)
			if got, want := nodeconfig.Encode(got.NodeConfig), nodeconfig.Encode(want.NodeConfig); string(got) != string(want) {
				t.Errorf("%s: %s: got\n%s\nwant\n%s", file, c.Name, got, want)
			}
			nodeconfig.Default(got.NodeConfig)
			nodeconfig.Repair(got.NodeConfig)
			scribble(got.NodeConfig)
			if !proto.Equal(message, before) {
				t.Errorf("%s: %s: the message became\n%v\nwas\n%v", file, c.Name, message, before)
			}
		}
	}
	if tried < 50 {
		t.Errorf("only %d messages were tried", tried)
	}
}

// scribble writes over all that a config refers to.
func scribble(c *nodeconfig.NodeConfig) {
	for _, m := range []map[string]string{c.Kubelet.Labels, c.System.Sysctls, c.Components.Features, c.Runtime.Containerd.Limits} {
		for key := range m {
			m[key] = "scribble"
		}
	}
	for key := range c.Kubelet.Config {
		switch value := c.Kubelet.Config[key].(type) {
		case map[string]any:
			clear(value)
		case []any:
			clear(value)
		}
	}
	clear(c.Kubelet.NodeIPs)
	clear(c.Kubelet.Flags)
	a := c.Cloud.Azure
	*a.LoadBalancer.ExcludeMaster, *a.LoadBalancer.MaxRules = !*a.LoadBalancer.ExcludeMaster, -1
	*a.Backoff.Enabled, *a.Backoff.Retries, *a.Backoff.Jitter = !*a.Backoff.Enabled, -1, -1
	*a.RateLimit.Enabled, *a.RateLimit.QPS, *a.RateLimit.Bucket = !*a.RateLimit.Enabled, -1, -1
	*c.Components.Preinstalled = !*c.Components.Preinstalled
}

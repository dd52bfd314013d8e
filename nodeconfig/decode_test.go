package nodeconfig_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/contracts"
)

// literals are one value of each kind.
var literals = []*document.Node{
	{Kind: document.Bool, Text: "true"},
	{Kind: document.Number, Text: "31415926.5"},
	{Kind: document.String, Text: canary},
	{Kind: document.List, Items: []document.Node{{Kind: document.String, Text: canary}}},
	{Kind: document.Map, Fields: []document.Field{{Name: "a", Value: document.Node{Kind: document.String, Text: canary}}}},
}

// anyData are the fields that take data of any kind.
var anyData = []string{"$.kubelet.config", "$.kubelet.imageCredentialProvider.config", "$.runtime.containerd.baseRuntimeSpec"}

// under reports whether path is one of the fields or below one.
func under(path string, fields []string) bool {
	for _, field := range fields {
		if document.Within(path, field) {
			return true
		}
	}
	return false
}

// decode reads a document as dialects do.
func decode(data []byte) (*nodeconfig.NodeConfig, []nodeconfig.Problem) {
	tree, err := document.Parse(data)
	if err != nil {
		return new(nodeconfig.NodeConfig), []nodeconfig.Problem{nodeconfig.Unreadable(err)}
	}
	return nodeconfig.FromTree(tree)
}

// TestWrongTypes puts a value of every wrong kind into every field, one at a time: only that field
// is lost, one problem names its path, and all other fields remain.
func TestWrongTypes(t *testing.T) {
	t.Parallel()
	full := tree(t, fullConfig())
	tried := 0
	contracts.Walk(full, func(path string, n *document.Node) {
		for _, literal := range literals {
			if literal.Kind == n.Kind || under(path, anyData) && !slices.Contains(anyData, path) {
				continue
			}
			tried++
			got, problems := nodeconfig.FromTree(contracts.Replace(full, path, literal))
			contracts.Compare(t, problems, []nodeconfig.Problem{{Path: path, Reason: "is ", Fatal: nodeconfig.Vital(path)}})
			want, _ := nodeconfig.FromTree(contracts.Replace(full, path, nil))
			if got, want := nodeconfig.Encode(got), nodeconfig.Encode(want); string(got) != string(want) {
				t.Errorf("%s as %s: got\n%s\nwant\n%s", path, literal.Kind, got, want)
			}
		}
	})
	if tried < 1000 {
		t.Errorf("only %d wrong values were tried", tried)
	}
}

// madeKey matches a map key that a filler makes; the map allows any key.
var madeKey = regexp.MustCompile(`^k[0-9]+$`)

// TestUnknownFields puts an unknown field into every map of the document.
func TestUnknownFields(t *testing.T) {
	full := fullConfig()
	// These maps allow any name.
	full.Kubelet.Config, full.Kubelet.ImageCredentialProvider.Config, full.Runtime.Containerd.BaseRuntimeSpec = nil, nil, nil
	want := string(nodeconfig.Encode(full))
	contracts.Walk(tree(t, full), func(path string, n *document.Node) {
		if n.Kind != document.Map || len(n.Fields) > 0 && madeKey.MatchString(n.Fields[0].Name) {
			return
		}
		changed := *n
		changed.Fields = append(changed.Fields[:len(n.Fields):len(n.Fields)], document.Field{Name: "x-y", Value: document.Node{Kind: document.String, Text: canary}})
		got, problems := nodeconfig.FromTree(contracts.Replace(tree(t, full), path, &changed))
		contracts.Compare(t, problems, []nodeconfig.Problem{{Path: path + `["x-y"]`, Reason: "unknown field, ignored"}})
		if form := string(nodeconfig.Encode(got)); form != want {
			t.Errorf("%s: got\n%s\nwant\n%s", path, form, want)
		}
	})
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name, doc, want string
		problems        []nodeconfig.Problem
	}{
		{"nothing", "", `{}`, []nodeconfig.Problem{{Path: "$", Reason: "document is empty", Fatal: true}}},
		{"no document", "{", `{}`, []nodeconfig.Problem{{Path: "$", Reason: "the document is cut off", Fatal: true}}},
		{"too large", strings.Repeat(" ", document.MaxBytes) + "{}", `{}`, []nodeconfig.Problem{{Path: "$", Reason: "document too large", Fatal: true}}},
		{"JSON", `{"kind":"x"}`, `{"kind":"x"}`, nil},
		{"null is absent", `{"kind":null,"cluster":null,"join":{"exec":null,"bootstrapToken":null},"kubelet":{"labels":null}}`, `{}`, nil},
		{"a label without a value", "kubelet:\n  labels:\n    a:\n    b: ''\n", `{"kubelet":{"labels":{"b":""}}}`, []nodeconfig.Problem{{Path: "$.kubelet.labels.a", Reason: `is null; write an empty text as ""`, Fatal: true}}},
		{"a version without quotes", "cluster:\n  kubernetesVersion: 1.30\n", `{}`, []nodeconfig.Problem{{Path: "$.cluster.kubernetesVersion", Reason: "is a number, want a string: put it in quotes", Fatal: true}}},
		{"numbers as strings", `{"metadata":{"revision":"7"},"cloud":{"azure":{"backoff":{"retries":"3","jitter":"0.5"}}}}`, `{"cloud":{"azure":{"backoff":{"jitter":0.5,"retries":3}}},"metadata":{"revision":7}}`, nil},
		{"durations", `{"checks":{"timeout":"1h","apiServerTimeout":"1.5m"}}`, `{"checks":{"apiServerTimeout":"1m30s","timeout":"1h0m0s"}}`, nil},
		{"bad durations", `{"checks":{"timeout":"-1s","apiServerTimeout":"5"}}`, `{}`, []nodeconfig.Problem{{Path: "$.checks.timeout", Reason: "is not a duration", Fatal: true}, {Path: "$.checks.apiServerTimeout", Reason: "is not a duration", Fatal: true}}},
		{"a duration that is a number", `{"checks":{"timeout":900}}`, `{}`, []nodeconfig.Problem{{Path: "$.checks.timeout", Reason: "want a string: put it in quotes", Fatal: true}}},
		{"a typing error", `{"kubelet":{"lables":{}}}`, `{}`, []nodeconfig.Problem{{Path: "$.kubelet.lables", Reason: "unknown field, ignored; did you mean labels?"}}},
		{"unknown below what is needed", `{"join":{"tokn":"x"}}`, `{}`, []nodeconfig.Problem{{Path: "$.join.tokn", Reason: "unknown field, ignored"}}},
		{"a name that begins like what is needed", `{"cluster":{"serverCertificate":1}}`, `{}`, []nodeconfig.Problem{{Path: "$.cluster.serverCertificate", Reason: "is a number"}}},
		{"several at once", `{"kind":1,"join":[],"kubelet":{"flags":[{"name":1},{"name":"v"}]},"zz":1}`, `{"kubelet":{"flags":[{},{"name":"v"}]}}`, []nodeconfig.Problem{
			{Path: "$.kind", Reason: "is a number", Fatal: true}, {Path: "$.join", Reason: "is a list, want a map", Fatal: true},
			{Path: "$.kubelet.flags[0].name", Reason: "is a number", Fatal: true}, {Path: "$.zz", Reason: "unknown field"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			config, problems := decode([]byte(c.doc))
			contracts.Compare(t, problems, c.problems)
			if got := string(nodeconfig.Encode(config)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

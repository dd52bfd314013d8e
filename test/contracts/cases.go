// Package contracts is shared by the tests of the contract's packages: changed documents, their expected problems, and golden
// files. It has no checks itself, and only tests call it.
package contracts

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Case is a changed document.
type Case struct {
	Name string
	// Document is the whole document: JSON, or the text of the case.
	Document []byte
	// Want are its problems, in order; each has a part of its reason.
	Want []nodeconfig.Problem

	config *document.Node
}

// Load reads cases from a YAML file. Each has a name, the changes of the document in the file base (which may be empty), the
// expected problems, and values of the resulting config:
//
//	no server:
//	  set: {cluster: {server: null}} # null takes a field out
//	  want:
//	    - {path: $.cluster.server, fatal: true, reason: is missing}
//	  config: {cluster: {server: null}} # null is not there
//
// A case with a text is that text instead.
func Load(t testing.TB, base, file string) []Case {
	t.Helper()
	from, list := &document.Node{Kind: document.Map}, Parse(t, file)
	if base != "" {
		from = Parse(t, base)
	}
	cases := make([]Case, len(list.Fields))
	for i, f := range list.Fields {
		var body struct {
			Set    map[string]any       `json:"set"`
			Text   string               `json:"text"`
			Want   []nodeconfig.Problem `json:"want"`
			Config map[string]any       `json:"config"`
		}
		document.Decode(&f.Value, &body, document.Options{
			Names:  document.JSONNames,
			Report: func(fault document.Fault) { t.Errorf("%s: %s: %+v", file, f.Name, fault) },
		})
		changed := from
		if set, ok := f.Value.Get("set"); ok {
			changed = Merge(from, set)
		}
		config, _ := f.Value.Get("config")
		data := changed.AppendJSON(nil)
		if body.Text != "" {
			data = []byte(body.Text)
		}
		cases[i] = Case{f.Name, data, body.Want, config}
	}
	return cases
}

// CompareConfig reports where a config differs from the case.
func (c Case) CompareConfig(t testing.TB, got *nodeconfig.NodeConfig) {
	t.Helper()
	if c.config == nil {
		return
	}
	form := nodeconfig.Encode(got)
	n, err := document.Parse(form)
	if err != nil {
		t.Fatal(err)
	}
	values := make(map[string]string)
	Walk(n, func(path string, n *document.Node) { values[path] = string(n.AppendJSON(nil)) })
	Walk(c.config, func(path string, want *document.Node) {
		value, ok := values[path]
		switch {
		case want.Kind == document.Null && ok:
			t.Errorf("%s is %s, want nothing", path, value)
		case want.Kind == document.Null:
		case want.Kind == document.Map && len(want.Fields) > 0: // its fields are compared
		case value != string(want.AppendJSON(nil)):
			t.Errorf("%s is %s, want %s", path, value, want.AppendJSON(nil))
		}
	})
}

// Parse reads a document from a file.
func Parse(t testing.TB, file string) *document.Node {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n, err := document.Parse(data)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return n
}

// Compare reports how problems differ from the expected ones: by path and fatality, by a part of the reason, and by kind and
// position if an expected one has them. A fatal problem must not say that the value is left out, because the rest is not used
// either.
func Compare(t testing.TB, got, want []nodeconfig.Problem) {
	t.Helper()
	for _, p := range nodeconfig.Fatal(got) {
		if strings.Contains(p.Reason, "ignored") || strings.Contains(p.Reason, "left out") {
			t.Errorf("%s", p)
		}
	}
	same := len(got) == len(want)
	for i := 0; same && i < len(got); i++ {
		same = got[i].Path == want[i].Path && got[i].Fatal == want[i].Fatal && strings.Contains(got[i].Reason, want[i].Reason) &&
			(want[i].Kind == "" || got[i].Kind == want[i].Kind) &&
			(want[i].Line == 0 || got[i].Line == want[i].Line && got[i].Column == want[i].Column)
	}
	if !same {
		t.Errorf("got problems\n%s\nwant\n%s", List(got), List(want))
	}
}

// List writes problems, one on a line.
func List(problems []nodeconfig.Problem) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "\t%d:%d: %s %s\n", p.Line, p.Column, p.Kind, p)
	}
	return b.String()
}

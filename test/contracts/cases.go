// Package contracts holds what the tests of the contract's packages share: documents with something
// changed, the problems that are expected of them, and golden files. It checks nothing of its own,
// and only tests call it.
package contracts

import (
	"os"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Case is a document with something changed.
type Case struct {
	Name string
	// Document is the whole document, as JSON.
	Document []byte
	// Want are the problems it has, in order; each has a part of its reason.
	Want []nodeconfig.Problem
}

// Load reads cases from a YAML file. Each has a name, and says how it differs from the document in
// the file base, and what is wrong with it:
//
//	no server:
//	  set: {cluster: {server: null}} # null takes a field out
//	  want:
//	    - {path: $.cluster.server, fatal: true, reason: is missing}
func Load(t testing.TB, base, file string) []Case {
	t.Helper()
	from, list := Parse(t, base), Parse(t, file)
	cases := make([]Case, len(list.Fields))
	for i, f := range list.Fields {
		var body struct {
			Set  map[string]any       `json:"set"`
			Want []nodeconfig.Problem `json:"want"`
		}
		document.Decode(&f.Value, &body, document.Options{
			Names:  document.JSONNames,
			Report: func(path, reason string) { t.Errorf("%s: %s: %s: %s", file, f.Name, path, reason) },
		})
		changed := from
		if set, ok := f.Value.Get("set"); ok {
			changed = Merge(from, set)
		}
		cases[i] = Case{f.Name, changed.AppendJSON(nil), body.Want}
	}
	return cases
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

// Compare reports where problems are not those that are wanted.
func Compare(t testing.TB, got, want []nodeconfig.Problem) {
	t.Helper()
	same := len(got) == len(want)
	for i := 0; same && i < len(got); i++ {
		same = got[i].Path == want[i].Path && got[i].Fatal == want[i].Fatal && strings.Contains(got[i].Reason, want[i].Reason)
	}
	if !same {
		t.Errorf("got problems\n%s\nwant\n%s", List(got), List(want))
	}
}

// List writes problems one a line.
func List(problems []nodeconfig.Problem) string {
	var b strings.Builder
	for _, p := range problems {
		b.WriteString("\t" + p.String() + "\n")
	}
	return b.String()
}

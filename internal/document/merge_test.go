package document_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
)

func parseAll(t *testing.T, texts ...string) []*document.Node {
	t.Helper()
	var trees []*document.Node
	for _, text := range texts {
		n, err := document.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, n)
	}
	return trees
}

func merged(trees ...*document.Node) string {
	return string(document.Merge(trees...).Top.AppendJSON(nil))
}

// TestMerge: maps have the entries of all documents, and for all else the last value that is not null counts.
func TestMerge(t *testing.T) {
	for _, c := range []struct{ documents, want string }{
		{`{}`, `{}`},
		{`{"a":1} {"b":2}`, `{"a":1,"b":2}`},
		{`{"a":1} {"a":2} {"b":3}`, `{"a":2,"b":3}`},
		{`{"a":true} {"a":false}`, `{"a":false}`},
		{`{"a":"x","b":1} {"a":"","b":0}`, `{"a":"","b":0}`},
		{`{"a":1} {"a":null}`, `{"a":1}`},
		{`{"a":null} {"a":1}`, `{"a":1}`},
		{`{"a":null} {"a":null}`, `{"a":null}`},
		{`{"a":[1,2,3]} {"a":[4]}`, `{"a":[4]}`},
		{`{"a":[1]} {"a":[]}`, `{"a":[]}`},
		{`{"a":{"b":1,"c":2}} {"a":{"c":3,"d":4}}`, `{"a":{"b":1,"c":3,"d":4}}`},
		{`{"a":{"b":1}} {"a":{}}`, `{"a":{"b":1}}`},
		{`{"a":{"b":1}} {"a":2} {"a":{"c":3}}`, `{"a":{"c":3}}`},
		{`{"a":{"b":1}} {"a":null} {"a":{"c":3}}`, `{"a":{"b":1,"c":3}}`},
		{`{"a":{"b":1}} {"a":[]}`, `{"a":[]}`},
	} {
		if got := merged(parseAll(t, strings.Fields(c.documents)...)...); got != c.want {
			t.Errorf("%s: %s, want %s", c.documents, got, c.want)
		}
	}
}

// TestWithoutLeavesTheRest: the rest has the values that only the whole has. Merged over the part, it gives the whole again.
func TestWithoutLeavesTheRest(t *testing.T) {
	for _, c := range []struct{ whole, part, want string }{
		{`{}`, `{}`, `{}`},
		{`{"a":1}`, `{}`, `{"a":1}`},
		{`{"a":1}`, `{"a":1}`, `{}`},
		{`{"a":2}`, `{"a":1}`, `{"a":2}`},
		{`{"a":[1,2]}`, `{"a":[1]}`, `{"a":[1,2]}`},
		{`{"a":{"b":1,"c":2},"d":3}`, `{"a":{"b":1},"d":3}`, `{"a":{"c":2}}`},
		{`{"a":{"b":1}}`, `{"a":{"b":1}}`, `{}`},
		{`{"a":{"b":1}}`, `{"a":2}`, `{"a":{"b":1}}`},
		{`{"a":2}`, `{"a":{"b":1}}`, `{"a":2}`},
	} {
		trees := parseAll(t, c.whole, c.part)
		rest := trees[0].Without(trees[1])
		if got := string(rest.AppendJSON(nil)); got != c.want {
			t.Errorf("%s without %s: %s, want %s", c.whole, c.part, got, c.want)
		}
		if got := merged(trees[1], rest); got != c.whole {
			t.Errorf("%s and the rest: %s, want %s", c.part, got, c.whole)
		}
	}
}

// TestMergedAt: a value is found in its document, under either spelling; a missing one is found in the value above it.
func TestMergedAt(t *testing.T) {
	m := document.Merge(parseAll(t, `{"a":{"b":1,"c":[1,{"d":2}]},"e":{"x":1},"snake_case":1}`, "# second\na:\n  b: 2\n  c: [1]\ne:", `{"camelCase":{},"a":null}`)...)
	for _, c := range []struct {
		path         string
		document     int
		line, column int32
	}{
		{"$.a.b", 1, 3, 6},
		{"$.a.c[0]", 1, 4, 7},
		{"$.a.c[1].d", 1, 4, 6},
		{"$.a.missing", 1, 3, 3},
		{"$.e.x", 0, 1, 39},
		{"$.snakeCase", 0, 1, 55},
		{"$.camel_case.x", 2, 1, 14},
	} {
		document, n := m.At(c.path)
		if n == nil || document != c.document || n.Line != c.line || n.Column != c.column {
			t.Errorf("%s: document %d, %+v", c.path, document, n)
		}
	}
	for _, path := range []string{"$", "$.none", ""} {
		if _, n := m.At(path); n != nil {
			t.Errorf("%q: %+v", path, n)
		}
	}
}

// FuzzMerge: a document merged alone, with an empty one, or twice, is unchanged; grouping does not matter; every value of the
// result equals that of the document in which it is found.
func FuzzMerge(f *testing.F) {
	f.Add([]byte(`{"a":{"b":[1]},"c":null}`), []byte("a: {b: 2}\nc: {d: 1}"), []byte(`{"c":{"d":null,"e":[]}}`))
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		var trees []*document.Node
		for _, data := range [][]byte{a, b, c} {
			n, err := document.Parse(data)
			if err != nil {
				return
			}
			trees = append(trees, n)
		}
		same := func(law, got, want string) {
			if got != want {
				t.Fatalf("%s: got\n%s\nwant\n%s", law, got, want)
			}
		}
		nothing, all := &document.Node{Kind: document.Map}, document.Merge(trees...)
		alone, whole := string(trees[0].AppendJSON(nil)), string(all.Top.AppendJSON(nil))
		same("alone", merged(trees[0]), alone)
		same("nothing before", merged(nothing, trees[0]), alone)
		same("nothing after", merged(trees[0], nothing), alone)
		same("the same again", merged(trees[0], trees[0]), alone)
		same("grouped to the left", merged(&document.Merge(trees[:2]...).Top, trees[2]), whole)
		if !mixed(trees[0], trees[1]) && !mixed(trees[1], trees[2]) && !mixed(trees[0], trees[2]) {
			same("grouped to the right", merged(trees[0], &document.Merge(trees[1:]...).Top), whole)
		}
		for i := range all.Top.Fields {
			field := &all.Top.Fields[i]
			if spelled(trees, field.Name) > 1 || field.Name == "" {
				continue
			}
			at, n := all.At(document.FieldPath("$", field.Name))
			if n == nil || n.Kind != document.Map && string(n.AppendJSON(nil)) != string(field.Value.AppendJSON(nil)) {
				t.Fatalf("%q is in document %d: %+v", field.Name, at, n)
			}
		}
	})
}

// mixed reports whether one tree has a map where the other one has another type.
func mixed(a, b *document.Node) bool {
	if a.Kind == document.Null || b.Kind == document.Null || a.Kind != document.Map && b.Kind != document.Map {
		return false
	}
	return a.Kind != b.Kind || slices.ContainsFunc(a.Fields, func(f document.Field) bool {
		other, both := b.Get(f.Name)
		return both && mixed(&f.Value, other)
	})
}

// spelled counts a name's spellings in the documents.
func spelled(trees []*document.Node, name string) int {
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }
	var ways []string
	for _, n := range trees {
		for _, f := range n.Fields {
			if plain(f.Name) == plain(name) && !slices.Contains(ways, f.Name) {
				ways = append(ways, f.Name)
			}
		}
	}
	return len(ways)
}

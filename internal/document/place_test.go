package document_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
)

// TestSyntaxErrorPlaces checks that an error has the line and column at which a person finds the mistake. The library's own message
// has another line in half of these cases.
func TestSyntaxErrorPlaces(t *testing.T) {
	for _, c := range []struct{ in, place string }{
		{"foo\nbar: 1\n", "2:4"},
		{"a: 1\nb\nc: 2\n", "2:1"},
		{"# one\n\na: 1\nb\n\n\nc: 2\n", "4:1"},
		{"a: 1\n\n\nb: [1, 2\nc: 3\n", "5:2"},
		{"a: [1,\n 2,\n", "3:1"},
		{"a: \"x\n\n\nb: 2\n", "1:4"},
		{"a: 1\nb: 'x\n", "2:4"},
		{"a:\n  b: 1\n c: 2\n", "3:2"},
		{"a: 1\n- b\n", "2:1"},
		{"a:\n\t- b\n", "2:1"},
		{"a: 1\nb: *foo\n", "2:4"},
		{"*foo\n", "1:1"},
		{"a: 1\nb: \x01\n", "2:4"},
		{"a: 1\nb: \xff\n", "2:4"},
		{"a: 1\nb: !x y\n", "2:4"},
		{"a: 1\n---\nb: 1\n", "3:1"},
		{"a: 1\na: 2\n", "2:1"},
		{"a: 1\nb: c: d\n", "2:5"},
		{"a: \"x\n  \\q\"\n", "2:3"},
		{"a: |\n  x\n \ty\n", "3:2"},
		{"a: {b: c\nd: e\n", "2:2"},
		{"a: @b\n", "1:4"},
		{"- a\nb: c\n", "2:1"},
		{"a:\n  - b\n  c: d\n", "3:3"},
		{"# c\n\n a: b\nc: d\n", "4:1"},
		{"a: 1\n'b' c: 2\n", "2:5"},
		{"x: é\né: é: d\n", "2:5"},
		{"a: 1\r\nb: c: d\r\n", "2:5"},

		{"{\n\"a\": 1,\n\n  x}", "4:3"},
		{"{\"a\": 1,\n\"b\": [1, 2\n\"c\": 1}", "3:1"},
		{"{\"a\":\n 01}", "2:3"},
		{"{\"a\": 1}\n\n x", "3:2"},
		{"{\"a\":1,\n \"a\": 2}", "2:2"},
		{"{\"a\": \"\nb\"}", "1:8"},
		{"{\n\"é\": tru}", "2:9"},
		{"{\"a\":1,\n}", "2:1"},
		{"{\"a\":\n[1,\n", "3:1"},
	} {
		_, err := document.Parse([]byte(c.in))
		syntax, ok := errors.AsType[*document.SyntaxError](err)
		if !ok {
			t.Errorf("%q: %v has no place", c.in, err)
			continue
		}
		if got := fmt.Sprintf("%d:%d", syntax.Line, syntax.Column); got != c.place {
			t.Errorf("%q: at %s, want %s: %v", c.in, got, c.place, err)
		}
		if want := fmt.Sprintf(", line %d column %d: ", syntax.Line, syntax.Column); !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q does not name the place", c.in, err)
		}
	}
}

// TestFinder finds values by their paths; a path that does not exist leads to the value above it.
func TestFinder(t *testing.T) {
	yaml := "a: 1\nlist_one:\n  - b: é\n    c: [x, 'y', {d: z}]\n\"odd name.\": {\"]\": 1}\nempty:\nalias: &x {k: v}\nother: *x\n"
	json := `{"a": 1,
"list_one": [
  {"b": "é", "c": ["x", "y", {"d": "z"}]}
], "odd name.": {"]": 1}, "empty": null}`
	for _, c := range []struct{ doc, path, place string }{
		{yaml, "$.a", "1:4"},
		{yaml, "$.list_one", "3:3"},
		{yaml, "$.listOne", "3:3"},
		{yaml, "$.list_one[0].b", "3:8"},
		{yaml, "$.list_one[0].c[1]", "4:12"},
		{yaml, "$.list_one[0].c[2].d", "4:21"},
		{yaml, "$.list_one[0].c[7]", "4:8"},
		{yaml, "$.list_one[0].missing.deeper", "3:5"},
		{yaml, `$["odd name."]["]"]`, "5:20"},
		{yaml, "$.alias.k", "7:15"},
		{yaml, "$.other", "8:8"},
		{yaml, "$.nowhere", ""},
		{yaml, "$", ""},
		{yaml, "", ""},
		{yaml, "$.a[", "1:4"},
		{json, "$.a", "1:7"},
		{json, "$.list_one", "2:13"},
		{json, "$.listOne[0]", "3:3"},
		{json, "$.list_one[0].b", "3:9"},
		{json, "$.list_one[0].c[1]", "3:25"},
		{json, "$.list_one[0].c[2].d", "3:36"},
		{json, `$["odd name."]["]"]`, "4:23"},
		{json, "$.empty", "4:36"},
	} {
		top, err := document.Parse([]byte(c.doc))
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if n := document.NewFinder(top).At(c.path); n != nil {
			got = fmt.Sprintf("%d:%d", n.Line, n.Column)
		}
		if got != c.place {
			t.Errorf("%s of %.5q: at %q, want %q", c.path, c.doc, got, c.place)
		}
	}
	if n := (document.Finder{}).At("$.a"); n != nil {
		t.Error("something is found in no document")
	}
}

// TestFaults checks each kind of fault, with its position.
func TestFaults(t *testing.T) {
	type target struct {
		Name   string            `json:"name"`
		Number int32             `json:"number"`
		Upper  upper             `json:"upper"`
		Words  map[string]string `json:"words"`
		Items  []string          `json:"items"`
	}
	for _, c := range []struct{ doc, want string }{
		{"nmae: x", "1:7 Unknown $.nmae: unknown field, ignored; did you mean name?"},
		{"name: 7", "1:7 WrongType $.name: is a number, want a string: put it in quotes"},
		{"upper: lower", "1:8 Invalid $.upper: is not in upper case"},
		{"number: 4000000000", "1:9 Invalid $.number: is out of range for a 32 bit integer"},
		{"number: 1.5", "1:9 WrongType $.number: is a number (1.5), want an integer"},
		{"cuont: 5", "1:8 Unknown $.cuont: unknown field, ignored"},
		{"words:\n  a: [b]", "2:6 WrongType $.words.a: is a list, want a string"},
		{"items:\n- a\n-\n", "3:2 WrongType $.items[1]: is null; write an empty text as \"\""},
	} {
		top, err := document.Parse([]byte(c.doc))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		var to target
		document.Decode(top, &to, document.Options{Names: document.JSONNames, Report: func(f document.Fault) {
			got = append(got, fmt.Sprintf("%d:%d %s %s: %s", f.Line, f.Column, f.Kind, f.Path, f.Reason))
		}})
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%q: got %q, want %q", c.doc, got, c.want)
		}
	}
}

package document_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
)

func TestDiff(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want []string
	}{
		{`{"a":1}`, `{"a":1}`, nil},
		{`{"a":1}`, `{"a":2}`, []string{"$.a"}},
		{`{"a":1}`, `{"b":1}`, []string{"$.a", "$.b"}},
		{`{"a":{"b":{"c":1}}}`, `{}`, []string{"$.a.b.c"}},
		{`{"a":{}}`, `{}`, []string{"$.a"}},
		{`{"a":[1,2]}`, `{"a":[1,3]}`, []string{"$.a[1]"}},
		{`{"a":[1,2]}`, `{"a":[1]}`, []string{"$.a"}},
		{`{"a":{"x":1}}`, `{"a":"x"}`, []string{"$.a"}},
		{`{"a b":1}`, `{}`, []string{`$["a b"]`}},
	} {
		a, err := document.Parse([]byte(tt.a))
		if err != nil {
			t.Fatal(err)
		}
		b, err := document.Parse([]byte(tt.b))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range document.Diff("$", a, b) {
			got = append(got, c.Path)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s and %s differ in %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
}

// wide is a map of many keys with the same value each.
func wide(t testing.TB, keys int, value string) *document.Node {
	t.Helper()
	var b strings.Builder
	for i := range keys {
		fmt.Fprintf(&b, "k%d: %s\n", i, value)
	}
	n, err := document.Parse([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Maps of many keys are compared whole; BenchmarkDiff shows that the time is not quadratic.
func TestDiffOfWideMaps(t *testing.T) {
	const keys = 6000
	if changes := document.Diff("$", wide(t, keys, "1"), wide(t, keys, "2")); len(changes) != keys || changes[0].Path != "$.k0" {
		t.Errorf("%d changes", len(changes))
	}
}

// BenchmarkDiff compares maps of equal keys; the time is proportional to their number.
func BenchmarkDiff(b *testing.B) {
	for _, keys := range []int{600, 6000} {
		one, two := wide(b, keys, "1"), wide(b, keys, "1")
		b.Run(fmt.Sprint(keys), func(b *testing.B) {
			for b.Loop() {
				document.Diff("$", one, two)
			}
		})
	}
}

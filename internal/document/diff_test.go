package document_test

import (
	"slices"
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

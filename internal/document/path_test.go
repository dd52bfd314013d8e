package document_test

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
)

func TestCutPath(t *testing.T) {
	for path, want := range map[string][2]string{
		"$":                  {"$", ""},
		"$.a":                {"$", "a"},
		"$.a.b":              {"$.a", "b"},
		"$.a[3]":             {"$.a", ""},
		"$.a[3].b":           {"$.a[3]", "b"},
		`$.a["10.0.0.0/16"]`: {"$.a", "10.0.0.0/16"},
		`$.a["x\"]["].b`:     {`$.a["x\"]["]`, "b"},
	} {
		if above, name := document.CutPath(path); above != want[0] || name != want[1] {
			t.Errorf("%s: got %s and %q", path, above, name)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		path, above string
		want        bool
	}{
		{"$.a", "$.a", true}, {"$.a.b", "$.a", true}, {"$.a[0]", "$.a", true}, {"$.a.b", "$", true},
		{"$.ab", "$.a", false}, {"$.a", "$.a.b", false},
	} {
		if got := document.Within(c.path, c.above); got != c.want {
			t.Errorf("%s within %s: %t", c.path, c.above, got)
		}
	}
}

package nodeconfig_test

import (
	"testing"

	"github.com/slipway-dev/slipway/nodeconfig"
)

func TestCheckFeature(t *testing.T) {
	for _, c := range []struct {
		name, value string
		good        bool
	}{
		{"FEATURE", "true", true}, {"_a1", "", true}, {"A", "a_b.c,d:e/f@g%h+i=j-k", true},
		{"", "x", false}, {"1A", "x", false}, {"A-B", "x", false}, {"A B", "x", false}, {"Ä", "x", false}, {"A=B", "x", false}, {"A\n", "x", false},
		{"A", "$(touch X)", false}, {"A", "`x`", false}, {"A", "${X}", false}, {"A", "a b", false}, {"A", "a;b", false}, {"A", "a&b", false}, {"A", "a|b", false},
		{"A", "a\nb", false}, {"A", "a\rb", false}, {"A", "'a'", false}, {"A", `"a"`, false}, {"A", `a\b`, false}, {"A", "a#b", false}, {"A", "~", false},
		{"A", "*", false}, {"A", "é", false}, {"A", "\x00", false}, {"A", "!x", false}, {"A", "<x", false}, {"A", "(x", false}, {"A", "{a,b}", false},
	} {
		if reason := nodeconfig.CheckFeature(c.name, c.value); (reason == "") != c.good {
			t.Errorf("%q=%q: %q", c.name, c.value, reason)
		}
	}
}

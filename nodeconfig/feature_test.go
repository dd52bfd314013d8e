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
		// The launcher does not execute the values that it reads.
		{"A", "$(touch X)", true}, {"A", "`x`", true}, {"A", "it's $HOME", true}, {"A", "a;b&c|d", true}, {"A", `"a" \ #b`, true}, {"A", "é", true},
		{"A", "a\nb", false}, {"A", "a\rb", false}, {"A", "b\n", false}, {"A", "\x00", false},
	} {
		if reason := nodeconfig.CheckFeature(c.name, c.value); (reason == "") != c.good {
			t.Errorf("%q=%q: %q", c.name, c.value, reason)
		}
	}
}

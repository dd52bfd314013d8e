package spec_test

import (
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/image/spec"
)

func TestRangeHas(t *testing.T) {
	for text, c := range map[string]struct{ in, out []string }{
		"1.36.4":  {[]string{"1.36.4"}, []string{"1.36.40", "1.36.3", "v1.36.4"}},
		"~1.36":   {[]string{"1.36.0", "1.36.10", "1.36.4-0ubuntu1", "1.36"}, []string{"1.37.0", "1.35.9", "1.36.5-rc.1", "1.36.0-alpha.1", "2.36.0", "x", "1"}},
		"~1.36.2": {[]string{"1.36.2", "1.36.10"}, []string{"1.36.1", "1.37.0"}},
		"~1":      {[]string{"1.0.0", "1.99.1"}, []string{"2.0.0", "0.9.0"}},
		"^2.1":    {[]string{"2.1.0", "2.10.3"}, []string{"2.0.9", "3.0.0"}},
		"nightly": {nil, []string{"1.0.0"}},
		"2026.1":  {[]string{"2026.1"}, []string{"2026.2"}},
	} {
		r, ok := spec.ParseRange(text)
		if text == "nightly" {
			if ok {
				t.Errorf("%q is a range", text)
			}
			continue
		}
		if !ok || r.String() != text || r.One() != (text[0] != '~' && text[0] != '^') {
			t.Errorf("%q: %v, %t", text, r, ok)
		}
		for _, v := range c.in {
			if !r.Has(v) {
				t.Errorf("%q does not have %q", text, v)
			}
		}
		for _, v := range c.out {
			if r.Has(v) {
				t.Errorf("%q has %q", text, v)
			}
		}
	}
	for _, text := range []string{"", "~", "^", "~x", ">=1", "1/..", "1..2", "../1", "1 2", "~1.36.x"} {
		if r, ok := spec.ParseRange(text); ok {
			t.Errorf("%q is the range %v", text, r)
		}
	}
}

func TestCompareTakesTheNewestPackage(t *testing.T) {
	all := []string{"1.36.10", "1.36.9", "1.36.10-1.2", "1.36.10-1.10"}
	if got := slices.MaxFunc(all, spec.Compare); got != "1.36.10-1.10" {
		t.Errorf("the newest is %s", got)
	}
}

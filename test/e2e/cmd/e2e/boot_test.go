package main

import (
	"slices"
	"testing"
)

func TestParseBoot(t *testing.T) {
	o, err := parseBoot([]string{"--runs", "2", "--variant", "script,floor", "-o", "json", "--docs"})
	if err != nil || o.Runs != 2 || !slices.Equal(o.Variants, []string{"script", "floor"}) || o.Output != "json" || !o.Docs {
		t.Errorf("the options are %+v, %v", o, err)
	}
	if o, err := parseBoot(nil); err != nil || o.Runs != 5 || o.Variants != nil || o.Output != "text" {
		t.Errorf("the defaults are %+v, %v", o, err)
	}
	for _, args := range [][]string{{"--runs", "0"}, {"-o", "xml"}, {"floor"}, {"--docs=maybe"}} {
		if _, err := parseBoot(args); err == nil {
			t.Errorf("%q passes", args)
		}
	}
}

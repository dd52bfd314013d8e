package scenario

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	cases := []Case{
		{Name: "joins", Kind: "join", Core: true},
		{Name: "joins-again", Kind: "boot", Core: true, After: "joins"},
		{Name: "reapplied", Kind: "change", After: "joins-again", Inputs: []string{"internal/apply/**"}},
		{Name: "changed", Kind: "change", Core: true},
		{Name: "joins-ec2", Kind: "join", Inputs: []string{"internal/metadata/ec2*.go"}},
	}
	for name, c := range map[string]struct {
		choice Choice
		want   string
		left   []string
	}{
		"core":                          {Choice{}, "joins joins-again changed", []string{"reapplied: changed is of its kind, change", "joins-ec2: joins is of its kind, join"}},
		"all":                           {Choice{All: true}, "joins joins-again reapplied changed joins-ec2", nil},
		"one":                           {Choice{Names: []string{"joins-ec2"}}, "joins-ec2", nil},
		"one that goes on after others": {Choice{Names: []string{"reapplied"}}, "joins joins-again reapplied", nil},
		"nothing changed": {Choice{Changed: []string{}}, "joins joins-again changed",
			[]string{"reapplied: none of its inputs changed, and changed is of its kind, change", "joins-ec2: none of its inputs changed, and joins is of its kind, join"}},
		"an input changed": {Choice{Changed: []string{"README.md", "internal/apply/stage/stage.go"}}, "joins joins-again reapplied changed",
			[]string{"joins-ec2: none of its inputs changed, and joins is of its kind, join"}},
		"the case itself changed": {Choice{Changed: []string{"test/e2e/cases/joins-ec2/node.yaml"}}, "joins joins-again changed joins-ec2",
			[]string{"reapplied: none of its inputs changed, and changed is of its kind, change"}},
		"a file of like name changed": {Choice{Changed: []string{"internal/metadata/ec2.go"}}, "joins joins-again changed joins-ec2",
			[]string{"reapplied: none of its inputs changed, and changed is of its kind, change"}},
	} {
		t.Run(name, func(t *testing.T) {
			names, left, err := c.choice.Choose(cases)
			if err != nil || strings.Join(names, " ") != c.want {
				t.Errorf("the cases are %q, %v, want %q", names, err, c.want)
			}
			if !slices.Equal(left, c.left) {
				t.Errorf("left out are %q, want %q", left, c.left)
			}
		})
	}
	if names, _, err := (Choice{Names: []string{"watch", "joins"}}).Choose(cases); err == nil {
		t.Errorf("an unknown case is chosen: %q", names)
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"internal/watch/**", "internal/watch/watch.go", true},
		{"internal/watch/**", "internal/watch/a/b.go", true},
		{"internal/watch/**", "internal/watcher/watch.go", false},
		{"internal/watch/**", "internal/watch", false},
		{"internal/*/watch.go", "internal/host/watch.go", true},
		{"internal/*.go", "internal/host/watch.go", false},
		{"Makefile", "Makefile", true},
		{"Makefile", "test/Makefile", false},
	} {
		if matches(c.pattern, c.name) != c.want {
			t.Errorf("%s and %s: want %v", c.pattern, c.name, c.want)
		}
	}
}

// TestEachKindHasItsCore checks the core set: each kind of case is in it, once, and each case outside it names the inputs for which
// it also runs.
func TestEachKindHasItsCore(t *testing.T) {
	cases, err := Load(filepath.Join("..", "cases"))
	if err != nil {
		t.Fatal(err)
	}
	core := make(map[string][]string)
	for _, c := range cases {
		if c.Kind == "" {
			t.Errorf("%s has no kind", c.Name)
		}
		if c.Core {
			core[c.Kind] = append(core[c.Kind], c.Name)
		} else if len(c.Inputs) == 0 {
			t.Errorf("%s is not in the core set, and has no inputs: when would it be run?", c.Name)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if len(core[kind]) != 1 {
			t.Errorf("of kind %s the core set has %q, want one", kind, core[kind])
		}
	}
	names, _, err := (Choice{}).Choose(cases)
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != len(kinds) {
		t.Errorf("the core set is %q, want %d: a case that goes on after one that is not in it takes that along", names, len(kinds))
	}
}

// TestInputsAreThere checks that each pattern of a case's inputs matches a file.
func TestInputsAreThere(t *testing.T) {
	cases, err := Load(filepath.Join("..", "cases"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		for _, pattern := range c.Inputs {
			found, err := filepath.Glob(filepath.Join("..", "..", "..", strings.ReplaceAll(pattern, "**", "*")))
			if err != nil || len(found) == 0 {
				t.Errorf("%s: no file is %s (%v): name the files that took its place", c.Name, pattern, err)
			}
		}
	}
}

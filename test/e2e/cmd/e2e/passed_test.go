package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/test/e2e/scenario"
)

// A case that has passed is left out until something that it tests changes, or it fails.
func TestPasses(t *testing.T) {
	repository(t)
	write := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"slipway", "kubeadm", "cases/contract.json", "cases/a/case.yaml", "cases/b/case.yaml", "cases/c/case.yaml"} {
		write(name, "1")
	}
	cases := []scenario.Case{
		{Name: "a", Dir: "cases/a"}, {Name: "b", Dir: "cases/b", After: "a"}, {Name: "c", Dir: "cases/c", Programs: []string{"kubeadm"}},
	}
	image := "image-1"
	rest := func() (*setup, []string) {
		t.Helper()
		s := &setup{Cache: ".", Slipway: "slipway", Cases: []string{"a", "b", "c"}, Images: make(map[string]scenario.Image)}
		s.Parts.Programs = map[string]string{"kubeadm": "kubeadm"}
		s.Images[cases[0].Image().Name()] = scenario.Image{Dir: image}
		var out strings.Builder
		if err := errors.Join(s.identify(t.Context(), cases), s.leaveOutPassed(&out)); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b", "c"} {
			if strings.Contains(out.String(), "  "+name+" ") == slices.Contains(s.Cases, name) {
				t.Errorf("%q are left, and it prints %s", s.Cases, &out)
			}
		}
		return s, s.Cases
	}
	want := func(about string, names ...string) {
		t.Helper()
		s, left := rest()
		if !slices.Equal(left, names) {
			t.Errorf("%s: %q are left, want %q", about, left, names)
		}
		for _, name := range []string{"a", "b", "c"} {
			if err := s.note(scenario.Outcome{Case: name}); err != nil {
				t.Fatal(err)
			}
		}
	}
	want("first", "a", "b", "c")
	want("all have passed")
	write("cases/a/case.yaml", "2")
	want("a case's folder, and one continues it", "a", "b")
	write("kubeadm", "2")
	want("a case's program", "c")
	image = "image-2"
	want("the image", "a", "b", "c")
	write("slipway", "2")
	want("the program for people", "a", "b", "c")
	write("cases/contract.json", "2")
	want("the contract of all cases", "a", "b", "c")
	s, _ := rest()
	if err := s.note(scenario.Outcome{Case: "c", Err: errors.New("failed")}); err != nil {
		t.Fatal(err)
	}
	want("one has failed", "c")
	if err := s.note(scenario.Outcome{Case: "no digest"}); err != nil {
		t.Fatal(err)
	}
	if passes, err := s.passes(); err != nil || len(passes) != 3 || passes["a"].Commit == "" || passes["a"].At.IsZero() {
		t.Errorf("the passes are %v, %v", passes, err)
	}
	write("passed.json", "{")
	if _, err := s.passes(); err == nil || !strings.Contains(err.Error(), "passed.json (you can delete it)") {
		t.Errorf("half a file: %v", err)
	}
}

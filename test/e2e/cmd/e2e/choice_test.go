package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// repository is a git repository with two commits and uncommitted changes. The test runs in it.
func repository(t *testing.T) (first string) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	write("kept", "1")
	write("moved", "a long enough text to be known again")
	write(".gitignore", "/out/\n")
	git("add", ".")
	git("commit", "-qm", "first")
	first = git("rev-parse", "HEAD")[:40]
	write("a/b c.go", "2")
	git("mv", "moved", "elsewhere")
	git("add", ".")
	git("commit", "-qm", "second")
	write("new", "3")
	write("out/log", "4")
	return first
}

func TestChangedSince(t *testing.T) {
	first := repository(t)
	files, err := changedSince(t.Context(), first)
	slices.Sort(files)
	if want := []string{"a/b c.go", "elsewhere", "moved", "new"}; err != nil || !slices.Equal(files, want) {
		t.Errorf("since the first commit %q changed, %v, want %q", files, err, want)
	}
	if files, err := changedSince(t.Context(), "HEAD"); err != nil || !slices.Equal(files, []string{"new"}) {
		t.Errorf("since the second commit %q changed, %v", files, err)
	}
	if err := os.Remove("new"); err != nil {
		t.Fatal(err)
	}
	if files, err := changedSince(t.Context(), "HEAD"); err != nil || files == nil || len(files) > 0 {
		t.Errorf("where nothing changed: %q, %v, want an empty list", files, err)
	}
	for _, none := range []string{"no-such-commit", "--output=x", ""} {
		if files, err := changedSince(t.Context(), none); err == nil {
			t.Errorf("%q is taken for a commit, since which %q changed", none, files)
		}
	}
	if _, err := os.Stat("x"); err == nil {
		t.Error("what should be a commit became a flag")
	}
}

func TestParseRun(t *testing.T) {
	repository(t)
	for _, args := range [][]string{{"--all", "watch"}, {"--since", "HEAD", "watch"}, {"--all", "--since", "HEAD"}, {"--rest", "watch"}, {"--rest", "--all"}, {"--since", "no-such-commit"}, {"--each"}} {
		if choice, _, err := parseRun(t.Context(), args); err == nil {
			t.Errorf("%q passes for %+v", args, choice)
		}
	}
	if choice, _, err := parseRun(t.Context(), []string{"a", "b"}); err != nil || !slices.Equal(choice.Names, []string{"a", "b"}) {
		t.Errorf("two cases are %+v, %v", choice, err)
	}
	if choice, rest, err := parseRun(t.Context(), []string{"--rest"}); err != nil || !rest || !choice.All {
		t.Errorf("the rest is %+v, %v, %v", choice, rest, err)
	}
	if choice, _, err := parseRun(t.Context(), nil); err != nil || choice.All || choice.Changed != nil || len(choice.Names) > 0 {
		t.Errorf("the core set is %+v, %v", choice, err)
	}
	if choice, _, err := parseRun(t.Context(), []string{"--since", "HEAD"}); err != nil || !slices.Equal(choice.Changed, []string{"new"}) {
		t.Errorf("what changed is %+v, %v", choice, err)
	}
}

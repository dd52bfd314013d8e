package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// workflow is what this test reads of a workflow file of the forge.
type workflow struct {
	Permissions yaml.Node
	Jobs        map[string]struct {
		Permissions map[string]string
		Steps       []struct {
			Uses yaml.Node
			Run  string
		}
	}
}

var (
	// target matches a rule of the Makefile, and pinned an action at a commit, with the version that the commit has in a comment.
	target = regexp.MustCompile(`(?m)^([a-z][a-z0-9 -]*):(?:[^=]|$)`)
	pinned = regexp.MustCompile(`^[a-z-]+/[a-z-]+@[0-9a-f]{40} # v[0-9]+\.[0-9]+\.[0-9]+$`)
	// assignment matches a variable of make. It has no expression of the forge, which could add words to the command line.
	assignment = regexp.MustCompile(`^[A-Z_]+=("\$[A-Z_]+"|[a-z0-9]+)$`)
)

// A step of a workflow is one that everybody can run: .ci/run, or targets of the Makefile. An action is pinned by its commit, because
// its tag can be moved. No job has a permission that it does not name.
func TestWorkflows(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	targets := make(map[string]bool)
	for _, rule := range target.FindAllStringSubmatch(string(makefile), -1) {
		for name := range strings.FieldsSeq(rule[1]) {
			targets[name] = true
		}
	}
	paths, err := filepath.Glob("../../.github/workflows/*")
	if err != nil || len(paths) == 0 {
		t.Fatal("no workflows", err)
	}
	actions := make(map[string]string)
	for _, path := range paths {
		file := filepath.Base(path)
		for job, steps := range stepsOf(t, path) {
			for _, step := range steps {
				if action, _, ok := strings.Cut(step, "@"); ok && !strings.Contains(action, " ") {
					if !pinned.MatchString(step) {
						t.Errorf("%s, %s: %q is not pinned: want OWNER/NAME@COMMIT # vX.Y.Z", file, job, step)
					}
					if other := actions[action]; other != "" && other != step {
						t.Errorf("%s, %s: %s, and elsewhere %s", file, job, step, other)
					}
					actions[action] = step
				} else if word := strayWord(step, targets); word != "" {
					t.Errorf("%s, %s: %q of %q is no target of the Makefile: a step is .ci/run or make TARGET", file, job, word, step)
				}
			}
		}
	}
}

// stepsOf returns the steps of a workflow's jobs: a command, or an action with its comment. It checks the permissions.
func stepsOf(t *testing.T, path string) map[string][]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var w workflow
	if err := yaml.Unmarshal(data, &w); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if w.Permissions.Kind != yaml.MappingNode || len(w.Permissions.Content) > 0 {
		t.Errorf("%s: want \"permissions: {}\" at the top; a job names what it needs", path)
	}
	all := make(map[string][]string)
	for name, job := range w.Jobs {
		if len(job.Permissions) == 0 {
			t.Errorf("%s: the job %s names no permissions", path, name)
		}
		for _, step := range job.Steps {
			if step.Run != "" {
				all[name] = append(all[name], step.Run)
			} else {
				all[name] = append(all[name], strings.TrimSpace(step.Uses.Value+" "+step.Uses.LineComment))
			}
		}
	}
	return all
}

// strayWord returns the first word of a command that is neither make, a target, nor a variable of make.
func strayWord(command string, targets map[string]bool) string {
	if command == ".ci/run" {
		return ""
	}
	words := strings.Split(strings.TrimPrefix(command, "sudo "), " ")
	if words[0] != "make" || len(words) < 2 {
		return words[0]
	}
	bad := slices.IndexFunc(words[1:], func(w string) bool { return !targets[w] && !assignment.MatchString(w) })
	if bad < 0 {
		return ""
	}
	return words[1+bad]
}

func TestStrayWords(t *testing.T) {
	targets := map[string]bool{"lint": true, "release": true}
	for command, want := range map[string]string{
		".ci/run": "", "make lint": "", "sudo make lint": "", "make lint release": "", `make release VERSION="$VERSION"`: "", "make lint SEED=1": "",
		"make": "make", "go test ./...": "go", "make lnit": "lnit", "make lint; curl x": "lint;", "make lint\ncurl x": "lint\ncurl",
		"make release VERSION=${{ github.ref_name }}": "VERSION=${{", "make lint && true": "&&", ".ci/run x": ".ci/run", "make lint X=$(curl)": "X=$(curl)",
	} {
		if got := strayWord(command, targets); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

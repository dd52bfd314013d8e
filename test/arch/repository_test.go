package arch

import (
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// git returns the output lines of a git command. It returns nil if there is no repository, as in a source archive.
func git(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", "../.."}, args...)...).Output()
	if err != nil {
		t.Skipf("git %s: %v", args[0], err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' })
}

// atRoot are the allowed names at the repository's root. Notes for one change do not belong there.
var atRoot = []string{
	".ci", ".github", ".gitignore", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "SECURITY.md",
	"adapters", "api", "capacity", "cmd", "components",
	"dist", "docs", "examples", "exitcode", "go.mod", "go.sum", "internal", "launch", "node", "nodeconfig", "release", "schema", "site", "status", "test", "userdata",
}

func TestRoot(t *testing.T) {
	for _, name := range git(t, "ls-tree", "--name-only", "HEAD") {
		if !slices.Contains(atRoot, name) {
			t.Errorf("%s is at the root of the repository: move it into a folder, or add it to this list", name)
		}
	}
}

// largest limits the size of a file in the repository, in bytes.
const largest = 1 << 20

// A file above the limit is probably the output of a build.
func TestNoBuildOutput(t *testing.T) {
	for _, line := range git(t, "ls-tree", "-r", "--long", "HEAD") {
		fields := strings.Fields(line) // mode, type, object, size, path
		if size, err := strconv.Atoi(fields[3]); err != nil || size > largest {
			t.Errorf("%s has %s bytes: take it out, and name it in .gitignore", fields[4], fields[3])
		}
	}
}

// subject matches a commit's first line: the packages that it changes, and a verb.
var subject = regexp.MustCompile(`^[a-z0-9./_*-]+(,[a-z0-9./_*-]+)*: [a-z]`)

const subjectLength = 72

// Commits that are not on the server's main branch yet have a subject of the form "package: verb ...".
func TestCommitSubjects(t *testing.T) {
	for _, line := range git(t, "log", "--no-merges", "--format=%s", "origin/main..HEAD") {
		if !subject.MatchString(line) || len([]rune(line)) > subjectLength {
			t.Errorf("commit %q: want \"package: verb ...\", the packages with commas and without blanks between, at most %d characters", line, subjectLength)
		}
	}
}

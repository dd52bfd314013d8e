package docs

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// walk is a walk-through in CONTRIBUTING.md, below one heading: what it adds to the project and changes there, and the commands
// that try that. The project itself does not change: the compiler reads other files instead (go help build, -overlay).
type walk struct {
	heading string
	// files are the new texts, by path in the project, and changed are those of existing files.
	files   map[string]string
	changed []string
	// newPackage reports whether one of them is new; go vet must run in a package's directory, which does not exist then.
	newPackage, tried bool
}

// maxChanged limits how many files of the project an addition may change.
const maxChanged = 3

// change gives a file of the project, or a new one, another text. Files that a program embeds may have any form.
func (r *reader) change(b block, text string) {
	if r.walk.files == nil {
		r.walk.files = make(map[string]string)
	}
	if _, err := os.Stat(filepath.Join(repo, b.file)); err == nil && !slices.Contains(r.walk.changed, b.file) {
		r.walk.changed = append(r.walk.changed, b.file)
	}
	if _, err := os.Stat(filepath.Join(repo, path.Dir(b.file))); err != nil && path.Ext(b.file) == ".go" {
		r.walk.newPackage = true
	}
	r.walk.files[b.file] = text
}

// edit adds the lines of a diff that begin with +, after or before the other lines, which must be together in the file exactly
// once.
func (r *reader) edit(b block) {
	text, changed := r.walk.files[b.file]
	if !changed {
		data, err := os.ReadFile(filepath.Join(repo, b.file))
		if err != nil {
			r.t.Errorf("%s: %v", r.where, err)
			return
		}
		text = string(data)
	}
	var before, after strings.Builder
	for line := range strings.Lines(b.text) {
		if added, ok := strings.CutPrefix(line, "+"); ok {
			after.WriteString(added)
			continue
		}
		before.WriteString(strings.TrimPrefix(line, " "))
		after.WriteString(strings.TrimPrefix(line, " "))
	}
	if strings.Count("\n"+text, "\n"+before.String()) != 1 {
		r.t.Errorf("%s: %s does not have these lines once:\n%s", r.where, b.file, before.String())
		return
	}
	r.change(b, strings.Replace(text, before.String(), after.String(), 1))
}

// tryWalk runs a Go command with the walk-through's changes. A short test does not: each walk-through compiles much of the project again.
func (r *reader) tryWalk(line string) {
	r.walk.tried = true
	words := strings.Fields(strings.ReplaceAll(line, "'", ""))
	if len(r.walk.files) == 0 || len(words) < 3 {
		r.t.Errorf("%s: nothing is changed before %q", r.where, line)
		return
	}
	if testing.Short() {
		return
	}
	root, err := filepath.Abs(repo)
	if err != nil {
		r.t.Fatal(err)
	}
	replace, n := make(map[string]string), 0
	for file, text := range r.walk.files {
		n++
		name := fmt.Sprintf("walk/%d%s", n, path.Ext(file))
		r.write(name, text)
		replace[filepath.Join(root, file)] = filepath.Join(r.dir, name)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		r.t.Fatal(err)
	}
	r.write("walk/overlay.json", string(overlay))
	with := "-overlay=" + filepath.Join(r.dir, "walk/overlay.json")
	args := append([]string{words[1], with}, words[2:]...)
	if r.walk.newPackage {
		args = slices.Insert(args, 1, "-vet=off")
	}
	cmd := exec.CommandContext(r.t.Context(), "go", args...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "no tests to run") {
		r.t.Errorf("%s: %s: %v\n%s", r.where, line, err, out)
	}
}

// endWalk checks that a walk-through is tried, and how many files it changes.
func (r *reader) endWalk() {
	w := &r.walk
	if len(w.files) > 0 && !w.tried {
		r.t.Errorf("%s: %q has no command that tries it", r.where, w.heading)
	}
	if len(w.changed) > maxChanged {
		r.t.Errorf("%s: %q changes %d files of the project, more than %d: %v", r.where, w.heading, len(w.changed), maxChanged, w.changed)
	}
}

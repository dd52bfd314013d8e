// Package residue finds in the tree of an image what belongs to one machine: identities, credentials, records of a boot, traces of
// people. All machines of the image would share it.
//
// It reads a tree of files, and changes nothing. internal/image/disk opens an image's file as a tree, and "slipway image check" prints
// the findings. The rules are rows: files.go has those about paths, contents.go those about what a file says, and state.go those about
// a file that must be right.
package residue

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// Severity is how much a finding matters.
type Severity string

// The severities.
const (
	// Error is for what makes machines of the image wrong or unsafe.
	Error Severity = "error"
	// Warning is for what should not be in an image, and harms no machine.
	Warning Severity = "warning"
)

// Finding is what one rule has found.
type Finding struct {
	// Rule is the rule's name.
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	// Paths are the files, sorted.
	Paths []string `json:"paths"`
	// Reason is why the files must not be there, or not so.
	Reason string `json:"reason"`
	// Mend is what the author of the image does.
	Mend string `json:"mend"`
}

// Report is the result of a check.
type Report struct {
	// Findings are sorted: errors first, then by rule.
	Findings []Finding `json:"findings"`
	// Files is the number of files that were looked at, and Read the number of those whose content was read.
	Files int `json:"files"`
	Read  int `json:"read"`
}

// Failed reports whether there is a finding that is an error.
func (r *Report) Failed() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Severity == Error })
}

// rule is a row of a table: what a finding of it says.
type rule struct {
	name     string
	severity Severity
	reason   string
	mend     string
}

// The limits of a check. An image of a distribution has some 15,000 files, and one with a desktop 300,000. Linux has paths of up to 4096
// bytes (PATH_MAX).
const (
	maxEntries = 2_000_000
	maxPath    = 4096
	// maxText is the size of the largest file whose content is read. Credentials are in small files.
	maxText = 1 << 20
	// maxPaths limits the paths of a finding.
	maxPaths = 1000
)

// volatile are directories that a machine fills when it runs. An image's files in them are not seen.
var volatile = []string{"proc", "sys", "dev", "run"}

// examination is a check that runs.
type examination struct {
	ctx    context.Context
	tree   fs.FS
	report Report
	// entries is the number of files and directories until now.
	entries int
	found   map[*rule][]string
	// has are the types of all files, by path.
	has map[string]fs.FileMode
}

// Check examines a tree.
//
// It fails if the tree has no distribution, if a directory cannot be read, or if ctx ends.
func Check(ctx context.Context, tree fs.FS) (*Report, error) {
	e := &examination{ctx: ctx, tree: tree, found: make(map[*rule][]string), has: make(map[string]fs.FileMode)}
	if err := e.isImage(); err != nil {
		return nil, err
	}
	if err := fs.WalkDir(tree, ".", e.visit); err != nil {
		return nil, err
	}
	for _, state := range states {
		if err := state(e); err != nil {
			return nil, err
		}
	}
	return e.finish(), nil
}

// isImage refuses a tree without a distribution, such as a mistyped path: it has no residue either.
func (e *examination) isImage() error {
	for _, name := range []string{"etc/os-release", "usr/lib/os-release"} {
		if _, err := fs.Stat(e.tree, name); err == nil {
			return nil
		}
	}
	return errors.New("it has no distribution: there is neither /etc/os-release nor /usr/lib/os-release")
}

// visit examines one file.
func (e *examination) visit(name string, entry fs.DirEntry, err error) error {
	if err != nil {
		return fmt.Errorf("/%s: %w", name, err)
	}
	if err := e.ctx.Err(); err != nil {
		return err
	}
	// In a damaged file system, a directory can be in itself.
	if e.entries++; e.entries > maxEntries || len(name) > maxPath {
		return fmt.Errorf("it has more than %d files and directories, or a path of more than %d bytes", maxEntries, maxPath)
	}
	if entry.IsDir() {
		if slices.Contains(volatile, name) {
			return fs.SkipDir
		}
		return nil
	}
	e.report.Files++
	e.has[name] = entry.Type()
	if !entry.Type().IsRegular() {
		return nil
	}
	info, err := entry.Info()
	if err != nil {
		return fmt.Errorf("/%s: %w", name, err)
	}
	// A log or a key that was emptied is no residue.
	if info.Size() == 0 {
		return nil
	}
	named := false
	for i := range files {
		if row := &files[i]; row.matches(name) {
			e.add(&row.rule, name)
			named = true
		}
	}
	if named || info.Size() > maxText || !mayHoldSecrets(name) {
		return nil
	}
	return e.readContent(name)
}

// add adds a file to a rule's finding.
func (e *examination) add(r *rule, name string) {
	if len(e.found[r]) < maxPaths {
		e.found[r] = append(e.found[r], "/"+name)
	}
}

// readContent looks for credentials in a file.
func (e *examination) readContent(name string) error {
	data, err := e.read(name)
	if err != nil || binary(data) {
		return err
	}
	rows := contents()
	for i := range rows {
		if row := &rows[i]; row.matches(data) {
			e.add(&row.rule, name)
		}
	}
	return nil
}

// exists reports whether the tree has a file, which may be a link.
func (e *examination) exists(name string) bool {
	_, is := e.has[name]
	return is
}

// read returns the content of a small file. If the tree does not have the file, or has a link or a device in its place, the content is nil.
func (e *examination) read(name string) ([]byte, error) {
	if mode, is := e.has[name]; !is || !mode.IsRegular() {
		return nil, nil
	}
	file, err := e.tree.Open(name)
	if err != nil {
		return nil, fmt.Errorf("/%s: %w", name, err)
	}
	defer file.Close()
	e.report.Read++
	data, err := io.ReadAll(bufio.NewReader(io.LimitReader(file, maxText)))
	if err != nil {
		return nil, fmt.Errorf("/%s: %w", name, err)
	}
	return data, nil
}

// word reads a file that has one word, without the blanks around it.
func (e *examination) word(name string) (string, error) {
	data, err := e.read(name)
	return string(bytes.TrimSpace(data)), err
}

// binary reports whether data is no text, by the rule of grep and git.
func binary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 }

// finish sorts the findings.
func (e *examination) finish() *Report {
	r := &e.report
	r.Findings = []Finding{}
	for rule, paths := range e.found {
		slices.Sort(paths)
		r.Findings = append(r.Findings, Finding{rule.name, rule.severity, slices.Compact(paths), rule.reason, rule.mend})
	}
	slices.SortFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(string(a.Severity), string(b.Severity)), strings.Compare(a.Rule, b.Rule))
	})
	return r
}

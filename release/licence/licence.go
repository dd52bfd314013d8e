// Package licence finds the modules in a program and their licences.
package licence

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// Module is a module in a program.
type Module struct {
	Path, Version string
	// Sum is Go's sum of its files ("h1:..."). The standard library has none: it is in the toolchain's.
	Sum string
	// Licenses are the SPDX identifiers of its licences, sorted.
	Licenses []string
	Texts    []Text
}

// Text is a file with a licence or a notice.
type Text struct {
	Name    string
	Content []byte
}

// standard is the path of the standard library, as in package URLs of Go modules.
const standard = "std"

// Reader finds modules in the module cache.
type Reader struct {
	// Source is the directory of the program's module.
	Source string
	listed map[string]listed
	// read are the modules of all programs until now, by path.
	read map[string]Module
}

// listed is a module of go.mod.
type listed struct{ Path, Version, Dir string }

// Modules returns the modules in a program, by path. It leaves out the program's own.
func (r *Reader) Modules(ctx context.Context, program string) ([]Module, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	first, err := r.module(standard, strings.TrimPrefix(info.GoVersion, "go"), "", strings.TrimSpace(string(goroot)))
	if err != nil {
		return nil, err
	}
	if err := r.list(ctx); err != nil {
		return nil, err
	}
	all := []Module{first}
	for _, d := range info.Deps {
		l, found := r.listed[d.Path]
		switch {
		case !found:
			return nil, fmt.Errorf("%s: the module %s is not in go.mod", program, d.Path)
		case l.Version != d.Version:
			return nil, fmt.Errorf("%s: it has %s %s, and go.mod has %s", program, d.Path, d.Version, l.Version)
		}
		m, err := r.module(d.Path, d.Version, d.Sum, l.Dir)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	slices.SortFunc(all, byPath)
	return all, nil
}

// All returns the modules of all programs that were read, by path.
func (r *Reader) All() []Module { return slices.SortedFunc(maps.Values(r.read), byPath) }

func byPath(a, b Module) int { return strings.Compare(a.Path, b.Path) }

// module reads a module's licences, once. All programs of a release have the versions of one go.mod.
func (r *Reader) module(path, version, sum, dir string) (Module, error) {
	if m, done := r.read[path]; done {
		return m, nil
	}
	m, err := read(path, version, sum, dir)
	if err != nil {
		return m, err
	}
	if r.read == nil {
		r.read = make(map[string]Module)
	}
	r.read[path] = m
	return m, nil
}

// list finds the directories of all modules, once.
func (r *Reader) list(ctx context.Context) error {
	if r.listed != nil {
		return nil
	}
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-json", "all")
	cmd.Dir, cmd.Stderr = r.Source, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list -m: %w", err)
	}
	r.listed = make(map[string]listed)
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("go list -m: %w", err)
		}
		r.listed[l.Path] = l
	}
}

// read reads a module's licences. A module without one is an error: it must not be in a release.
func read(path, version, sum, dir string) (Module, error) {
	m := Module{Path: path, Version: version, Sum: sum}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return m, fmt.Errorf("%s %s: %w", path, version, err)
	}
	for _, e := range entries {
		if !isLicence(e) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return m, err
		}
		m.Texts = append(m.Texts, Text{Name: e.Name(), Content: content})
		if !strings.HasPrefix(strings.ToUpper(e.Name()), "LICEN") && !strings.HasPrefix(strings.ToUpper(e.Name()), "COPYING") {
			continue // a grant of patents and a notice are no licences of SPDX's list
		}
		for _, match := range licensecheck.Scan(content).Match {
			if !slices.Contains(m.Licenses, match.ID) && !match.IsURL {
				m.Licenses = append(m.Licenses, match.ID)
			}
		}
	}
	if len(m.Licenses) == 0 {
		return m, fmt.Errorf("%s %s has no licence that is known: look at %s", path, version, dir)
	}
	slices.Sort(m.Licenses)
	return m, nil
}

// isLicence reports whether a file has the name of one with a licence or a notice.
func isLicence(e os.DirEntry) bool {
	name := strings.ToUpper(e.Name())
	return e.Type().IsRegular() && !strings.HasSuffix(name, ".GO") && slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS"}, func(begin string) bool {
		return strings.HasPrefix(name, begin)
	})
}

// Write writes the licences of a program and of its modules, in one text.
func Write(program string, own []byte, modules []Module) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "The licence of %s, and those of the Go modules in it.\n", program)
	section := func(title string, content []byte) {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", title, strings.Repeat("=", len(title)), bytes.TrimSpace(content))
	}
	section(program, own)
	for _, m := range modules {
		for _, t := range m.Texts {
			section(m.Path+" "+m.Version+", "+t.Name, t.Content)
		}
	}
	return b.Bytes()
}

package resolve

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/archive"
	"github.com/slipway-dev/slipway/internal/image/kind"
	"github.com/slipway-dev/slipway/internal/image/lock"
	"github.com/slipway-dev/slipway/internal/image/spec"
)

// maxFiles limits the files of a component.
const maxFiles = 200

// files notes what is taken out of a file of the cache.
func (c *component) files(digest string, values spec.Values) ([]lock.File, error) {
	file, err := c.Cache.Open(digest)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	t := &taking{component: c, values: values, rules: rules(c.whole.Take, values), matched: make(map[int]string), links: make(map[int]string)}
	if t.whole() {
		err = t.take(archive.File{Size: -1, Reader: file})
	} else {
		err = archive.Files(file, t.take)
	}
	if err != nil {
		return nil, err
	}
	for i, r := range t.rules {
		if _, found := t.matched[i]; !found && !r.Optional {
			return nil, archive.Missing(r.Members, t.links[i])
		}
	}
	slices.SortFunc(t.files, func(a, b lock.File) int { return strings.Compare(a.Path, b.Path) })
	return t.files, nil
}

// rules are a component's files with the placeholders replaced.
func rules(take []kind.File, values spec.Values) []kind.File {
	all := slices.Clone(take)
	for i := range all {
		all[i].Path = values.Expand(all[i].Path)
		all[i].Members = slices.Clone(all[i].Members)
		for j := range all[i].Members {
			all[i].Members[j] = values.Expand(all[i].Members[j])
		}
	}
	return all
}

// taking is the reading of one file.
type taking struct {
	*component
	values spec.Values
	rules  []kind.File
	// matched are the members by the rule that took them, and links those that lead to others.
	matched, links map[int]string
	files          []lock.File
}

// whole reports whether the download is taken as it is.
func (t *taking) whole() bool { return len(t.rules) == 1 && len(t.rules[0].Members) == 0 }

// take notes a file of an archive, or a single program, whose name is empty.
func (t *taking) take(f archive.File) error {
	for i, r := range t.rules {
		if f.Name != "" && !matches(r.Members, f.Name) || f.Name == "" && i > 0 || r.Except != nil && r.Except(path.Base(f.Name)) {
			continue
		}
		if f.Link {
			t.links[i] = f.Name
			continue
		}
		at := r.Path
		if spec.IsDirectory(at) {
			if f.Name == "" {
				return fmt.Errorf("is a single program, and an archive is wanted")
			}
			at += path.Base(f.Name)
		} else if other, twice := t.matched[i]; twice {
			return fmt.Errorf("has both %s and %s for %s: name one of them in files", other, f.Name, at)
		}
		if reason := spec.CheckPath(at); reason != "" {
			return fmt.Errorf("%s: the path %s %s", f.Name, at, reason)
		}
		if slices.ContainsFunc(t.files, func(f lock.File) bool { return f.Path == at }) {
			return fmt.Errorf("has two files for %s", at)
		}
		if len(t.files) == maxFiles {
			return fmt.Errorf("has more than %d of the wanted files", maxFiles)
		}
		noted, err := t.note(f)
		if err != nil {
			return err
		}
		noted.Path, noted.Mode = at, r.Mode
		t.matched[i] = f.Name
		t.files = append(t.files, noted)
		return nil
	}
	return nil
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(p, name) // invalid patterns were refused before
		return ok
	})
}

// note reads a file.
func (t *taking) note(f archive.File) (lock.File, error) {
	head := make([]byte, elfHeader)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return lock.File{}, fmt.Errorf("%s: %w", f.Name, err)
	}
	head = head[:n]
	if err := t.checkMachine(f.Name, head); err != nil {
		return lock.File{}, err
	}
	sum := sha256.New()
	size, err := io.Copy(sum, io.MultiReader(bytes.NewReader(head), f))
	if err != nil {
		return lock.File{}, fmt.Errorf("%s: %w", f.Name, err)
	}
	if size == 0 {
		return lock.File{}, fmt.Errorf("%s is empty", f.Name)
	}
	return lock.File{Member: f.Name, SHA256: hex.EncodeToString(sum.Sum(nil)), Size: size}, nil
}

// elfHeader is the beginning of a program, up to its machine (ELF specification, e_machine).
const elfHeader = 20

// machines are the architectures by their number in a program.
var machines = map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}

// checkMachine refuses a program for another architecture. A script, or another file, is for every architecture.
func (t *taking) checkMachine(name string, head []byte) error {
	if len(head) < elfHeader || string(head[:4]) != elf.ELFMAG {
		return nil
	}
	machine := elf.Machine(uint16(head[18]) | uint16(head[19])<<8)
	if elf.Data(head[elf.EI_DATA]) == elf.ELFDATA2MSB {
		machine = elf.Machine(uint16(head[19]) | uint16(head[18])<<8)
	}
	if is := cmp.Or(machines[machine], machine.String()); is != t.values.Arch {
		return fmt.Errorf("%s for %s, and %s is wanted", strings.TrimSpace(name+" is a program"), is, t.values.Arch)
	}
	return nil
}

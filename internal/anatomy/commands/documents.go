package commands

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/anatomy"
	"github.com/slipway-dev/slipway/internal/anatomy/gathered"
	"github.com/slipway-dev/slipway/internal/anatomy/record"
	"github.com/slipway-dev/slipway/internal/archive"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/supportbundle"
)

// The limits of what is read into memory.
const (
	maxAnatomyFile  = 64 << 20
	maxAnatomyTotal = 512 << 20
	maxAnatomyFiles = 20_000
)

// scripts is the directory whose files are listed, not read: AKS's scripts.
const scripts = "opt/azure/containers/"

// gathering collects the documents of the arguments.
type gathering struct {
	documents []anatomy.Document
	listed    gathered.Listing
	notes     []record.Unread
	total     int64
}

// readDocuments reads directories, archives and files. notes name what was not read.
func readDocuments(paths []string) (documents []anatomy.Document, notes []record.Unread, err error) {
	var g gathering
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", p, command.Pathless(err))
		}
		if info.IsDir() {
			err = g.directory(p)
		} else {
			err = g.single(p)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", p, command.Pathless(err))
		}
	}
	if len(g.listed.Files) > 0 {
		data, err := json.Marshal(g.listed)
		if err != nil {
			return nil, nil, err
		}
		g.documents = append(g.documents, anatomy.Document{Name: gathered.ListingName, Data: data})
	}
	if len(g.documents) == 0 {
		return nil, nil, fmt.Errorf("%s: no document is known in it: see \"slipway anatomy --help\"", strings.Join(paths, ", "))
	}
	return g.documents, g.notes, nil
}

func (g *gathering) note(name, reason string) {
	g.notes = append(g.notes, record.Unread{Document: cli.Line(name), Reason: reason})
}

// directory reads the known files below a directory. It follows no link out of it.
func (g *gathering) directory(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	count := 0
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			g.note(name, cli.Line(command.Pathless(err).Error()))
			return nil
		case !entry.Type().IsRegular() || !g.wants(name):
			return nil
		}
		if count++; count > maxAnatomyFiles {
			g.note(name, fmt.Sprintf("the directory has more than %d files; this one and the later ones were not read", maxAnatomyFiles))
			return fs.SkipAll
		}
		file, err := root.Open(filepath.FromSlash(name))
		if err != nil {
			g.note(name, cli.Line(command.Pathless(err).Error()))
			return nil
		}
		defer file.Close()
		g.add(name, file)
		return nil
	})
}

// wants reports whether a file of a directory or an archive is read, and lists a script.
func (g *gathering) wants(name string) bool {
	if _, script, ok := strings.Cut("/"+name, "/"+scripts); ok && !strings.Contains(script, "/") && !strings.HasSuffix(script, ".json") {
		if len(g.listed.Files) < maxAnatomyFiles {
			g.listed.Files = append(g.listed.Files, gathered.File{Path: "/" + scripts + script})
		}
		return false
	}
	return record.Wanted(name)
}

// single reads a file that the user has named: an archive, or any document.
func (g *gathering) single(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReader(file)
	if head, _ := in.Peek(6); !isPacked(name, head) {
		g.add(path.Base(filepath.ToSlash(name)), in)
		return nil
	}
	bundle, refused := supportbundle.Open(in)
	if refused == nil {
		g.bundle(bundle)
		return nil
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return g.archive(file, name, refused)
}

// bundle reads a support bundle.
func (g *gathering) bundle(b *supportbundle.Bundle) {
	for _, name := range b.Names() {
		if data, ok := b.Read(name); ok && g.wants(name) {
			g.add(name, bytes.NewReader(data))
		}
	}
	for _, problem := range b.Problems {
		g.note("the bundle", cli.Line(problem))
	}
}

// archive reads an archive of logs. refused is why it is no support bundle that can be read: an archive with a bundle's first member is
// one, of a newer version or with members that no bundle has.
func (g *gathering) archive(file io.Reader, name string, refused error) error {
	first := true
	err := archive.Files(file, func(f archive.File) error {
		if first && f.Name == supportbundle.FormatName {
			return refused
		}
		first = false
		if g.wants(f.Name) {
			g.add(f.Name, f)
		}
		if len(g.documents) > maxAnatomyFiles {
			g.note(f.Name, fmt.Sprintf("the archive has more than %d documents; this one and the later ones were not read", maxAnatomyFiles))
			return archive.ErrStop
		}
		return nil
	})
	if err != nil && len(g.documents) == 0 {
		return err
	}
	if err != nil {
		g.note(name, "the archive was read in part: "+cli.Line(err.Error()))
	}
	return nil
}

// isPacked reports whether a file is an archive, by its name or its first bytes.
func isPacked(name string, head []byte) bool {
	for _, magic := range []string{"\x1f\x8b", "\x28\xb5\x2f\xfd", "\xfd7zXZ"} {
		if strings.HasPrefix(string(head), magic) {
			return true
		}
	}
	return strings.HasSuffix(name, ".tar")
}

// add reads a document, up to the limits.
func (g *gathering) add(name string, r io.Reader) {
	limit := min(int64(maxAnatomyFile), maxAnatomyTotal-g.total)
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		g.note(name, cli.Line(command.Pathless(err).Error()))
		return
	}
	if int64(len(data)) > limit {
		data = data[:limit]
		g.note(name, fmt.Sprintf("the end was not read: a file may have %d bytes, and all together %d", maxAnatomyFile, maxAnatomyTotal))
	}
	g.total += int64(len(data))
	g.documents = append(g.documents, anatomy.Document{Name: name, Data: data})
}

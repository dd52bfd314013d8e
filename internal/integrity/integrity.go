package integrity

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"strings"
	"syscall"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/place"
)

// Files is what the package needs of a machine. A missing directory is fs.ErrNotExist.
type Files interface {
	Stat(path string) (apply.Entry, error)
	// ReadLinked reads a regular file, also through links.
	ReadLinked(path string, limit int64) ([]byte, error)
	ReadDir(path string) ([]string, error)
	// Digest is the SHA-256 digest of a regular file, in hexadecimal, also through links.
	Digest(path string, limit int64) (string, error)
	// Attributes are the names of the extended attributes of a file or directory, sorted. A link has none.
	Attributes(path string) ([]string, error)
}

const (
	// maxNames bounds how many entries of one directory are compared.
	maxNames = 4096
	// maxFile bounds a file whose content is judged, in bytes.
	maxFile = 1 << 20
)

// Class is the comparison for which a finding counts.
type Class uint8

// The classes.
const (
	// Counted is nothing that an image or an add-on of a cluster brings.
	Counted Class = iota
	// OfImage is for what an image may have by itself: it counts only if the image is known not to have it.
	OfImage
	// Noted is what the cluster's own add-ons write on a running node. It never counts.
	Noted
)

// Finding is something that changes what the node runs.
type Finding struct {
	Path string
	// Kind is the row in the table of checks.
	Kind Kind
	// What describes the effect, without any content.
	What string
	// Units are those that it changes, sorted.
	Units []string
	Class Class
	// Shared means that it also changes units that are not the node's.
	Shared bool
	// Identity distinguishes two contents at one path. It is empty if an update of the distribution may replace the content.
	Identity string
}

// key identifies a finding in a list of earlier findings.
func (f *Finding) key() string { return string(f.Kind) + " " + f.Path }

// Marks are findings as a generation's record keeps them: what each is, with its identity.
func Marks(found []Finding) map[string]string {
	marks := make(map[string]string, len(found))
	for i := range found {
		if found[i].Class != Noted {
			marks[found[i].key()] = found[i].Identity
		}
	}
	return marks
}

// Since returns the findings that were not there before, in the same content.
func Since(found []Finding, before map[string]string) []Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f Finding) bool {
		identity, known := before[f.key()]
		return known && identity == f.Identity
	})
}

// Only returns the findings of the given classes.
func Only(found []Finding, classes ...Class) []Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return !slices.Contains(classes, f.Class) })
}

// Find finds what changes what a node runs, sorted by path. What cannot be read is in the error, and the rest is found all the same.
func Find(files Files, node *Node) ([]Finding, error) {
	s := newScan(files, node)
	s.programs()
	s.brought()
	return s.surroundings()
}

// Surroundings are the findings without programs of another digest. A boot waits for them: to hash a kubelet takes longer than the rest of a
// run, and what an image has in place of its manifest's program excuses nothing.
func Surroundings(files Files, node *Node) ([]Finding, error) {
	return newScan(files, node).surroundings()
}

func (s *scan) surroundings() ([]Finding, error) {
	s.units()
	s.places()
	s.entries()
	sort.SliceStable(s.found, func(i, j int) bool { return s.found[i].Path < s.found[j].Path })
	return s.found, errors.Join(s.errs...)
}

// scan is one look at a machine.
type scan struct {
	files Files
	node  *Node
	// own are the node's paths.
	own   map[string]bool
	found []Finding
	errs  []error
}

func newScan(files Files, node *Node) *scan {
	s := &scan{files: files, node: node, own: make(map[string]bool, len(node.Paths))}
	for _, p := range node.Paths {
		s.own[p] = true
	}
	return s
}

func (s *scan) add(f Finding) {
	if f.Acceptable() && place.IsAddition(f.Path, s.node.Accepted) {
		return
	}
	if f.Identity == "" && strings.HasPrefix(f.Path, "/etc/") {
		f.Identity = s.identity(f.Path)
	}
	s.found = append(s.found, f)
}

// identity is what is at a path, in one word.
func (s *scan) identity(name string) string {
	entry, err := s.files.Stat(name)
	switch {
	case err != nil || entry.Kind == apply.Absent:
		return ""
	case entry.Kind == apply.Symlink:
		return "-> " + entry.Target
	case entry.Kind == apply.RegularFile && entry.Size <= maxFile:
		if content, err := s.files.ReadLinked(name, maxFile); err == nil {
			sum := sha256.Sum256(content)
			return "sha256:" + hex.EncodeToString(sum[:])
		}
	}
	return string(entry.Kind)
}

// list are the names in a directory; none if there is no such directory.
func (s *scan) list(dir string) []string {
	names, err := s.files.ReadDir(dir)
	if absent(err) {
		return nil
	}
	s.errs = append(s.errs, err)
	if len(names) > maxNames {
		s.add(Finding{Path: dir, Kind: KindDirectory, What: fmt.Sprintf("has %d entries, of which %d are compared", len(names), maxNames), Identity: "large"})
		names = names[:maxNames]
	}
	return names
}

func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// stat is what is at a path; what cannot be looked at is absent.
func (s *scan) stat(name string) apply.Entry {
	entry, err := s.files.Stat(name)
	s.errs = append(s.errs, err)
	return entry
}

// content is that of a small file, also through a link; empty for what is no file.
func (s *scan) content(name string) []byte {
	content, err := s.files.ReadLinked(name, maxFile)
	if err != nil {
		return nil
	}
	return content
}

// masks reports whether an entry makes systemd and others ignore files of the same name (systemd.unit(5)).
func masks(e apply.Entry) bool {
	return e.Target == "/dev/null" || e.Kind == apply.RegularFile && e.Size == 0
}

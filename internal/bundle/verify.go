package bundle

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/integrity"
	"github.com/slipway-dev/slipway/internal/resource"
)

// maxFile is how large a file may be that is compared, in bytes. A plan has none that is larger.
const maxFile = 32 << 20

// Difference is one way in which a tree differs from the bundle.
type Difference struct {
	Path string `json:"path"`
	// What describes the difference, without any content: "is missing", "has mode 0644, want 0600".
	What string `json:"what"`
}

// Owner returns a file's owner; ok is false if owners are not compared.
type Owner func(fs.FileInfo) (uid, gid int, ok bool)

// Self compares the bundle's own files with its manifest.
func (m *Manifest) Self(from fs.FS) []Difference {
	var all []Difference
	for _, r := range m.Renderings {
		all = append(all, compareContent(from, r.Name, r.Name, r.SHA256)...)
	}
	for _, e := range m.Entries {
		if e.Type == TypeFile {
			name := path.Join(Tree, e.Path)
			all = append(all, compareContent(from, name, name, e.SHA256)...)
		}
	}
	return all
}

// Verify compares a tree with the manifest. The differences are sorted by path.
func (m *Manifest) Verify(tree fs.FS, owner Owner) []Difference {
	var all []Difference
	for i := range m.Entries {
		all = append(all, m.Entries[i].compare(tree, owner)...)
	}
	slices.SortStableFunc(all, func(a, b Difference) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// within is a path of the node as a name in a tree.
func within(p string) string {
	if p = strings.TrimPrefix(p, "/"); p == "" {
		return "."
	}
	return p
}

func (e *Entry) compare(tree fs.FS, owner Owner) []Difference {
	differs := func(format string, args ...any) []Difference {
		return []Difference{{e.Path, fmt.Sprintf(format, args...)}}
	}
	info, err := fs.Lstat(tree, within(e.Path))
	switch {
	case errors.Is(err, fs.ErrNotExist) && e.over(tree):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return differs("is missing")
	case err != nil:
		return differs("cannot be read: %v", cause(err))
	case typeOf(info) != e.Type:
		return differs("is a %s, want a %s", typeOf(info), e.Type)
	case e.Type == TypeLink:
		target, err := fs.ReadLink(tree, within(e.Path))
		if err != nil {
			return differs("cannot be read: %v", cause(err))
		}
		if target != e.Target {
			return differs("leads to %q, want %q", target, e.Target)
		}
		return nil
	}
	var all []Difference
	if mode := Mode(resource.ModeOf(info.Mode())); mode != e.Mode {
		all = append(all, differs("has mode %s, want %s", mode, e.Mode)...)
	}
	if uid, gid, ok := owner(info); ok && (uid != e.UID || gid != e.GID) {
		all = append(all, differs("belongs to %d:%d, want %d:%d", uid, gid, e.UID, e.GID)...)
	}
	if e.Type == TypeFile {
		all = append(all, compareContent(tree, within(e.Path), e.Path, e.SHA256)...)
	}
	return all
}

// over reports whether the entry has done its work, and is gone.
func (e *Entry) over(tree fs.FS) bool {
	return len(e.Until) > 0 && !slices.ContainsFunc(e.Until, func(p string) bool { return !holds(tree, p) })
}

// maxLinks is how many links are followed to a file, as by the kernel (path_resolution(7)).
const maxLinks = 40

// holds reports whether there is a file that is not empty, or a link to one. A link that begins at the root, as the kubelet's
// do, begins at the tree's.
func holds(tree fs.FS, p string) bool {
	for range maxLinks {
		info, err := fs.Lstat(tree, within(p))
		if err != nil {
			return false
		}
		if typeOf(info) != TypeLink {
			return typeOf(info) == TypeFile && info.Size() > 0
		}
		target, err := fs.ReadLink(tree, within(p))
		if err != nil {
			return false
		}
		if !path.IsAbs(target) {
			target = path.Join(path.Dir(p), target)
		}
		p = path.Clean(target)
	}
	return false
}

func compareContent(tree fs.FS, name, shown, want string) []Difference {
	content, err := readFile(tree, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []Difference{{shown, "is missing"}}
	case err != nil:
		return []Difference{{shown, fmt.Sprintf("cannot be read: %v", cause(err))}}
	case Sum(content) != want:
		return []Difference{{shown, "has another content"}}
	}
	return nil
}

// readFile reads a file, and nothing that would be waited for.
func readFile(tree fs.FS, name string) ([]byte, error) {
	info, err := fs.Lstat(tree, name)
	if err != nil {
		return nil, err
	}
	if typeOf(info) != TypeFile {
		return nil, fmt.Errorf("it is a %s", typeOf(info))
	}
	file, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("it has more than %d bytes", maxFile)
	}
	return data, err
}

// Additions finds what changes the node's programs and is not part of the node. If image is not nil, it has the files of the image that
// the machine was made from, and Additions leaves out what the image has. If it is nil, Additions leaves out what an image may have by
// itself. noted is what the cluster's add-ons bring, and is no difference.
func (m *Manifest) Additions(machine, image integrity.Files) (differences, noted []Difference, err error) {
	node := m.Node
	for _, e := range m.Entries {
		node.Paths = append(node.Paths, e.Path)
	}
	found, err := integrity.Find(machine, &node)
	if err != nil {
		return nil, nil, err
	}
	counted := integrity.Only(found, integrity.Counted)
	if image != nil {
		before, err := integrity.Find(image, &node)
		if err != nil {
			return nil, nil, fmt.Errorf("the image: %w", err)
		}
		counted = integrity.Since(integrity.Only(found, integrity.Counted, integrity.OfImage), integrity.Marks(before))
	}
	for _, f := range counted {
		differences = append(differences, Difference{f.Path, f.What})
	}
	for _, f := range integrity.Only(found, integrity.Noted) {
		noted = append(noted, Difference{f.Path, f.What})
	}
	return differences, noted, nil
}

func typeOf(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return TypeFile
	case mode.IsDir():
		return TypeDirectory
	case mode&fs.ModeSymlink != 0:
		return TypeLink
	}
	return "special file"
}

// cause returns an error without its path, because the caller's text has the path already.
func cause(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

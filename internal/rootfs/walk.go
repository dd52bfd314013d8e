package rootfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/failpoint"
)

// maxLinks is how many symbolic links a path may have, as in the kernel.
const maxLinks = 40

// openDir opens a directory of the tree for operations on its entries.
func (t *Tree) openDir(dir string, create bool) (*os.File, error) {
	// Nearly always the directory exists, and no absolute link is on the path.
	file, err := t.root.OpenFile(inRoot(dir), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err == nil {
		return file, nil
	}
	if errors.Is(err, fs.ErrNotExist) && !create {
		return nil, fmt.Errorf("open %s: %w", dir, bare(err))
	}
	w := walk{tree: t, create: create}
	resolved, err := w.resolve(dir)
	if err != nil {
		return nil, err
	}
	file, err = t.root.OpenFile(inRoot(resolved), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", resolved, bare(err))
	}
	return file, nil
}

// inRoot is a path of the tree as os.Root wants it.
func inRoot(name string) string {
	if name == "/" {
		return "."
	}
	return strings.TrimPrefix(name, "/")
}

// walk resolves directories, one name at a time. os.Root alone is not sufficient, because it refuses every absolute
// symbolic link: on a machine, /var/run leads to /run, which is inside.
type walk struct {
	tree *Tree
	// create creates missing directories.
	create bool
	// enter, if any, is called for each directory before a name is looked up in it.
	enter func(dir string) error
}

// resolve returns the path of a directory, free of symbolic links.
func (w *walk) resolve(dir string) (string, error) {
	at, rest := "/", components(dir)
	links := 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		if name == ".." {
			at = path.Dir(at)
			continue
		}
		if w.enter != nil {
			if err := w.enter(at); err != nil {
				return "", err
			}
		}
		next := path.Join(at, name)
		info, err := w.lookup(next)
		switch {
		case err != nil:
			return "", fmt.Errorf("%s: %w", next, bare(err))
		case info.IsDir():
			at = next
		case info.Mode().Type() == fs.ModeSymlink:
			if links++; links > maxLinks {
				return "", fmt.Errorf("%s: %w", next, unix.ELOOP)
			}
			target, err := w.tree.root.Readlink(inRoot(next))
			if err != nil {
				return "", fmt.Errorf("%s: %w", next, bare(err))
			}
			if path.IsAbs(target) {
				at = "/"
			}
			rest = append(components(target), rest...)
		default:
			return "", fmt.Errorf("%s: %w", next, unix.ENOTDIR)
		}
	}
	if w.enter != nil {
		return at, w.enter(at)
	}
	return at, nil
}

// lookup describes the entry at a path whose parents are free of symbolic links.
func (w *walk) lookup(name string) (fs.FileInfo, error) {
	info, err := w.tree.root.Lstat(inRoot(name))
	if !w.create || !errors.Is(err, fs.ErrNotExist) {
		return info, err
	}
	if err := w.tree.makeParent(name); err != nil {
		return nil, err
	}
	return w.tree.root.Lstat(inRoot(name))
}

// makeParent creates a directory for a file that will be in it.
func (t *Tree) makeParent(name string) error {
	const mode = 0o755
	err := mutate(failpoint.Change{Kind: failpoint.Mkdir, Root: t.name, Name: name, Mode: mode}, func() error {
		return t.root.Mkdir(inRoot(name), mode)
	})
	if errors.Is(err, fs.ErrExist) {
		return nil // another process made it meanwhile
	}
	if err != nil {
		return err
	}
	t.touch(path.Dir(name))
	if t.owned { // the parent's group may have been inherited
		err := mutate(failpoint.Change{Kind: failpoint.Owner, Root: t.name, Name: name}, func() error {
			return t.root.Lchown(inRoot(name), 0, 0)
		})
		if err != nil {
			return err
		}
	}
	return mutate(failpoint.Change{Kind: failpoint.Mode, Root: t.name, Name: name, Mode: mode}, func() error {
		return t.root.Chmod(inRoot(name), mode) // independent of the umask
	})
}

// components are the elements of a path.
func components(name string) []string {
	var names []string
	for part := range strings.SplitSeq(name, "/") {
		if part != "" && part != "." {
			names = append(names, part)
		}
	}
	return names
}

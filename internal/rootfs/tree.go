package rootfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/apply"
)

// permissionBits are the bits of a mode that a plan can set.
const permissionBits = 0o7777

// Tree is the files below a directory. It resolves symbolic links as a machine with that root directory would: an
// absolute one starts at the directory, and ".." ends there. So a link inside it cannot name anything outside it. Paths
// are absolute within the tree.
//
// Several goroutines may use a Tree at once, for different paths.
type Tree struct {
	root *os.Root
	name string // the directory's absolute path
	// owned reports whether owners can be set, and so compared: only the superuser can change a file's owner.
	owned bool

	mu      sync.Mutex
	changed map[string]bool // directories with names that are not durable yet
	digests map[string]digested
}

// Open opens the tree below an existing directory. It sets the umask of the process to 022.
func Open(dir string) (*Tree, error) {
	name, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open root %s: %w", dir, bare(err))
	}
	// A new parent directory must have its final mode from creation: if a run dies before it sets the mode, no later
	// run corrects it. So the umask is root's usual one, not that of the parent process.
	unix.Umask(0o022)
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, fmt.Errorf("open root %s: %w", name, bare(err))
	}
	return &Tree{root: root, name: name, owned: os.Geteuid() == 0, changed: map[string]bool{}, digests: map[string]digested{}}, nil
}

// Close releases the tree's directory.
func (t *Tree) Close() error { return t.root.Close() }

// Root is the absolute path of the tree's directory.
func (t *Tree) Root() string { return t.name }

// isNothing reports whether nothing can exist at a path: the name is missing, a file is on the path, or a name is
// longer than the file system allows.
func isNothing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ENAMETOOLONG)
}

// Stat describes the entry at path, without following a last symbolic link.
func (t *Tree) Stat(path string) (apply.Entry, error) {
	entry := apply.Entry{Owned: t.owned}
	p, err := t.find(path)
	if isNothing(err) {
		return entry, nil
	}
	if err != nil {
		return apply.Entry{}, Failed("stat", path, err)
	}
	defer p.close()
	stat, err := p.stat()
	if isNothing(err) {
		return entry, nil
	}
	if err != nil {
		return apply.Entry{}, Failed("stat", path, err)
	}
	entry.Mode, entry.UID, entry.GID, entry.Size = stat.Mode&permissionBits, int(stat.Uid), int(stat.Gid), stat.Size
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		entry.Kind = apply.RegularFile
	case unix.S_IFDIR:
		entry.Kind = apply.Directory
	case unix.S_IFLNK:
		entry.Kind = apply.Symlink
		if entry.Target, err = p.readlink(); err != nil {
			return apply.Entry{}, Failed("stat", path, err)
		}
	default:
		entry.Kind = apply.Other
	}
	return entry, nil
}

// ReadFile reads a regular file of at most limit bytes. It does not follow a last symbolic link, and never blocks: a
// pipe or a device is an error.
func (t *Tree) ReadFile(path string, limit int64) ([]byte, error) {
	p, err := t.find(path)
	if err != nil {
		return nil, Failed("read", path, err)
	}
	defer p.close()
	// Opening a device can have effects on it, so the kind is checked before as well as after.
	stat, err := p.stat()
	if err == nil {
		err = regular(stat)
	}
	if err != nil {
		return nil, Failed("read", path, err)
	}
	file, err := p.openFile(unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, Failed("read", path, err)
	}
	defer file.Close()
	content, err := readRegular(file, limit)
	if err != nil {
		return nil, Failed("read", path, err)
	}
	return content, nil
}

// ReadLinked reads a regular file of at most limit bytes like ReadFile, but follows a symbolic link at the last name.
func (t *Tree) ReadLinked(name string, limit int64) ([]byte, error) {
	name, err := t.linked(name)
	if err != nil {
		return nil, err
	}
	return t.ReadFile(name, limit)
}

// linked is the path that links lead to, from a path whose last name may be one.
func (t *Tree) linked(name string) (string, error) {
	for range maxLinks {
		entry, err := t.Stat(name)
		if err != nil || entry.Kind != apply.Symlink {
			return name, err
		}
		if path.IsAbs(entry.Target) {
			name = path.Clean(entry.Target)
		} else {
			name = path.Join(path.Dir(name), entry.Target)
		}
	}
	return "", fmt.Errorf("read %s: %w", name, unix.ELOOP)
}

// ReadDir lists the names in a directory, sorted.
func (t *Tree) ReadDir(path string) ([]string, error) {
	if err := CheckPath(path); err != nil {
		return nil, Failed("list", path, err)
	}
	dir, err := t.openDir(path, false)
	if err != nil {
		return nil, Failed("list", path, err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, Failed("list", path, err)
	}
	slices.Sort(names)
	return names, nil
}

// Exists reports whether a path exists. It does not follow a last symbolic link, so a link counts with any target. If
// the path cannot be checked, the result is false.
func (t *Tree) Exists(path string) bool {
	p, err := t.find(path)
	if err != nil {
		return false
	}
	defer p.close()
	_, err = p.stat()
	return err == nil
}

// Link returns a symbolic link's target as it is written, or "" if the path is not a link.
func (t *Tree) Link(path string) string {
	entry, err := t.Stat(path)
	if err != nil {
		return ""
	}
	return entry.Target
}

// OpenKind opens a path for reading. It must be of a certain kind (unix.S_IFREG, unix.S_IFBLK), and opening it never
// blocks. The error does not name the path: see [Failed].
func (t *Tree) OpenKind(name string, kind uint32) (*os.File, error) {
	p, err := t.find(name)
	if err != nil {
		return nil, err
	}
	defer p.close()
	// Opening another kind of device can have effects on it, so the kind is checked before as well as after.
	stat, err := p.stat()
	if err == nil {
		err = ofKind(stat, kind)
	}
	if err != nil {
		return nil, err
	}
	file, err := p.openFile(unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	var opened unix.Stat_t
	err = again(func() error { return unix.Fstat(int(file.Fd()), &opened) })
	if err == nil {
		err = ofKind(&opened, kind)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func ofKind(stat *unix.Stat_t, kind uint32) error {
	if stat.Mode&unix.S_IFMT != kind {
		return fmt.Errorf("is %s, not %s: %w", kindName(stat.Mode), kindName(kind), fs.ErrInvalid)
	}
	return nil
}

// readRegular reads an open file that must be regular.
func readRegular(file *os.File, limit int64) ([]byte, error) {
	var stat unix.Stat_t
	if err := again(func() error { return unix.Fstat(int(file.Fd()), &stat) }); err != nil {
		return nil, err
	}
	if err := regular(&stat); err != nil {
		return nil, err
	}
	tooLarge := fmt.Errorf("is larger than the limit of %d bytes", limit)
	if stat.Size > limit {
		return nil, tooLarge
	}
	// The size is not trusted: the kernel's files have none, and others may be growing.
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = tooLarge
	}
	if err != nil {
		return nil, err
	}
	return content, nil
}

// Remove removes a file or link, or anything else that is not a directory. A missing one is not an error.
func (t *Tree) Remove(path string) error {
	p, err := t.find(path)
	if err == nil {
		defer p.close()
		err = p.unlink(p.base)
	}
	if isNothing(err) {
		return nil
	}
	if err != nil {
		return t.failed("remove", path, err)
	}
	t.touch(p.parent())
	return nil
}

// find opens the directory that holds path.
func (t *Tree) find(name string) (*entry, error) { return t.entryOf(name, false) }

// prepare opens the directory that holds path, for a change. It creates missing parents.
func (t *Tree) prepare(name string) (*entry, error) {
	if name == "/" {
		return nil, errors.New("is the root of the tree")
	}
	return t.entryOf(name, true)
}

func (t *Tree) entryOf(name string, create bool) (*entry, error) {
	if err := CheckPath(name); err != nil {
		return nil, err
	}
	parent, base := path.Split(name)
	if base == "" {
		base = "."
	}
	dir, err := t.openDir(path.Clean(parent), create)
	if err != nil {
		return nil, err
	}
	return &entry{dir: dir, path: name, base: base}, nil
}

// CheckPath requires an unambiguous path: absolute, clean, and without a NUL.
func CheckPath(name string) error {
	switch {
	case strings.ContainsRune(name, 0):
		return fmt.Errorf("path %q has a NUL in it: %w", name, fs.ErrInvalid)
	case !path.IsAbs(name):
		return fmt.Errorf("path %q is not absolute: %w", name, fs.ErrInvalid)
	case path.Clean(name) != name:
		return fmt.Errorf("path %q is not clean, want %q: %w", name, path.Clean(name), fs.ErrInvalid)
	}
	return nil
}

// Failed is the error of an operation on a path. It omits the standard library's description of both, which has the
// path only as seen from an open directory. Methods that leave the path to their caller do so because the caller can
// describe the operation better.
func Failed(operation, path string, err error) error {
	return fmt.Errorf("%s %s: %w", operation, path, bare(err))
}

// bare returns the cause of an error of the standard library's file operations.
func bare(err error) error {
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	var callErr *os.SyscallError
	for {
		switch e := err; {
		case asError(e, &pathErr):
			err = pathErr.Err
		case asError(e, &linkErr):
			err = linkErr.Err
		case asError(e, &callErr):
			err = callErr.Err
		default:
			return err
		}
	}
}

// asError reports whether err itself, not an error that it wraps, is a T, so that the text around that is kept.
func asError[T error](err error, target *T) bool {
	e, ok := err.(T)
	if ok {
		*target = e
	}
	return ok
}

// again repeats a system call that a signal interrupted.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

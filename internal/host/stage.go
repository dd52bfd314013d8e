package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/resource"
)

// Stage writes a file's content, mode and owner under a temporary name beside its path, and syncs
// it. Missing parents are made, with mode 0755. Nothing is visible at the path until Commit, and at
// no moment can anybody open the file whom its final mode does not let.
func (t *Tree) Stage(file *resource.File) error {
	p, err := t.prepare(file.Path)
	if err != nil {
		return failed("stage", file.Path, err)
	}
	defer p.close()
	if err := p.replaceable(); err != nil {
		return failed("stage", file.Path, err)
	}
	if err := t.write(p, p.staged(), file); err != nil {
		return failed("stage", file.Path, err)
	}
	return nil
}

// write makes a new file, in place of what an interrupted run left under its name.
func (t *Tree) write(p *place, name string, file *resource.File) error {
	if file.Mode&^permissionBits != 0 {
		return fmt.Errorf("mode %#o has more than permission bits: %w", file.Mode, fs.ErrInvalid)
	}
	if err := p.discard(name); err != nil {
		return fmt.Errorf("remove stale %s: %w", name, err)
	}
	f, err := p.open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, file.Mode&0o600)
	if err != nil {
		return fmt.Errorf("create %s: %w", name, err)
	}
	if err := t.fill(f, file); err != nil {
		f.Close()
		p.discard(name) // a full disk needs the space; the first error is the one to tell
		return err
	}
	return nil
}

// fill writes, labels, syncs and closes a new file.
func (t *Tree) fill(f *os.File, file *resource.File) error {
	if _, err := f.Write(file.Content); err != nil {
		return fmt.Errorf("write: %w", bare(err))
	}
	if t.owned {
		// Before the mode: a change of owner clears the bits that run a program as its owner.
		if err := f.Chown(file.UID, file.GID); err != nil {
			return fmt.Errorf("set owner %d:%d: %w", file.UID, file.GID, bare(err))
		}
	}
	if err := f.Chmod(fileMode(file.Mode)); err != nil {
		return fmt.Errorf("set mode %04o: %w", file.Mode, bare(err))
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync: %w", bare(err))
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("close: %w", bare(err))
	}
	return nil
}

// Commit renames a staged file into place.
func (t *Tree) Commit(path string) error {
	p, err := t.find(path)
	if err != nil {
		return failed("commit", path, err)
	}
	defer p.close()
	if err := p.replaceable(); err != nil {
		return failed("commit", path, err)
	}
	if err := p.rename(p.staged(), p.base); err != nil {
		return failed("commit", path, fmt.Errorf("rename %s: %w", p.staged(), err))
	}
	t.touch(p.parent())
	return nil
}

// Unstage removes what Stage left for path, if anything.
func (t *Tree) Unstage(path string) error {
	p, err := t.find(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return failed("unstage", path, err)
	}
	defer p.close()
	if err := p.discard(p.staged()); err != nil {
		return failed("unstage", path, err)
	}
	return nil
}

// WriteFileAtomic stages a file, commits it and makes it durable: whoever reads the path finds the
// old content or the new, whole.
func (t *Tree) WriteFileAtomic(file *resource.File) error {
	if err := t.Stage(file); err != nil {
		return err
	}
	if err := t.Commit(file.Path); err != nil {
		return errors.Join(err, t.Unstage(file.Path))
	}
	return t.Sync()
}

// maxAttempts is how many names CreateExclusive tries.
const maxAttempts = 1000

// exclusive numbers the files that this process creates by CreateExclusive.
var exclusive atomic.Uint64

// CreateExclusive creates a file in dir under the first of the names name(0), name(1), ... that
// nothing has yet, and returns its path. The file is whole from the moment that it has the name. The
// name is durable after the next Sync. Missing parents are made. The file is its creator's.
func (t *Tree) CreateExclusive(dir string, name func(attempt int) string, mode uint32, content []byte) (string, error) {
	if err := checkPath(dir); err != nil {
		return "", failed("create a file in", dir, err)
	}
	// Others may be creating files there right now, so the temporary name is this call's own.
	temp := fmt.Sprintf("%d-%d", os.Getpid(), exclusive.Add(1))
	p, err := t.prepare(joinPath(dir, temp))
	if err != nil {
		return "", failed("create a file in", dir, err)
	}
	defer p.close()
	file := &resource.File{Mode: mode, UID: os.Geteuid(), GID: os.Getegid(), Content: content}
	if err := t.write(p, p.staged(), file); err != nil {
		return "", failed("create a file in", dir, err)
	}
	defer p.discard(p.staged())
	for attempt := range maxAttempts {
		base := name(attempt)
		if len(components(base)) != 1 || components(base)[0] != base || base == ".." {
			return "", failed("create a file in", dir, fmt.Errorf("%q is not a file's name: %w", base, fs.ErrInvalid))
		}
		err := p.link(p.staged(), base)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", failed("create", joinPath(dir, base), err)
		}
		t.touch(dir)
		return joinPath(dir, base), nil
	}
	return "", failed("create a file in", dir, fmt.Errorf("%d names are all taken: %w", maxAttempts, fs.ErrExist))
}

func joinPath(dir, base string) string {
	if dir == "/" {
		return "/" + base
	}
	return dir + "/" + base
}

// fileMode is a mode as the os package knows it.
func fileMode(mode uint32) os.FileMode {
	m := os.FileMode(mode & 0o777)
	if mode&unix.S_ISUID != 0 {
		m |= os.ModeSetuid
	}
	if mode&unix.S_ISGID != 0 {
		m |= os.ModeSetgid
	}
	if mode&unix.S_ISVTX != 0 {
		m |= os.ModeSticky
	}
	return m
}

package rootfs

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/parallel"
	"github.com/slipway-dev/slipway/internal/resource"
)

// MakeDirectory creates a directory, or corrects the mode and owner of an existing one. It creates missing parents with
// mode 0755.
func (t *Tree) MakeDirectory(dir *resource.Directory) error {
	p, err := t.prepare(dir.Path)
	if err != nil {
		return t.failed("make directory", dir.Path, err)
	}
	defer p.close()
	if err := t.makeDirectory(p, dir); err != nil {
		return t.failed("make directory", dir.Path, err)
	}
	return nil
}

func (t *Tree) makeDirectory(p *entry, dir *resource.Directory) error {
	if dir.Mode&^permissionBits != 0 {
		return fmt.Errorf("mode %#o has more than permission bits: %w", dir.Mode, fs.ErrInvalid)
	}
	err := p.mkdir(dir.Mode & 0o700)
	if err == nil {
		t.touch(p.parent())
	} else if !errors.Is(err, fs.ErrExist) {
		return err
	}
	stat, err := p.stat()
	if err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		return fmt.Errorf("%s is in the way: %w", kindName(stat.Mode), unix.ENOTDIR)
	}
	otherOwner := t.owned && (int(stat.Uid) != dir.UID || int(stat.Gid) != dir.GID)
	if !otherOwner && stat.Mode&permissionBits == dir.Mode {
		return nil
	}
	f, err := p.openFile(unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if otherOwner {
		if err := chownTo(f, dir.UID, dir.GID); err != nil {
			return fmt.Errorf("set owner %d:%d: %w", dir.UID, dir.GID, bare(err))
		}
	}
	if err := chmodTo(f, dir.Mode); err != nil {
		return fmt.Errorf("set mode %04o: %w", dir.Mode, bare(err))
	}
	t.touch(p.path) // syncing the directory also makes its mode durable
	return nil
}

// MakeSymlink creates a symbolic link. It replaces an existing file or link atomically, and creates missing parents
// with mode 0755. The target need not exist.
func (t *Tree) MakeSymlink(link *resource.Symlink) error {
	p, err := t.prepare(link.Path)
	if err != nil {
		return t.failed("make link", link.Path, err)
	}
	defer p.close()
	if err := p.makeSymlink(link.Target); err != nil {
		return t.failed("make link", link.Path, err)
	}
	t.touch(p.parent())
	return nil
}

func (p *entry) makeSymlink(target string) error {
	if target == "" || strings.ContainsRune(target, 0) {
		return fmt.Errorf("target %q leads nowhere: %w", target, fs.ErrInvalid)
	}
	if err := p.replaceable(); err != nil {
		return err
	}
	if err := p.discard(p.staged()); err != nil {
		return fmt.Errorf("remove stale %s: %w", p.staged(), err)
	}
	if err := p.symlink(target, p.staged()); err != nil {
		return err
	}
	if err := p.rename(p.staged(), p.base); err != nil {
		p.discard(p.staged())
		return fmt.Errorf("rename %s: %w", p.staged(), err)
	}
	return nil
}

// syncers is how many files or directories are synced at a time: each sync makes the disk flush its cache, and parallel
// syncs share one flush.
const syncers = 8

// inParallel calls sync for each number below n, several at a time.
func inParallel(n int, sync func(i int)) {
	limit := syncers
	if failpoint.InOrder {
		limit = 1
	}
	parallel.Each(n, limit, sync)
}

// Sync makes durable every name that was changed since the last call, several directories at a time. The next call
// tries failed ones again.
func (t *Tree) Sync() error {
	t.mu.Lock()
	dirs := slices.Sorted(maps.Keys(t.changed))
	t.changed = map[string]bool{}
	t.mu.Unlock()
	errs := make([]error, len(dirs))
	inParallel(len(dirs), func(i int) {
		if err := t.syncDir(dirs[i]); err != nil {
			t.touch(dirs[i])
			errs[i] = t.failed("sync directory", dirs[i], err)
		}
	})
	return errors.Join(errs...)
}

func (t *Tree) syncDir(dir string) error {
	f, err := t.openDir(dir, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed since; it has nothing to make durable
	}
	if err != nil {
		return err
	}
	defer f.Close()
	err = bare(syncTo(failpoint.SyncDirectory, f))
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil // a file system without a disk, such as /proc
	}
	return err
}

// touch records that a directory's names have changed.
func (t *Tree) touch(dir string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.changed[dir] = true
}

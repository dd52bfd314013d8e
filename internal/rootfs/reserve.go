package rootfs

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/failpoint"
)

// Reserve reserves space on name's disk, in a file of size bytes that has all its blocks: removing it frees that space.
// If the file is already complete, only a single stat is needed. If there is no space for it, nothing remains, and
// [NoRoom] is true for the error.
func (t *Tree) Reserve(name string, size int64) error {
	p, err := t.prepare(name)
	if err != nil {
		return t.failed("reserve room at", name, err)
	}
	defer p.close()
	if stat, err := p.stat(); err == nil && stat.Mode&unix.S_IFMT == unix.S_IFREG && stat.Size == size && stat.Blocks*512 >= size {
		return nil
	}
	if err := t.reserve(p, size); err != nil {
		return t.failed("reserve room at", name, err)
	}
	return t.Sync()
}

func (t *Tree) reserve(p *entry, size int64) error {
	if err := p.whole(0o600, func(f *os.File) error { return bare(allocate(f, size)) }); err != nil {
		return err
	}
	t.touch(p.parent())
	return nil
}

// allocate allocates a new file's blocks. If the file system cannot do that without writing (fallocate(2)), allocate
// writes data that it cannot compress.
func allocate(f *os.File, size int64) error {
	err := mutate(failpoint.Change{Kind: failpoint.Allocate, File: f, Size: size}, func() error {
		return unix.Fallocate(int(f.Fd()), 0, 0, size)
	})
	if !cannotAllocate(err) {
		return err
	}
	noise := make([]byte, 0, size+sha256.Size)
	for sum := sha256.Sum256(nil); int64(len(noise)) < size; sum = sha256.Sum256(sum[:]) {
		noise = append(noise, sum[:]...)
	}
	return writeTo(f, noise[:size])
}

// cannotAllocate reports whether a file system does not support fallocate(2).
func cannotAllocate(err error) bool {
	return errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS)
}

// NoRoom reports whether an operation failed because the disk is full, or the agent's share of it.
func NoRoom(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// Writable returns an error if a directory, or its first existing parent, is on a file system that is mounted
// read-only; the error names that. Other problems show up when something is written.
func (t *Tree) Writable(dir string) error {
	for at := dir; ; at = path.Dir(at) {
		f, err := t.openDir(at, false)
		if err != nil && at != "/" {
			continue
		}
		if err != nil {
			return nil
		}
		defer f.Close()
		if mount := readOnly(f); mount != "" {
			return Failed("write below", dir, readOnlyError(mount))
		}
		return nil
	}
}

// failed is [Failed], and names a read-only file system.
func (t *Tree) failed(operation, name string, err error) error {
	if errors.Is(err, unix.EROFS) {
		if named := t.Writable(path.Dir(name)); errors.Is(named, unix.EROFS) {
			err = errors.Unwrap(named)
		}
	}
	return Failed(operation, name, err)
}

func readOnlyError(mount string) error {
	return fmt.Errorf("the file system that is mounted at %s is read-only: %w", mount, unix.EROFS)
}

// readOnly is the mount point of an open directory's file system if that is read-only, otherwise "".
func readOnly(dir *os.File) string {
	var about unix.Statfs_t
	err := again(func() error { return unix.Fstatfs(int(dir.Fd()), &about) })
	if err != nil || about.Flags&unix.ST_RDONLY == 0 {
		return ""
	}
	at, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", dir.Fd()))
	if err != nil {
		return dir.Name()
	}
	for at != "/" {
		// Kernels before 5.8 do not have this attribute (statx(2)): then the result is the root.
		var stat unix.Statx_t
		err := again(func() error { return unix.Statx(unix.AT_FDCWD, at, unix.AT_SYMLINK_NOFOLLOW, 0, &stat) })
		if err != nil || stat.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0 {
			break
		}
		at = path.Dir(at)
	}
	return at
}

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

// Reserve keeps room on the disk that name is on, in a file of size bytes that has all its blocks: whoever removes it
// has that room. One that is there and whole is left alone, which takes a single stat. Where there is no room for it,
// nothing is left, and the error is one of [NoRoom].
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

// allocate gives a new file its blocks. A file system that cannot do that without writing them (fallocate(2)) is
// written to, with what it cannot compress.
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

// cannotAllocate reports whether a file system knows no fallocate(2).
func cannotAllocate(err error) bool {
	return errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS)
}

// NoRoom reports whether something failed for want of room: the disk is full, or the share of it that the agent may use.
func NoRoom(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// Writable is an error where a directory, or the one that it would be made in, is on a file system that is mounted
// read-only; the error names that. What else may be wrong is found by who writes.
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

// failed is [Failed], and where the file system is read-only it names that.
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

// readOnly is where the file system is mounted that an open directory is on, "" where it can be written to.
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
		// Kernels before 5.8 do not know this attribute (statx(2)): then it is the root's for all that is said.
		var stat unix.Statx_t
		err := again(func() error { return unix.Statx(unix.AT_FDCWD, at, unix.AT_SYMLINK_NOFOLLOW, 0, &stat) })
		if err != nil || stat.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0 {
			break
		}
		at = path.Dir(at)
	}
	return at
}

package rootfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/failpoint"
)

// entry is an open directory of a tree, and a name in it. The directory is found once, and safely; operations in it are
// single system calls that take the name as it is and never follow a link. So an attacker cannot redirect them by
// moving directories meanwhile.
type entry struct {
	dir  *os.File
	path string // the whole path within the tree
	base string // its last element
}

func (p *entry) close()         { p.dir.Close() }
func (p *entry) fd() int        { return int(p.dir.Fd()) }
func (p *entry) parent() string { return path.Dir(p.path) }

// staged is a file's name until it is renamed into place.
func (p *entry) staged() string { return stagedName(p.base) }

//go:noinline
func stagedName(base string) string { return "." + base + ".slipway-tmp" }

func (p *entry) stat() (*unix.Stat_t, error) { return p.statOf(p.base) }

func (p *entry) statOf(name string) (*unix.Stat_t, error) {
	stat := new(unix.Stat_t)
	err := again(func() error { return unix.Fstatat(p.fd(), name, stat, unix.AT_SYMLINK_NOFOLLOW) })
	return stat, err
}

func (p *entry) readlink() (string, error) {
	buf := make([]byte, unix.PathMax)
	var n int
	err := again(func() (err error) {
		n, err = unix.Readlinkat(p.fd(), p.base, buf)
		return err
	})
	return string(buf[:max(n, 0)]), err
}

func (p *entry) openFile(flags int, mode uint32) (*os.File, error) {
	return p.open(p.base, flags, mode)
}

func (p *entry) open(name string, flags int, mode uint32) (*os.File, error) {
	var fd int
	openat := func() (err error) {
		fd, err = unix.Openat(p.fd(), name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
		return err
	}
	var err error
	if flags&(unix.O_CREAT|unix.O_TRUNC) != 0 {
		err = mutate(failpoint.Change{Kind: failpoint.Create, File: p.dir, Name: name, Mode: mode}, openat)
	} else {
		err = again(openat)
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path.Join(p.parent(), name)), nil
}

func (p *entry) unlink(name string) error {
	return mutate(failpoint.Change{Kind: failpoint.Unlink, File: p.dir, Name: name}, func() error {
		return unix.Unlinkat(p.fd(), name, 0)
	})
}

func (p *entry) rmdir() error {
	return mutate(failpoint.Change{Kind: failpoint.Rmdir, File: p.dir, Name: p.base}, func() error {
		return unix.Unlinkat(p.fd(), p.base, unix.AT_REMOVEDIR)
	})
}

// discard removes a name, which may be missing.
func (p *entry) discard(name string) error {
	if err := p.unlink(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (p *entry) rename(from, to string) error {
	return mutate(failpoint.Change{Kind: failpoint.Rename, File: p.dir, Name: from, To: to}, func() error {
		return unix.Renameat(p.fd(), from, p.fd(), to)
	})
}

// link gives a name to an open file that has none yet. It uses the kernel's link to the file, which needs no privilege,
// unlike AT_EMPTY_PATH (open(2), O_TMPFILE).
func (p *entry) link(file *os.File, to string) error {
	from := fmt.Sprintf("/proc/self/fd/%d", file.Fd())
	return mutate(failpoint.Change{Kind: failpoint.Link, File: p.dir, Name: from, To: to}, func() error {
		return unix.Linkat(unix.AT_FDCWD, from, p.fd(), to, unix.AT_SYMLINK_FOLLOW)
	})
}

func (p *entry) symlink(target, name string) error {
	return mutate(failpoint.Change{Kind: failpoint.Symlink, File: p.dir, Name: name, To: target}, func() error {
		return unix.Symlinkat(target, p.fd(), name)
	})
}

func (p *entry) mkdir(mode uint32) error {
	return mutate(failpoint.Change{Kind: failpoint.Mkdir, File: p.dir, Name: p.base, Mode: mode}, func() error {
		return unix.Mkdirat(p.fd(), p.base, mode)
	})
}

// replaceable requires that a file or link may replace what is at the path.
func (p *entry) replaceable() error {
	stat, err := p.stat()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFREG, unix.S_IFLNK:
		return nil
	case unix.S_IFDIR:
		return fmt.Errorf("%s is in the way, and Slipway does not replace it: move it away: %w", kindName(stat.Mode), unix.EISDIR)
	}
	return fmt.Errorf("%s is in the way, and Slipway does not replace it: move it away: %w", kindName(stat.Mode), unix.EEXIST)
}

// regular requires a regular file.
func regular(stat *unix.Stat_t) error {
	if stat.Mode&unix.S_IFMT == unix.S_IFREG {
		return nil
	}
	return fmt.Errorf("is %s, not a regular file", kindName(stat.Mode))
}

// ownName requires that an open file is regular and has only one name: appending to a file with another name would also
// change that. If the file has no name any more, the error is fs.ErrNotExist.
func ownName(file *os.File) error {
	var stat unix.Stat_t
	if err := again(func() error { return unix.Fstat(int(file.Fd()), &stat) }); err != nil {
		return err
	}
	if err := regular(&stat); err != nil {
		return err
	}
	switch stat.Nlink {
	case 0:
		return fmt.Errorf("was removed: %w", unix.ENOENT)
	case 1:
		return nil
	}
	return fmt.Errorf("has more than one hard link: %w", unix.EMLINK)
}

func kindName(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return "a regular file"
	case unix.S_IFDIR:
		return "a directory"
	case unix.S_IFLNK:
		return "a symbolic link"
	case unix.S_IFIFO:
		return "a named pipe"
	case unix.S_IFSOCK:
		return "a socket"
	case unix.S_IFCHR, unix.S_IFBLK:
		return "a device"
	}
	return "something unknown"
}

package rootfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/resource"
)

// copyMode is the mode of a copy.
const copyMode = 0o755

// StageCopy gives a file a second name, temporary and beside another path, for Commit. On another file system it copies
// and syncs the content. It creates missing parents. The file becomes the superuser's, and executable for all: an
// unpacked archive may have left it to a user ID that the machine uses otherwise.
func (t *Tree) StageCopy(c *resource.Copy) error {
	if err := t.stageCopy(c); err != nil {
		return t.failed("copy "+c.Source+" to", c.Path, err)
	}
	return nil
}

func (t *Tree) stageCopy(c *resource.Copy) error {
	source, err := t.OpenKind(c.Source, unix.S_IFREG)
	if err != nil {
		return fmt.Errorf("open the source: %w", bare(err))
	}
	defer source.Close()
	p, err := t.prepare(c.Path)
	if err != nil {
		return err
	}
	defer p.close()
	if err := p.replaceable(); err != nil {
		return err
	}
	if err := p.discard(p.staged()); err != nil {
		return fmt.Errorf("remove stale %s: %w", p.staged(), err)
	}
	if t.linkable(p, source) {
		if err := p.link(source, p.staged()); err != nil {
			return fmt.Errorf("link: %w", err)
		}
		if err := t.release(source, copyMode); err != nil {
			p.discard(p.staged()) // the first error is the one to report
			return err
		}
		return nil
	}
	return p.create(p.staged(), copyMode, func(f *os.File) error {
		if err := streamTo(f, source); err != nil {
			return err
		}
		if err := t.release(f, copyMode); err != nil {
			return err
		}
		return bare(syncTo(failpoint.Sync, f))
	})
}

// linkable reports whether an open file can get another name there: both are on one file system.
func (t *Tree) linkable(p *entry, file *os.File) bool {
	var own, there unix.Stat_t
	return unix.Fstat(int(file.Fd()), &own) == nil && unix.Fstat(p.fd(), &there) == nil && own.Dev == there.Dev
}

// release gives an open file to the superuser, and sets its mode.
func (t *Tree) release(f *os.File, mode uint32) error {
	var stat unix.Stat_t
	if err := again(func() error { return unix.Fstat(int(f.Fd()), &stat) }); err != nil {
		return err
	}
	if t.owned && (stat.Uid != 0 || stat.Gid != 0) {
		if err := chownTo(f, 0, 0); err != nil {
			return fmt.Errorf("set owner 0:0: %w", bare(err))
		}
	}
	if stat.Mode&permissionBits != mode {
		if err := chmodTo(f, mode); err != nil {
			return fmt.Errorf("set mode %04o: %w", mode, bare(err))
		}
	}
	return nil
}

// SameFile reports whether two paths name one file, or files of the same content on different file systems. If one of
// them is missing, it returns false.
func (t *Tree) SameFile(a, b string) (bool, error) {
	var files [2]*os.File
	var stats [2]unix.Stat_t
	for i, path := range []string{a, b} {
		file, err := t.OpenKind(path, unix.S_IFREG)
		if isNothing(err) || errors.Is(err, fs.ErrInvalid) {
			return false, nil
		}
		if err != nil {
			return false, Failed("open", path, err)
		}
		defer file.Close()
		if err := again(func() error { return unix.Fstat(int(file.Fd()), &stats[i]) }); err != nil {
			return false, Failed("stat", path, err)
		}
		files[i] = file
	}
	switch one, other := &stats[0], &stats[1]; {
	case one.Dev == other.Dev:
		return one.Ino == other.Ino, nil
	case one.Size != other.Size:
		return false, nil
	}
	same, err := sameContent(files[0], files[1])
	if err != nil {
		return false, Failed("compare with "+b, a, err)
	}
	return same, nil
}

// sameContent compares two files of the same size.
func sameContent(a, b io.Reader) (bool, error) {
	one, other := make([]byte, 1<<20), make([]byte, 1<<20)
	for {
		n, err := io.ReadFull(a, one)
		m, errOther := io.ReadFull(b, other)
		if n != m || !bytes.Equal(one[:n], other[:m]) {
			return false, nil
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return true, nil
		}
		if err := errors.Join(err, errOther); err != nil {
			return false, err
		}
	}
}

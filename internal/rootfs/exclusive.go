package rootfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/resource"
)

// maxAttempts is how many names CreateExclusive tries.
const maxAttempts = 1000

// CreateExclusive creates a file in dir under the first unused one of the names name(0), name(1), ... and returns its
// path. The file is complete when it gets the name, and has no name before. So a process that dies in between leaves
// nothing behind, which would never be found under a name that is new each time. The name is durable after the next
// Sync. Missing parents are created. The file belongs to its creator.
func (t *Tree) CreateExclusive(dir string, name func(attempt int) string, mode uint32, content []byte) (string, error) {
	path, err := t.createExclusive(dir, name, &resource.File{
		Mode: mode, UID: os.Geteuid(), GID: os.Getegid(), Content: content,
	})
	if err != nil {
		return "", t.failed("create a file in", dir, err)
	}
	return path, nil
}

func (t *Tree) createExclusive(dir string, name func(attempt int) string, file *resource.File) (string, error) {
	if err := CheckPath(dir); err != nil {
		return "", err
	}
	if err := checkMode(file.Mode); err != nil {
		return "", err
	}
	p, err := t.prepare(joinPath(dir, "new"))
	if err != nil {
		return "", err
	}
	defer p.close()
	f, forget, err := p.openUnnamed()
	if err != nil {
		return "", fmt.Errorf("create: %w", err)
	}
	defer forget()
	defer f.Close()
	if err := t.fill(f, file); err != nil {
		return "", err
	}
	if err := syncTo(failpoint.Sync, f); err != nil {
		return "", fmt.Errorf("sync: %w", bare(err))
	}
	for attempt := range maxAttempts {
		base := name(attempt)
		if len(components(base)) != 1 || components(base)[0] != base || base == ".." {
			return "", fmt.Errorf("%q is not a file name: %w", base, fs.ErrInvalid)
		}
		err := p.link(f, base)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("name it %s: %w", base, err)
		}
		t.touch(dir)
		return joinPath(dir, base), nil
	}
	return "", fmt.Errorf("%d names are all taken: %w", maxAttempts, fs.ErrExist)
}

// exclusive numbers the files that this process creates with temporary names.
var exclusive atomic.Uint64

// openUnnamed creates a file in the directory that has no name and disappears when it is closed, unless it gets a name
// (open(2), O_TMPFILE). Every file system for a node's root supports that. On others the file has a temporary name
// until forget is called.
func (p *entry) openUnnamed() (f *os.File, forget func(), err error) {
	var fd int
	err = mutate(failpoint.Change{Kind: failpoint.Create, File: p.dir, Mode: 0o600}, func() (err error) {
		fd, err = unix.Openat(p.fd(), ".", unix.O_WRONLY|unix.O_TMPFILE|unix.O_CLOEXEC, 0o600)
		return err
	})
	switch {
	case err == nil:
		return os.NewFile(uintptr(fd), p.parent()), func() {}, nil
	case !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.EISDIR):
		return nil, nil, err
	}
	name := fmt.Sprintf(".%d-%d.slipway-tmp", os.Getpid(), exclusive.Add(1))
	f, err = p.open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
	return f, func() { p.discard(name) }, err
}

package rootfs

import (
	"errors"
	"fmt"
	"path"

	"golang.org/x/sys/unix"
)

// RemoveDirectory removes a directory that is empty. It is no error that there is none, that it is not
// empty, that something is mounted on it, or that it is no directory: then it is somebody else's.
func (t *Tree) RemoveDirectory(name string) error {
	p, err := t.find(name)
	if err == nil {
		defer p.close()
		err = p.rmdir()
	}
	switch {
	case err == nil:
		t.touch(p.parent())
		return nil
	case isNothing(err), errors.Is(err, unix.ENOTEMPTY), errors.Is(err, unix.EEXIST), errors.Is(err, unix.EBUSY):
		return nil
	}
	return t.failed("remove directory", name, err)
}

// Renamed notes that an earlier process may have changed the name at path, so that the next Sync makes it
// durable.
func (t *Tree) Renamed(name string) { t.touch(path.Dir(name)) }

// SetAside renames a file that cannot be used, so that it is out of the way and can be looked at. One that
// was set aside before is replaced. The new name is durable after the next Sync.
func (t *Tree) SetAside(name string) (aside string, err error) {
	p, err := t.find(name)
	if err != nil {
		return "", t.failed("set aside", name, err)
	}
	defer p.close()
	if err := p.replaceable(); err != nil {
		return "", t.failed("set aside", name, err)
	}
	base := p.base + ".damaged"
	if err := p.rename(p.base, base); err != nil {
		return "", t.failed("set aside", name, fmt.Errorf("rename to %s: %w", base, err))
	}
	t.touch(p.parent())
	return joinPath(p.parent(), base), nil
}

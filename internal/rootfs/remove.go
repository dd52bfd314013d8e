package rootfs

import (
	"errors"
	"fmt"
	"path"

	"golang.org/x/sys/unix"
)

// RemoveDirectory removes an empty directory. It returns no error if the directory is missing, not empty, a mount
// point, or not a directory: then another program uses it.
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

// Renamed records that an earlier process may have changed the name at path, so that the next Sync makes it durable.
func (t *Tree) Renamed(name string) { t.touch(path.Dir(name)) }

// SetAside renames an unusable file, so that it can be inspected. It replaces a file that was set aside before. The new
// name is durable after the next Sync.
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

package rootfs

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// followed are, besides those of watched, the events after which a file can have another content: it was
// written in place, or went away, or moved away.
const followed = watched | unix.IN_CLOSE_WRITE | unix.IN_DELETE | unix.IN_MOVED_FROM

// FollowFiles calls changed whenever one of the paths may have another content than before, until ctx is
// done, and then returns ctx's error. The directories that hold them are watched, and not the files: one
// that is replaced by a rename is another file. Directories that do not exist yet are waited for, and not
// made. What else happens in those directories is told too: whoever is called looks for himself.
func (t *Tree) FollowFiles(ctx context.Context, changed func(), paths ...string) error {
	if err := t.followFiles(ctx, changed, paths); err != nil {
		return Failed("follow", strings.Join(paths, " and "), err)
	}
	return nil
}

func (t *Tree) followFiles(ctx context.Context, changed func(), paths []string) error {
	for _, name := range paths {
		if err := CheckPath(name); err != nil {
			return err
		}
	}
	events, err := openEvents(ctx)
	if err != nil {
		return err
	}
	defer events.close()
	for {
		// A directory is watched before anybody looks into it, so whatever happens later is an event.
		for _, name := range paths {
			if err := t.followWay(events.fd, name); err != nil {
				return err
			}
		}
		changed()
		if err := events.wait(ctx); err != nil {
			return err
		}
	}
}

// followWay watches every directory on the way to a path, and what is in the last of them.
func (t *Tree) followWay(fd int, name string) error {
	add := func(dir string, mask uint32) error {
		err := again(func() error {
			_, err := unix.InotifyAddWatch(fd, filepath.Join(t.name, dir), mask|unix.IN_MASK_ADD)
			return err
		})
		if isNothing(err) {
			return nil // it went away meanwhile, which is an event of the directory above
		}
		if err != nil {
			return fmt.Errorf("watch %s: %w", dir, err)
		}
		return nil
	}
	w := walk{tree: t, enter: func(dir string) error { return add(dir, watched) }}
	dir, err := w.resolve(path.Dir(name))
	if isNothing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return add(dir, followed)
}

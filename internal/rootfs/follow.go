package rootfs

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// followed are the events, in addition to watched, after which a file can have another content: it was written in
// place, removed, or moved away.
const followed = watched | unix.IN_CLOSE_WRITE | unix.IN_DELETE | unix.IN_MOVED_FROM

// FollowFiles calls changed whenever one of the paths may have another content than before, until ctx is done, and then
// returns ctx's error. It watches their directories and not the files, because a file that a rename replaces is another
// file. It waits for directories that do not exist yet, without creating them. Other events in those directories also
// lead to a call: changed checks the files itself.
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
		// A directory is watched before the first look into it, so any later change is an event.
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

// followWay watches every directory on a path, and the content of the last of them.
func (t *Tree) followWay(fd int, name string) error {
	add := func(dir string, mask uint32) error {
		err := again(func() error {
			_, err := unix.InotifyAddWatch(fd, filepath.Join(t.name, dir), mask|unix.IN_MASK_ADD)
			return err
		})
		if isNothing(err) {
			return nil // it was removed meanwhile, which is an event of the directory above
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

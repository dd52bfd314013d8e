package rootfs

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/apply"
)

// watched are the events after which a missing path may exist: a name appeared, or a directory on the path was
// replaced.
const watched = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR

// appeared are the events after which a directory can have a new name.
const appeared = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_ONLYDIR

// WatchDirectory calls look, and calls it again whenever a name has appeared in a directory, until look returns true.
// If ctx is done before, it returns ctx's error. The directory must exist, and no link on the path may be absolute. The
// watch begins before the first look, so no new name is missed.
func (t *Tree) WatchDirectory(ctx context.Context, dir string, look func() bool) error {
	events, err := openEvents(ctx)
	if err != nil {
		return Failed("watch", dir, err)
	}
	defer events.close()
	err = again(func() error {
		_, err := unix.InotifyAddWatch(events.fd, filepath.Join(t.name, dir), appeared)
		return err
	})
	for err == nil {
		if look() {
			return nil
		}
		err = events.wait(ctx)
	}
	return Failed("watch", dir, err)
}

// WaitForFiles waits until one of the paths exists, and returns the first one, in their order. A symbolic link counts,
// with any target. It waits for directories that do not exist yet, without creating them. It uses the kernel's
// notifications and looks only once for each change, so it costs nothing while nothing happens. When ctx is done, it
// returns ctx's error.
func (t *Tree) WaitForFiles(ctx context.Context, paths ...string) (string, error) {
	found, err := t.waitForFiles(ctx, paths)
	if err != nil {
		return "", Failed("wait for", strings.Join(paths, " or "), err)
	}
	return found, nil
}

func (t *Tree) waitForFiles(ctx context.Context, paths []string) (string, error) {
	for _, name := range paths {
		if err := CheckPath(name); err != nil {
			return "", err
		}
	}
	events, err := openEvents(ctx)
	if err != nil {
		return "", err
	}
	defer events.close()
	for {
		// A directory is watched before the first look into it, so anything that appears later is an event.
		for _, name := range paths {
			if err := t.watchWay(events.fd, name); err != nil {
				return "", err
			}
			entry, err := t.Stat(name)
			if err == nil && entry.Kind != apply.Absent {
				return name, nil
			}
			if err != nil {
				return "", err
			}
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if err := events.wait(ctx); err != nil {
			return "", err
		}
	}
}

// watchWay watches every existing directory on a path. The ones above the last matter too: they may hold a link that
// changes its target.
func (t *Tree) watchWay(fd int, name string) error {
	w := walk{tree: t, enter: func(dir string) error {
		err := again(func() error {
			_, err := unix.InotifyAddWatch(fd, filepath.Join(t.name, dir), watched)
			return err
		})
		if err != nil {
			return fmt.Errorf("watch: %w", err)
		}
		return nil
	}}
	_, err := w.resolve(path.Dir(name))
	if isNothing(err) {
		return nil
	}
	return err
}

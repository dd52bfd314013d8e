package host

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/resource"
)

// mountMode is the mode of a directory that is made to be mounted, or mounted at.
const mountMode = 0o755

// Mounted reports whether the directory that is at one path is the same as the one at the other.
func (m *Machine) Mounted(mount *resource.Mount) (bool, error) {
	var ends [2]unix.Stat_t
	for i, path := range []string{mount.What, mount.Where} {
		err := unix.Lstat(m.Root()+path, &ends[i])
		if errors.Is(err, unix.ENOENT) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("look at %s: %w", path, err)
		}
	}
	return ends[0].Dev == ends[1].Dev && ends[0].Ino == ends[1].Ino, nil
}

// Mount mounts a directory at another one (mount(2), MS_BIND), over what may be mounted there. Both are made where they are
// missing.
func (m *Machine) Mount(_ context.Context, mount *resource.Mount) error {
	if err := mount.Valid(); err != nil {
		return err
	}
	for _, path := range []string{mount.What, mount.Where} {
		entry, err := m.Stat(path)
		if err == nil && entry.Kind == apply.Absent {
			err = m.MakeDirectory(&resource.Directory{Path: path, Mode: mountMode})
		}
		if err == nil && entry.Kind != apply.Absent && entry.Kind != apply.Directory {
			err = fmt.Errorf("is a %s, not a directory: remove it", entry.Kind)
		}
		if err != nil {
			return fmt.Errorf("mount %s at %s: %s: %w", mount.What, mount.Where, path, err)
		}
	}
	err := failpoint.Pass(failpoint.Change{Kind: failpoint.Mount, Name: mount.Where, To: mount.What}, func() error {
		return unix.Mount(m.Root()+mount.What, m.Root()+mount.Where, "", unix.MS_BIND, "")
	})
	if err != nil {
		return fmt.Errorf("mount %s at %s: %w", mount.What, mount.Where, err)
	}
	return nil
}

// Unmount takes a mount away. Who has files of it open keeps them (umount2(2), MNT_DETACH).
func (m *Machine) Unmount(_ context.Context, mount *resource.Mount) error {
	err := failpoint.Pass(failpoint.Change{Kind: failpoint.Unmount, Name: mount.Where}, func() error {
		return unix.Unmount(m.Root()+mount.Where, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
	})
	if err != nil {
		return fmt.Errorf("unmount %s: %w", mount.Where, err)
	}
	return nil
}

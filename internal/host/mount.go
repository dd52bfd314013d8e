package host

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/poll"
	"github.com/slipway-dev/slipway/internal/resource"
)

const (
	// mountService is the one that systemd mounts by. What the agent mounted itself would be seen by nobody else: its
	// unit has a mount namespace of its own, and no mount(2) (systemd.exec(5), PrivateMounts=).
	mountService = "slipway-mount.service"
	// diskPatience is how long a disk is waited for that somebody else mounts, which is as long as systemd waits for a
	// device (systemd-system.conf(5), DefaultDeviceTimeoutSec=), and diskInterval how often it is looked for.
	diskPatience = 90 * time.Second
	diskInterval = 250 * time.Millisecond
)

// Mounted reports whether the directory that is at one path is the same as the one at the other, and on the disk that it
// is to be on.
func (m *Machine) Mounted(mount *resource.Mount) (bool, error) {
	same, err := m.sameDirectory(mount.What, mount.Where)
	if !same || err != nil || mount.Disk == "" {
		return same, err
	}
	return m.mountPoint(mount.Disk)
}

// sameDirectory reports whether two paths lead to one directory.
func (m *Machine) sameDirectory(one, other string) (bool, error) {
	a, err := m.look(one)
	if a == nil || err != nil {
		return false, err
	}
	b, err := m.look(other)
	return b != nil && a.Dev == b.Dev && a.Ino == b.Ino, err
}

// mountPoint reports whether a file system is mounted at a directory.
func (m *Machine) mountPoint(dir string) (bool, error) {
	at, err := m.look(dir)
	if at == nil || err != nil {
		return false, err
	}
	above, err := m.look(path.Dir(dir))
	return above != nil && at.Dev != above.Dev, err
}

// look is lstat(2); nil for what is not there.
func (m *Machine) look(name string) (*unix.Stat_t, error) {
	var stat unix.Stat_t
	err := unix.Lstat(m.Root()+name, &stat)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", name, err)
	}
	return &stat, nil
}

// Mount mounts a directory at another one (mount(8), --bind), over what may be mounted there. Both are made where they are
// missing, and the disk that the first is to be on is waited for.
func (m *Machine) Mount(ctx context.Context, mount *resource.Mount) error {
	err := mount.Valid()
	if err == nil {
		err = m.mount(ctx, mount)
	}
	if err != nil {
		return fmt.Errorf("mount %s at %s: %w", mount.What, mount.Where, err)
	}
	return nil
}

func (m *Machine) mount(ctx context.Context, mount *resource.Mount) error {
	if mount.Disk != "" {
		if err := m.awaitDisk(ctx, mount.Disk); err != nil {
			return err
		}
		if err := m.holdsData(mount.Disk); err != nil {
			return err
		}
	}
	for _, name := range []string{mount.What, mount.Where} {
		entry, err := m.Stat(name)
		if err == nil && entry.Kind != apply.Absent && entry.Kind != apply.Directory {
			err = fmt.Errorf("is a %s, not a directory: remove it", entry.Kind)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if mounted, err := m.Mounted(mount); mounted || err != nil {
		return err // systemd has mounted it while the disk was waited for
	}
	what, where := path.Join(m.Root(), mount.What), path.Join(m.Root(), mount.Where)
	err := m.Manager.Run(ctx, failpoint.Change{Kind: failpoint.Mount, Name: mount.Where, To: mount.What}, mountService,
		[]string{"/bin/mkdir", "-p", what, where}, []string{"/bin/mount", "--bind", what, where})
	if err != nil {
		return err
	}
	if mounted, err := m.Mounted(mount); !mounted || err != nil {
		return errors.Join(errors.New("it is mounted, and not seen here"), err)
	}
	return nil
}

// awaitDisk returns when a disk is mounted at a directory.
func (m *Machine) awaitDisk(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, diskPatience)
	defer cancel()
	err := poll.Until(ctx, diskInterval, diskInterval, func() (bool, error) { return m.mountPoint(dir) })
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("no disk is mounted at %s; use a machine that has a temporary disk, or look why it is not mounted: %w", dir, err)
	}
	return err
}

// foreign are file systems without owners, modes or links, which a kubelet's data and a swap file need, by the kernel's numbers (Linux:
// include/uapi/linux/magic.h; fs/ntfs3). Clouds hand out temporary disks with NTFS, for whoever comes first to make another
// one.
var foreign = map[uint32]string{
	unix.MSDOS_SUPER_MAGIC: "vfat",
	unix.EXFAT_SUPER_MAGIC: "exfat",
	unix.FUSE_SUPER_MAGIC:  "FUSE, such as ntfs-3g",
	0x5346544e:             "ntfs",
	0x7366746e:             "ntfs3",
}

// holdsData reports why the disk that is mounted at a directory cannot hold a kubelet's data or a swap file.
func (m *Machine) holdsData(dir string) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(m.Root()+dir, &fs); err != nil {
		return fmt.Errorf("look at the file system of %s: %w", dir, err)
	}
	return fitForData(dir, uint32(fs.Type), fs.Flags&unix.ST_RDONLY != 0)
}

func fitForData(dir string, kind uint32, readOnly bool) error {
	switch name := foreign[kind]; {
	case name != "":
		return fmt.Errorf("the disk at %s has the file system %s, which cannot hold what is to be on it: make ext4 or xfs on it, as cloud-init does", dir, name)
	case readOnly:
		return fmt.Errorf("the disk at %s is mounted read-only: look for errors of the disk with journalctl -k, and mount it to be written", dir)
	}
	return nil
}

// Unmount takes a mount away. Who has files of it open keeps them (umount(8), --lazy).
func (m *Machine) Unmount(ctx context.Context, mount *resource.Mount) error {
	err := m.Manager.Run(ctx, failpoint.Change{Kind: failpoint.Unmount, Name: mount.Where}, mountService,
		[]string{"/bin/umount", "--lazy", "--no-canonicalize", path.Join(m.Root(), mount.Where)})
	if err != nil {
		return fmt.Errorf("unmount %s: %w", mount.Where, err)
	}
	return nil
}

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
	// mountService is the unit in which systemd mounts. No other process would see a mount of the agent's: its unit has
	// a private mount namespace and may not call mount(2) (systemd.exec(5), PrivateMounts=).
	mountService = "slipway-mount.service"
	// diskPatience is how long to wait for a disk that another program mounts: as long as systemd waits for a device
	// (systemd-system.conf(5), DefaultDeviceTimeoutSec=). diskInterval is how often to look for it.
	diskPatience = 90 * time.Second
	diskInterval = 250 * time.Millisecond
)

// Mounted reports whether both paths are the same directory, on the required disk.
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

// look is lstat(2). It returns nil if the path is missing.
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

// Mount mounts a directory at another one (mount(8), --bind), over what may be mounted there. It creates missing
// directories, and waits for the disk that the first must be on.
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
		return err // systemd has mounted it during the wait for the disk
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

// awaitDisk waits until a disk is mounted at a directory.
func (m *Machine) awaitDisk(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, diskPatience)
	defer cancel()
	err := poll.Until(ctx, diskInterval, diskInterval, func() (bool, error) { return m.mountPoint(dir) })
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("no disk is mounted at %s; use a machine that has a temporary disk, or look why it is not mounted: %w", dir, err)
	}
	return err
}

// foreign are file systems without owners, modes or links, which a kubelet's data and a swap file need, by the kernel's
// numbers (Linux: include/uapi/linux/magic.h; fs/ntfs3). Clouds deliver temporary disks with NTFS, which the image must
// format again.
var foreign = map[uint32]string{
	unix.MSDOS_SUPER_MAGIC: "vfat",
	unix.EXFAT_SUPER_MAGIC: "exfat",
	unix.FUSE_SUPER_MAGIC:  "FUSE, such as ntfs-3g",
	0x5346544e:             "ntfs",
	0x7366746e:             "ntfs3",
}

// holdsData returns why the disk that is mounted at a directory cannot hold a kubelet's data or a swap file.
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

// Unmount unmounts a directory. Programs that have files of it open keep them (umount(8), --lazy).
func (m *Machine) Unmount(ctx context.Context, mount *resource.Mount) error {
	err := m.Manager.Run(ctx, failpoint.Change{Kind: failpoint.Unmount, Name: mount.Where}, mountService,
		[]string{"/bin/umount", "--lazy", "--no-canonicalize", path.Join(m.Root(), mount.Where)})
	if err != nil {
		return fmt.Errorf("unmount %s: %w", mount.Where, err)
	}
	return nil
}

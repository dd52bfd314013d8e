package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/rootfs"
)

// Disk is an open disk, to be read only.
type Disk = interface {
	io.ReaderAt
	io.Closer
}

const (
	blockDir  = "/sys/class/block"
	deviceDir = "/dev"
)

// maxDisks bounds how many disks and partitions are returned.
const maxDisks = 128

// optical is what the names of optical drives begin with. Clouds hand settings over on those.
const optical = "sr"

// Disks lists the disks and partitions that can hold settings for this machine, optical drives first, then by
// name, and no more than 128. That is all that have a device file but for those that are made of others or of
// memory, and for the disk with the root file system, which came with the image. Whether there is a medium in a
// drive is found out by OpenDisk. A machine without block devices has none, which is no error.
func (m *Machine) Disks() ([]string, error) {
	names, err := readDirIfAny(m.Tree, blockDir)
	if err != nil {
		return nil, err
	}
	devices, err := readDirIfAny(m.Tree, deviceDir)
	if err != nil {
		return nil, err
	}
	own := rootDisk(m.Tree, names)
	names = slices.DeleteFunc(names, func(name string) bool {
		_, there := slices.BinarySearch(devices, name)
		return !there || !facts.IsDisk(name) || slices.Contains(own, name)
	})
	return inOrder(names), nil
}

// Disks lists the regular files in the directory's /dev, in the same order: images in the place of disks.
func (d *Directory) Disks() ([]string, error) {
	names, err := readDirIfAny(d.Tree, deviceDir)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		entry, err := d.Stat(deviceDir + "/" + name)
		return err != nil || entry.Kind != apply.RegularFile || !facts.IsDisk(name)
	})
	return inOrder(names), nil
}

// inOrder puts sorted names into the order in which disks are listed.
func inOrder(names []string) []string {
	isOptical := func(name string) bool { return strings.HasPrefix(name, optical) }
	others := slices.DeleteFunc(slices.Clone(names), isOptical)
	names = append(slices.DeleteFunc(names, func(name string) bool { return !isOptical(name) }), others...)
	return names[:min(len(names), maxDisks)]
}

func readDirIfAny(t *rootfs.Tree, dir string) ([]string, error) {
	names, err := t.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}

// rootDisk is the disk that has the root file system, with its partitions; nothing where that is on no
// single disk. Where partitions are, their directories are in that of their disk (sysfs(5)).
func rootDisk(t *rootfs.Tree, blocks []string) []string {
	info, err := os.Stat(t.Root())
	if err != nil {
		return nil
	}
	root, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	link, err := t.Stat(fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(root.Dev), unix.Minor(root.Dev)))
	if err != nil || link.Kind != apply.Symlink {
		return nil
	}
	disk := path.Base(link.Target)
	if parent := path.Base(path.Dir(link.Target)); slices.Contains(blocks, parent) {
		disk = parent
	}
	inside, err := t.ReadDir(blockDir + "/" + disk)
	if err != nil {
		return []string{disk}
	}
	return append(inside, disk)
}

// OpenDisk opens a disk for reading, and returns its size in bytes. What is there must be a block device, and is
// not waited for. The error is a fs.ErrNotExist where there is no such disk or no medium in the drive.
func (m *Machine) OpenDisk(name string) (Disk, int64, error) {
	return openDisk(m.Tree, name, unix.S_IFBLK)
}

// OpenDisk opens a regular file in the directory's /dev, as if it were a disk.
func (d *Directory) OpenDisk(name string) (Disk, int64, error) {
	return openDisk(d.Tree, name, unix.S_IFREG)
}

// openDisk opens what must be of a kind.
func openDisk(t *rootfs.Tree, name string, kind uint32) (Disk, int64, error) {
	full := deviceDir + "/" + name
	if strings.Contains(name, "/") {
		return nil, 0, rootfs.Failed("open disk", full, fs.ErrInvalid)
	}
	file, err := t.OpenKind(full, kind)
	if err != nil {
		return nil, 0, rootfs.Failed("open disk", full, noMedium(err))
	}
	size, err := sizeOf(file, kind)
	if err != nil {
		file.Close()
		return nil, 0, rootfs.Failed("open disk", full, err)
	}
	return file, size, nil
}

// sizeOf returns the size of what is open, which is never 0.
func sizeOf(file *os.File, kind uint32) (int64, error) {
	if kind == unix.S_IFBLK && isEmptyDrive(file) {
		return 0, noMedium(unix.ENOMEDIUM)
	}
	size, err := file.Seek(0, io.SeekEnd)
	if err == nil && size == 0 {
		err = noMedium(unix.ENOMEDIUM)
	}
	return size, err
}

// noMedium makes an empty drive the same to callers as none at all.
func noMedium(err error) error {
	if errors.Is(err, unix.ENOMEDIUM) {
		return fmt.Errorf("has no medium: %w", fs.ErrNotExist)
	}
	return err
}

// The state of an optical drive (include/uapi/linux/cdrom.h; Documentation/userspace-api/ioctl/cdrom.rst).
const (
	cdromDriveStatus = 0x5326
	driveNoDisc      = 1
	driveTrayOpen    = 2
)

// isEmptyDrive reports whether it is an optical drive without a disc. Such a drive that is opened without waiting
// has the size that it was given for want of any (drivers/scsi/sr.c, get_sectorsize), and every read of it fails.
// Other disks do not know the question.
func isEmptyDrive(file *os.File) bool {
	state, err := unix.IoctlRetInt(int(file.Fd()), cdromDriveStatus)
	return err == nil && (state == driveNoDisc || state == driveTrayOpen)
}

// WaitForDisk waits until there is a disk or partition that is not among those known, and reports whether there
// is before ctx is done. It is told by the kernel of new device files. A disc that is put into a drive makes
// none, and is not waited for.
func (m *Machine) WaitForDisk(ctx context.Context, known []string) bool {
	return m.WatchDirectory(ctx, deviceDir, func() bool {
		names, err := m.Disks()
		return err == nil && slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(known, name) })
	}) == nil
}

// WaitForDisk waits for nothing: no disk is plugged into a directory.
func (d *Directory) WaitForDisk(context.Context, []string) bool { return false }

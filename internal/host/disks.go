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

// Disk is an open disk, for reading only.
type Disk = interface {
	io.ReaderAt
	io.Closer
}

const (
	blockDir  = "/sys/class/block"
	deviceDir = "/dev"
)

// maxDisks limits the number of returned disks and partitions.
const maxDisks = 128

// optical is the name prefix of optical drives. Clouds provide settings on those.
const optical = "sr"

// Disks lists at most 128 disks and partitions that can hold settings for this machine: optical drives first, then by
// name. It leaves out devices that consist of other devices or of memory, and the disk with the root file system,
// because that belongs to the image. OpenDisk finds out whether a drive has a medium. A machine without block devices
// has an empty list and no error.
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

// Disks lists the regular files in the directory's /dev, in the same order: images that replace disks.
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

// inOrder sorts names into the order of the list of disks.
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

// rootDisk returns the disk that has the root file system, with its partitions. It is empty if the file system is not
// on a single disk. A partition's directory is inside its disk's directory (sysfs(5)).
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

// OpenDisk opens a disk for reading and returns its size in bytes. The name must be a block device, and OpenDisk does
// not wait for it. If the disk is missing or the drive has no medium, the error is fs.ErrNotExist.
func (m *Machine) OpenDisk(name string) (Disk, int64, error) {
	return openDisk(m.Tree, name, unix.S_IFBLK)
}

// OpenDisk opens a regular file in the directory's /dev, as if it were a disk.
func (d *Directory) OpenDisk(name string) (Disk, int64, error) {
	return openDisk(d.Tree, name, unix.S_IFREG)
}

// openDisk opens a file that must be of a certain kind.
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

// sizeOf returns the size of an open file, which is never 0.
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

// noMedium makes callers see an empty drive as a missing disk.
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

// isEmptyDrive reports whether the file is an optical drive without a disc. If such a drive is opened without waiting,
// it reports a default size (drivers/scsi/sr.c, get_sectorsize), and every read fails. Other disks do not support the
// request.
func isEmptyDrive(file *os.File) bool {
	state, err := unix.IoctlRetInt(int(file.Fd()), cdromDriveStatus)
	return err == nil && (state == driveNoDisc || state == driveTrayOpen)
}

// WaitForDisk waits until there is a disk or partition that is not in known, and reports whether that happened before
// ctx is done. The kernel notifies it of new device files. A disc that is inserted into a drive creates no device file,
// so WaitForDisk does not notice it.
func (m *Machine) WaitForDisk(ctx context.Context, known []string) bool {
	return m.WatchDirectory(ctx, deviceDir, func() bool {
		names, err := m.Disks()
		return err == nil && slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(known, name) })
	}) == nil
}

// WaitForDisk does not wait: a directory gets no new disks.
func (d *Directory) WaitForDisk(context.Context, []string) bool { return false }

package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/facts"
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
	names, err := m.readDirIfAny(blockDir)
	if err != nil {
		return nil, err
	}
	devices, err := m.readDirIfAny(deviceDir)
	if err != nil {
		return nil, err
	}
	own := m.rootDisk(names)
	names = slices.DeleteFunc(names, func(name string) bool {
		_, there := slices.BinarySearch(devices, name)
		return !there || !facts.IsDisk(name) || slices.Contains(own, name)
	})
	return inOrder(names), nil
}

// Disks lists the regular files in the directory's /dev, in the same order: images in the place of disks.
func (d *Directory) Disks() ([]string, error) {
	names, err := d.readDirIfAny(deviceDir)
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
	slices.SortStableFunc(names, func(a, b string) int {
		switch first, second := strings.HasPrefix(a, optical), strings.HasPrefix(b, optical); {
		case first == second:
			return 0
		case first:
			return -1
		}
		return 1
	})
	return names[:min(len(names), maxDisks)]
}

func (t *Tree) readDirIfAny(dir string) ([]string, error) {
	names, err := t.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}

// rootDisk is the disk that has the root file system, with its partitions; nothing where that is on no
// single disk. Where partitions are, their directories are in that of their disk (sysfs(5)).
func (t *Tree) rootDisk(blocks []string) []string {
	var root unix.Stat_t
	if err := again(func() error { return unix.Stat(t.name, &root) }); err != nil {
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
	return m.openDisk(name, unix.S_IFBLK)
}

// OpenDisk opens a regular file in the directory's /dev, as if it were a disk.
func (d *Directory) OpenDisk(name string) (Disk, int64, error) {
	return d.openDisk(name, unix.S_IFREG)
}

func (t *Tree) openDisk(name string, kind uint32) (Disk, int64, error) {
	full := deviceDir + "/" + name
	if strings.Contains(name, "/") {
		return nil, 0, failed("open disk", full, fs.ErrInvalid)
	}
	file, size, err := t.openSized(full, kind)
	if err != nil {
		return nil, 0, failed("open disk", full, err)
	}
	return file, size, nil
}

// openSized opens a file that must be of a kind. Opening another kind of device can do something to it, so what
// is there is asked before as well as after.
func (t *Tree) openSized(name string, kind uint32) (*os.File, int64, error) {
	p, err := t.find(name)
	if err != nil {
		return nil, 0, err
	}
	defer p.close()
	stat, err := p.stat()
	if err == nil {
		err = ofKind(stat, kind)
	}
	if err != nil {
		return nil, 0, err
	}
	file, err := p.openFile(unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, 0, noMedium(err)
	}
	size, err := sizeOf(file, kind)
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, size, nil
}

func ofKind(stat *unix.Stat_t, kind uint32) error {
	if stat.Mode&unix.S_IFMT != kind {
		return fmt.Errorf("is %s, not %s: %w", kindName(stat.Mode), kindName(kind), fs.ErrInvalid)
	}
	return nil
}

// sizeOf returns the size of what is open, which is never 0.
func sizeOf(file *os.File, kind uint32) (int64, error) {
	var stat unix.Stat_t
	if err := again(func() error { return unix.Fstat(int(file.Fd()), &stat) }); err != nil {
		return 0, err
	}
	if err := ofKind(&stat, kind); err != nil {
		return 0, err
	}
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

// deviceEvents are those after which there can be a disk that was not there.
const deviceEvents = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_ONLYDIR

// WaitForDisk waits until there is a disk or partition that is not among those known, and reports whether there
// is before ctx is done. It is told by the kernel of new device files. A disc that is put into a drive makes
// none, and is not waited for.
func (m *Machine) WaitForDisk(ctx context.Context, known []string) bool {
	events, err := openEvents(ctx)
	if err != nil {
		return false
	}
	defer events.close()
	// It is watched before it is looked at, so whatever appears later is an event.
	err = again(func() error {
		_, err := unix.InotifyAddWatch(events.fd, filepath.Join(m.name, deviceDir), deviceEvents)
		return err
	})
	for err == nil {
		names, listing := m.Disks()
		if listing == nil && slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(known, name) }) {
			return true
		}
		err = events.wait(ctx)
	}
	return false
}

// WaitForDisk waits for nothing: no disk is plugged into a directory.
func (d *Directory) WaitForDisk(context.Context, []string) bool { return false }

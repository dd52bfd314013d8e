package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/slipway-dev/slipway/test/e2e/parts"
)

// WithMounted calls do with a tree of a disk's files. do's changes are discarded: the disk stays as it is. The disk's journal must
// have been replayed.
func WithMounted(disk string, do func(root string) error) error {
	// The kernel writes to the superblock of a file system that it mounts to be read only, unless the device is.
	return withRoot(disk, func(device string) error { return withMounted(device, filepath.Dir(disk), do) }, "--read-only")
}

// withMounted is WithMounted for a root file system. Its directories are below dir.
func withMounted(device, dir string, do func(root string) error) (err error) {
	dir, err = os.MkdirTemp(dir, "mounted")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	lower, changes, root := filepath.Join(dir, "disk"), filepath.Join(dir, "changes"), filepath.Join(dir, "root")
	for _, path := range []string{lower, changes, root} {
		if err := os.Mkdir(path, 0o755); err != nil {
			return err
		}
	}
	if err := syscall.Mount(device, lower, "ext4", syscall.MS_RDONLY, "noload"); err != nil {
		return fmt.Errorf("mount %s: %w", device, err)
	}
	defer func() { err = errors.Join(err, syscall.Unmount(lower, 0)) }()
	if err := syscall.Mount("tmpfs", changes, "tmpfs", 0, ""); err != nil {
		return fmt.Errorf("mount %s: %w", changes, err)
	}
	defer func() { err = errors.Join(err, syscall.Unmount(changes, 0)) }()
	upper, work := filepath.Join(changes, "upper"), filepath.Join(changes, "work")
	for _, path := range []string{upper, work} {
		if err := os.Mkdir(path, 0o755); err != nil {
			return err
		}
	}
	if err := syscall.Mount("overlay", root, "overlay", 0, "lowerdir="+lower+",upperdir="+upper+",workdir="+work); err != nil {
		return fmt.Errorf("mount %s: %w", root, err)
	}
	defer func() { err = errors.Join(err, syscall.Unmount(root, 0)) }()
	return do(root)
}

// WithDisk calls do with the tree of a disk itself: do's changes stay.
func WithDisk(disk string, do func(root string) error) error {
	return withRoot(disk, func(device string) error { return withDevice(device, filepath.Dir(disk), do) })
}

// withDevice is WithDisk for a root file system. Its directory is below dir.
func withDevice(device, dir string, do func(root string) error) (err error) {
	root, err := os.MkdirTemp(dir, "mounted")
	if err != nil {
		return err
	}
	defer os.Remove(root)
	if err := syscall.Mount(device, root, "ext4", 0, ""); err != nil {
		return fmt.Errorf("mount %s: %w", device, err)
	}
	defer func() { err = errors.Join(err, syscall.Unmount(root, 0)) }()
	return do(root)
}

// withRoot calls do with the block device of a disk's root file system, which losetup makes with options.
func withRoot(disk string, do func(device string) error, options ...string) (err error) {
	root, err := parts.RootOf(context.Background(), disk)
	if err != nil {
		return err
	}
	options = append(options, "--find", "--show", fmt.Sprintf("--offset=%d", root.Start), fmt.Sprintf("--sizelimit=%d", root.Size), disk)
	out, err := exec.Command("losetup", options...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("losetup %s: %w: %s", disk, err, out)
	}
	device := strings.TrimSpace(string(out))
	defer func() {
		if out, detached := exec.Command("losetup", "--detach", device).CombinedOutput(); detached != nil {
			err = errors.Join(err, fmt.Errorf("losetup --detach %s: %w: %s", device, detached, out))
		}
	}()
	return do(device)
}

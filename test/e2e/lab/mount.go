package lab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// WithMounted calls do with a tree of a disk's files. do's changes are discarded: the disk stays as it is. The disk's journal must
// have been replayed.
func WithMounted(disk string, do func(root string) error) (err error) {
	dir, err := os.MkdirTemp(filepath.Dir(disk), "mounted")
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
	if out, err := exec.Command("mount", "-o", "loop,ro,noload", disk, lower).CombinedOutput(); err != nil {
		return fmt.Errorf("mount %s: %w: %s", disk, err, out)
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
func WithDisk(disk string, do func(root string) error) (err error) {
	root, err := os.MkdirTemp(filepath.Dir(disk), "mounted")
	if err != nil {
		return err
	}
	defer os.Remove(root)
	if out, err := exec.Command("mount", "-o", "loop", disk, root).CombinedOutput(); err != nil {
		return fmt.Errorf("mount %s: %w: %s", disk, err, out)
	}
	defer func() { err = errors.Join(err, syscall.Unmount(root, 0)) }()
	return do(root)
}

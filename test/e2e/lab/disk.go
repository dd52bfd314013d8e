package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// CopyDisk copies a disk; empty areas take no space.
func CopyDisk(ctx context.Context, from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "cp", "--reflink=auto", "--sparse=always", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy the disk: %w: %s", err, out)
	}
	return nil
}

// WholeDisk writes the disk of a machine that has ended, with all of the machine's writes.
func (vm *VM) WholeDisk(ctx context.Context, to string) error {
	if out, err := exec.CommandContext(ctx, "qemu-img", "convert", "-O", "raw", vm.overlay(), to).CombinedOutput(); err != nil {
		return fmt.Errorf("write the machine's whole disk: %w: %s", err, out)
	}
	return nil
}

// ReplayJournal brings a disk's files to the state that a machine finds when it mounts the disk: it runs e2fsck as the image's
// initrd does (internal/image/mkosi/init.sh). undo reverts that, so that the machine finds the disk as it was left.
//
// The kernel alone does not mount each disk whose root was growing: it compares the group descriptors with the superblock before
// it replays the journal. e2fsck with -E journal_only, too, and version 1.47.0 then ends with SIGSEGV.
func ReplayJournal(ctx context.Context, disk string) (undo func() error, err error) {
	saved := disk + ".undo"
	if err := os.RemoveAll(saved); err != nil {
		return nil, err
	}
	err = withRoot(disk, func(device string) error {
		out, err := exec.CommandContext(ctx, "e2fsck", "-p", "-z", saved, device).CombinedOutput()
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 1) {
			return fmt.Errorf("check the disk as a machine does: %w: %s", err, out)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return func() error {
		defer os.Remove(saved)
		return withRoot(disk, func(device string) error {
			if out, err := exec.Command("e2undo", saved, device).CombinedOutput(); err != nil {
				return fmt.Errorf("take back the check of the disk: %w: %s", err, out)
			}
			return nil
		})
	}, nil
}

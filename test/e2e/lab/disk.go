package lab

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// ReadDisk runs a debugfs request on a disk that no machine has mounted. The output is empty if the file does not exist.
func ReadDisk(ctx context.Context, disk, request string) (string, error) {
	return debugfs(ctx, "-R", request, disk)
}

func debugfs(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "debugfs", args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("debugfs: %w: %s", err, stderr.String())
	}
	// The first line of its messages is its version.
	for lines := bufio.NewScanner(&stderr); lines.Scan(); {
		if line := lines.Text(); !strings.HasPrefix(line, "debugfs ") && !strings.Contains(line, "File not found") {
			return "", fmt.Errorf("debugfs %s: %s", strings.Join(args, " "), line)
		}
	}
	return stdout.String(), nil
}

// ReplayJournal brings a disk's files to the state that a machine finds when it mounts the disk. undo reverts that, so that the
// machine finds the disk as it was left.
func ReplayJournal(ctx context.Context, disk string) (undo func() error, err error) {
	saved := disk + ".undo"
	if err := os.RemoveAll(saved); err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, "e2fsck", "-fy", "-E", "journal_only", "-z", saved, disk).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 1) {
		return nil, fmt.Errorf("read the disk's journal: %w: %s", err, out)
	}
	return func() error {
		defer os.Remove(saved)
		if out, err := exec.Command("e2undo", saved, disk).CombinedOutput(); err != nil {
			return fmt.Errorf("take back the journal's replay: %w: %s", err, out)
		}
		return nil
	}, nil
}

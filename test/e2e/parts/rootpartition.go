package parts

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
)

// Partition is the place of a partition on a disk, in bytes.
type Partition struct{ Start, Size int64 }

// RootOf returns the partition with the root file system, which is an image's last one.
func RootOf(ctx context.Context, disk string) (p Partition, err error) {
	text, err := output(ctx, "sfdisk", "--json", disk)
	if err != nil {
		return p, err
	}
	var table struct {
		Table struct {
			Sector     int64 `json:"sectorsize"`
			Partitions []struct{ Start, Size int64 }
		} `json:"partitiontable"`
	}
	if err := json.Unmarshal(text, &table); err != nil {
		return p, fmt.Errorf("sfdisk --json %s: %w", disk, err)
	}
	parts := table.Table.Partitions
	if len(parts) == 0 {
		return p, fmt.Errorf("%s has no partition", disk)
	}
	last := parts[len(parts)-1]
	return Partition{last.Start * table.Table.Sector, last.Size * table.Table.Sector}, nil
}

// ReadDisk runs a debugfs request on the root file system of a disk that no machine has mounted. The output is empty if the file does not
// exist.
func ReadDisk(ctx context.Context, disk, request string) (string, error) {
	out, messages, err := debugfs(ctx, disk, "-R", request)
	for _, m := range messages {
		if !strings.Contains(m, "File not found") {
			return "", fmt.Errorf("debugfs -R %s %s: %s", request, disk, m)
		}
	}
	return out, err
}

// debugfs runs debugfs on the root file system of a disk, and returns what it prints and its messages: it succeeds also if a request fails.
func debugfs(ctx context.Context, disk string, args ...string) (out string, messages []string, err error) {
	root, err := RootOf(ctx, disk)
	if err != nil {
		return "", nil, err
	}
	// The place of a file system in a file is an option of libext2fs (ext2fs_open2).
	cmd := exec.CommandContext(ctx, "debugfs", append(args, fmt.Sprintf("%s?offset=%d", disk, root.Start))...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", nil, fmt.Errorf("debugfs: %w: %s", err, stderr.String())
	}
	for line := range strings.Lines(stderr.String()) {
		if !strings.HasPrefix(line, "debugfs ") { // its version
			messages = append(messages, strings.TrimSpace(line))
		}
	}
	return stdout.String(), messages, nil
}

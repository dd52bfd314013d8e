package lab

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// seed is a small disk with a machine's settings.
type seed struct {
	label string
	// format are genisoimage's flags for the disk's file systems.
	format string
	// files are its files, by path.
	files map[string][]byte
}

// seedDisk makes a seed's disk in a directory.
func seedDisk(ctx context.Context, dir string, s seed) (path string, err error) {
	tree := filepath.Join(dir, "seed")
	if err := os.RemoveAll(tree); err != nil {
		return "", err
	}
	defer os.RemoveAll(tree)
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		file := filepath.Join(tree, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(file, s.files[name], 0o600); err != nil {
			return "", err
		}
	}
	path = filepath.Join(dir, "seed.iso")
	args := append([]string{"-quiet", "-V", s.label, "-o", path}, strings.Fields(s.format)...)
	if out, err := exec.CommandContext(ctx, "genisoimage", append(args, tree)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("make the disk %s: %w: %s", s.label, err, out)
	}
	return path, nil
}

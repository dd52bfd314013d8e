package parts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// InstallTools installs the test's packages that are missing, and QEMU also if it is too old.
func (s *Store) InstallTools(ctx context.Context) error {
	var missing []string
	for _, program := range slices.Sorted(maps.Keys(tools)) {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, tools[program])
		}
	}
	if len(missing) > 0 {
		if err := s.install(ctx, missing...); err != nil {
			return err
		}
	}
	version, err := qemuVersion(ctx)
	if err != nil && !errors.Is(err, exec.ErrNotFound) {
		return err
	}
	if _, err := exec.LookPath("qemu-img"); err == nil && slices.Compare(qemuNumbers(version), oldestQEMU) >= 0 {
		return nil
	}
	return s.installBackports(ctx, qemu...)
}

// qemuVersion is what QEMU says of its version.
func qemuVersion(ctx context.Context) (string, error) {
	version, err := exec.CommandContext(ctx, "qemu-system-x86_64", "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask QEMU for its version: %w", err)
	}
	return string(version), nil
}

// qemuNumbers are the first two numbers of QEMU's version.
func qemuNumbers(version string) []int {
	numbers := make([]int, 2)
	if n, _ := fmt.Sscanf(version, "QEMU emulator version %d.%d", &numbers[0], &numbers[1]); n < len(numbers) {
		return nil
	}
	return numbers
}

// installBackports installs packages of Debian's backports, which apt need not know.
func (s *Store) installBackports(ctx context.Context, packages ...string) error {
	sources, err := os.ReadFile("/etc/apt/sources.list")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return err
	}
	release, list := Suite+"-backports", filepath.Join(s.Dir, "backports.list")
	if err := os.WriteFile(list, fmt.Appendf(sources, "\ndeb %s %s main\n", mirror, release), 0o644); err != nil {
		return err
	}
	return s.apt(ctx, []string{"-o", "Dir::Etc::SourceList=" + list}, append([]string{"-t", release}, packages...))
}

// install installs packages.
func (s *Store) install(ctx context.Context, packages ...string) error {
	return s.apt(ctx, nil, packages)
}

// apt installs packages, with options of apt-get.
func (s *Store) apt(ctx context.Context, options, packages []string) error {
	s.Log.Info("installing packages", "packages", packages)
	for _, argv := range [][]string{{"update"}, append([]string{"install", "-y", "--no-install-recommends"}, packages...)} {
		if err := run(ctx, "", []string{"DEBIAN_FRONTEND=noninteractive"}, append(append([]string{"apt-get"}, options...), argv...)...); err != nil {
			return fmt.Errorf("install packages: %w", err)
		}
	}
	return nil
}

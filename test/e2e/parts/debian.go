package parts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Kernel returns a directory with Debian's kernel for clouds: vmlinuz and modules/.
func (s *Store) Kernel(ctx context.Context) (string, error) {
	return s.part(ctx, recipe{
		name:   "kernel",
		inputs: []string{"1", Suite, KernelPackage},
		make: func(ctx context.Context, dir string) error {
			out, err := exec.CommandContext(ctx, "apt-cache", "depends", KernelPackage).Output()
			if err != nil {
				return fmt.Errorf("find the kernel that %s stands for: %w", KernelPackage, err)
			}
			_, rest, found := strings.Cut(string(out), "Depends: ")
			fields := strings.Fields(rest)
			if !found || len(fields) == 0 {
				return fmt.Errorf("%s depends on no kernel: run apt-get update", KernelPackage)
			}
			unpacked := filepath.Join(dir, "unpacked")
			if err := unpackPackage(ctx, fields[0], dir, unpacked); err != nil {
				return err
			}
			return arrangeKernel(dir, unpacked)
		},
	})
}

// arrangeKernel copies the needed files from the unpacked package.
func arrangeKernel(dir, unpacked string) error {
	kernels, err := filepath.Glob(filepath.Join(unpacked, "boot", "vmlinuz-*"))
	if err != nil || len(kernels) != 1 {
		return fmt.Errorf("the kernel package holds %d kernels, want one", len(kernels))
	}
	release := strings.TrimPrefix(filepath.Base(kernels[0]), "vmlinuz-")
	for from, to := range map[string]string{
		kernels[0]: "vmlinuz",
		filepath.Join(unpacked, "lib", "modules", release): "modules",
	} {
		if err := os.Rename(from, filepath.Join(dir, to)); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "release"), []byte(release), 0o644); err != nil {
		return err
	}
	return os.RemoveAll(unpacked)
}

// unpackPackage downloads a Debian package and unpacks it below a directory.
func unpackPackage(ctx context.Context, name, scratch, into string) error {
	// apt drops its privileges for a download, and then cannot write to root's directory.
	if err := run(ctx, scratch, nil, "apt-get", "-o", "APT::Sandbox::User=root", "download", name); err != nil {
		return err
	}
	debs, err := filepath.Glob(filepath.Join(scratch, name+"_*.deb"))
	if err != nil || len(debs) != 1 {
		return errors.New("apt-get downloaded no package " + name)
	}
	if err := run(ctx, scratch, nil, "dpkg-deb", "-x", debs[0], into); err != nil {
		return err
	}
	return os.Remove(debs[0])
}

// rootFS returns a directory with the nodes' root file system, rootfs.tar.
func (s *Store) RootFS(ctx context.Context) (string, error) {
	argv := []string{
		"mmdebstrap", "--variant=minbase", "--format=tar", "--include=" + strings.Join(nodePackages, ","),
		"--aptopt=Acquire::Languages \"none\"", "--dpkgopt=force-unsafe-io",
		"--dpkgopt=path-exclude=/usr/share/man/*", "--dpkgopt=path-exclude=/usr/share/locale/*",
		"--dpkgopt=path-exclude=/usr/share/doc/*", Suite,
	}
	return s.part(ctx, recipe{
		name:   "rootfs",
		inputs: append([]string{"1"}, argv...),
		make: func(ctx context.Context, dir string) error {
			return run(ctx, dir, nil, append(argv, "rootfs.tar")...)
		},
	})
}

// DebianContainerd returns a directory with Debian's own containerd, 1.6, and its shim.
func (s *Store) DebianContainerd(ctx context.Context) (string, error) {
	return s.part(ctx, recipe{
		name:   "containerd-debian",
		inputs: []string{"1", Suite},
		make: func(ctx context.Context, dir string) error {
			unpacked := filepath.Join(dir, "unpacked")
			if err := unpackPackage(ctx, "containerd", dir, unpacked); err != nil {
				return err
			}
			for _, name := range containerdBinaries {
				if err := os.Rename(filepath.Join(unpacked, "usr", "bin", name), filepath.Join(dir, name)); err != nil {
					return err
				}
			}
			return os.RemoveAll(unpacked)
		},
	})
}

// containerdBinaries are the programs of containerd that a node needs.
var containerdBinaries = []string{"containerd", "containerd-shim-runc-v2", "ctr"}

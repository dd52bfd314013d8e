package parts

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// unpackPackage downloads a Debian package and unpacks it below a directory.
func unpackPackage(ctx context.Context, name, scratch, into string) error {
	deb, err := download(ctx, name, scratch)
	if err != nil {
		return err
	}
	if err := run(ctx, scratch, nil, "dpkg-deb", "-x", deb, into); err != nil {
		return err
	}
	return os.Remove(deb)
}

// download downloads a Debian package into a directory, and returns its path.
func download(ctx context.Context, name, dir string) (string, error) {
	// apt drops its privileges for a download, and then cannot write to root's directory.
	if err := run(ctx, dir, nil, "apt-get", "-o", "APT::Sandbox::User=root", "download", name); err != nil {
		return "", err
	}
	debs, err := filepath.Glob(filepath.Join(dir, name+"_*.deb"))
	if err != nil || len(debs) != 1 {
		return "", errors.New("apt-get downloaded no package " + name)
	}
	return debs[0], nil
}

// The Debian packages of node images.
const (
	containerdPackage = "containerd"
	runcPackage       = "runc"
)

// debs returns a directory with these packages of the machine's own release: Debian's containerd is 1.6 there.
func (s *Store) debs(ctx context.Context) (string, error) {
	return s.part(ctx, recipe{
		name:   "debs",
		inputs: []string{"1", Suite},
		make: func(ctx context.Context, dir string) error {
			for _, name := range []string{containerdPackage, runcPackage} {
				deb, err := download(ctx, name, dir)
				if err != nil {
					return err
				}
				if err := os.Rename(deb, filepath.Join(dir, name+".deb")); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

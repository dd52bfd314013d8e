package parts

import (
	"context"
	"os"
	"path/filepath"
)

// Packages is an archive with the agent's Debian packages of two releases, as "make release" makes them: agent-1.deb and agent-2.deb.
const Packages = "packages"

// packages returns a directory with that archive. It is not cached here, because it has the repository's code, and Go's own cache is enough.
func (s *Store) packages(ctx context.Context) (string, error) {
	dir := filepath.Join(s.Dir, "bin")
	maker := filepath.Join(dir, "release")
	if err := run(ctx, filepath.Join(s.Repo, "release"), []string{"GOFLAGS=-buildvcs=false"}, "go", "build", "-trimpath", "-o", maker, "./cmd/release"); err != nil {
		return "", err
	}
	scratch, err := os.MkdirTemp(s.Dir, "packages-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	for name, version := range map[string]string{"agent-1.deb": "v0.1.0", "agent-2.deb": "v0.1.1-test"} {
		out := filepath.Join(scratch, version)
		if err := run(ctx, s.Repo, nil, maker, "make", "--version", version, "--modified", "--program", "slipway-node", "--platform", "linux/amd64", "--out", out); err != nil {
			return "", err
		}
		made, err := filepath.Glob(filepath.Join(out, "*.deb"))
		if err != nil || len(made) != 1 {
			return "", &os.PathError{Op: "find the package in", Path: out, Err: os.ErrNotExist}
		}
		if err := os.Rename(made[0], filepath.Join(scratch, name)); err != nil {
			return "", err
		}
	}
	return dir, run(ctx, scratch, nil, "tar", "-cf", filepath.Join(dir, Packages), "agent-1.deb", "agent-2.deb")
}

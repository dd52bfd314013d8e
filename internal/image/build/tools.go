package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Tools is a tree with mkosi and the programs that it runs. The host's own programs may be older.
type Tools struct {
	// Dir is the tree.
	Dir string
}

// toolsSuite is the release that the tools come from: mkosi 25, systemd 257, e2fsprogs 1.47.2. Older ones do not make the same bytes
// twice (docs/image.md, "The same image again").
const toolsSuite = "trixie"

// toolPackages are mkosi, and what it runs to make an image of Debian.
var toolPackages = []string{
	"apt", "ca-certificates", "cpio", "debian-archive-keyring", "dosfstools", "e2fsprogs", "kmod", "mkosi", "mtools", "qemu-utils",
	"systemd-boot", "systemd-repart", "systemd-ukify", "tar", "uidmap", "zstd",
}

// OpenTools opens the tools in a directory, and makes the tree if it is missing. With an empty directory it is one of the user's cache. The
// packages come from the mirror, or from the snapshot if there is no mirror.
func OpenTools(ctx context.Context, dir, cache, snapshot, mirror string, log io.Writer) (*Tools, error) {
	if dir == "" {
		sum := sha256.Sum256([]byte(strings.Join(append(toolPackages, toolsSuite, snapshot, mirror, seeded), "\n")))
		dir = filepath.Join(cache, "tools-"+hex.EncodeToString(sum[:8]))
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	t := &Tools{dir}
	if _, err := os.Stat(t.library()); err == nil {
		return t, nil
	} else if _, err := os.Stat(dir); err == nil {
		return nil, fmt.Errorf("%s is there, and has no mkosi: remove it, or name a tree with mkosi", dir)
	}
	return t, t.make(ctx, snapshot, mirror, log)
}

// library is the directory of mkosi's Python modules.
func (t *Tools) library() string { return filepath.Join(t.Dir, "usr/lib/python3/dist-packages/mkosi") }

// make makes the tree with mmdebstrap, under another name until it is complete.
func (t *Tools) make(ctx context.Context, snapshot, mirror string, log io.Writer) error {
	source := mirror
	if source == "" {
		source = "deb [check-valid-until=no] https://snapshot.debian.org/archive/debian/" + snapshot + " " + toolsSuite + " main"
	}
	if err := os.MkdirAll(filepath.Dir(t.Dir), 0o755); err != nil {
		return err
	}
	part := t.Dir + ".part"
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	argv := []string{"mmdebstrap", "--variant=apt", "--include=" + strings.Join(toolPackages, ","), "--aptopt=Acquire::Languages \"none\"",
		"--dpkgopt=path-exclude=/usr/share/man/*", "--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-exclude=/usr/share/locale/*",
		toolsSuite, part + ".tar", source}
	if err := os.Mkdir(part, 0o755); err != nil {
		return err
	}
	// In an archive, because without root mmdebstrap is another user, who may not write below the home directory. The tools run as the
	// user who builds, so their owners do not count.
	for _, argv := range [][]string{argv, {"tar", "-C", part, "--no-same-owner", "--exclude=./dev/*", "-xf", part + ".tar"}} {
		if err := run(ctx, log, "", nil, argv...); err != nil {
			return fmt.Errorf("the tree of tools: %w", err)
		}
	}
	if err := os.Remove(part + ".tar"); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(part, mkfs)); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(part, mkfs), []byte(seeded), 0o755); err != nil {
		return err
	}
	return os.Rename(part, t.Dir)
}

// mkfs makes a file system of ext4. systemd-repart gives it the file system's identifier and not the seed of its directories' hashes, which
// is random then; systemd does so since its commit of 2026-01-12. The program in the tree takes the identifier for the seed.
const (
	mkfs   = "usr/sbin/mkfs.ext4"
	seeded = `#!/bin/sh
id= last=
for argument do
    [ "$last" != -U ] || id=$argument
    last=$argument
done
last=
for argument do
    shift
    [ "$last" != -E ] || argument=$argument${id:+,hash_seed=$id}
    set -- "$@" "$argument"
    last=$argument
done
exec mke2fs -t ext4 "$@"
`
)

// mkosi runs mkosi in a directory. Its modules come from the tree, the host's Python runs them, and they run the programs of the tree. It
// keeps the packages of a release and an architecture beside the tree. more are further arguments.
func (t *Tools) mkosi(ctx context.Context, log io.Writer, dir, release, architecture string, more ...string) error {
	environment := []string{"PYTHONPATH=" + filepath.Dir(t.library()), "PYTHONDONTWRITEBYTECODE=1"}
	packages := strings.Join([]string{t.Dir, release, architecture}, "-")
	if err := os.MkdirAll(packages, 0o755); err != nil {
		return err
	}
	argv := []string{"python3", "-m", "mkosi", "--directory", dir, "--tools-tree", t.Dir, "--package-cache-dir", packages, "--force"}
	argv = append(append(argv, more...), "build")
	if os.Geteuid() != 0 {
		// Without root, mkosi gives all files of an image to root, also those of other users and groups. With the identifiers that
		// subuid(5) gives the user, it is root.
		if _, err := lookup("newuidmap"); err != nil {
			return err
		}
		argv = append([]string{"unshare", "--map-root-user", "--map-auto"}, argv...)
	}
	return run(ctx, log, dir, environment, argv...)
}

// packages are those that have a program on Debian and Ubuntu.
var packages = map[string]string{"mmdebstrap": "mmdebstrap", "python3": "python3", "newuidmap": "uidmap", "unshare": "util-linux", "tar": "tar"}

// lookup finds a program.
func lookup(name string) (string, error) {
	path, err := exec.LookPath(name)
	switch {
	case errors.Is(err, exec.ErrNotFound) && runtime.GOOS != "linux":
		return "", fmt.Errorf("%s is missing: images are built on Linux", name)
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%s is missing: install it first (apt-get install %s)", name, packages[name])
	}
	return path, err
}

// run runs a program with a fixed environment. Its output goes to the log; the error has its last lines.
func run(ctx context.Context, log io.Writer, dir string, environment []string, argv ...string) error {
	path, err := lookup(argv[0])
	if err != nil {
		return err
	}
	var tail lastLines
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Dir = dir
	// Only what has to come from the user does: a locale or a time zone would be another input of the image.
	cmd.Env = append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "TZ=UTC"}, environment...)
	for _, name := range []string{"HOME", "TMPDIR", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"} {
		if value, set := os.LookupEnv(name); set {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Stdout = io.MultiWriter(log, &tail)
	cmd.Stderr = cmd.Stdout
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(argv[0]), err, tail.text())
	}
	return nil
}

// lastLines keeps the end of a program's output.
type lastLines struct{ data []byte }

// tailBytes limits it.
const tailBytes = 600

func (l *lastLines) Write(p []byte) (int, error) {
	l.data = append(l.data, p...)
	if over := len(l.data) - tailBytes; over > 0 {
		l.data = append(l.data[:0], l.data[over:]...)
	}
	return len(p), nil
}

func (l *lastLines) text() string { return strings.TrimSpace(string(l.data)) }

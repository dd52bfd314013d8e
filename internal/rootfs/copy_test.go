package rootfs

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/resource"
)

// copyTo stages and commits a copy.
func copyTo(t *testing.T, tree *Tree, source, path string) {
	t.Helper()
	must(t, tree.StageCopy(&resource.Copy{Path: path, Source: source}))
	if _, err := os.Lstat(filepath.Join(tree.name, path)); err == nil {
		t.Errorf("%s is there before it is committed", path)
	}
	must(t, tree.Commit(path))
	must(t, tree.Sync())
}

func same(t *testing.T, tree *Tree, a, b string, want bool) {
	t.Helper()
	if got, err := tree.SameFile(a, b); got != want || err != nil {
		t.Errorf("%s and %s are the same: %v, %v", a, b, got, err)
	}
}

// A copy is one file with two names, executable for all, whatever it was before.
func TestCopy(t *testing.T) {
	tree, at := newTree(t)
	must(t, os.MkdirAll(at("/downloads"), 0o755))
	must(t, os.WriteFile(at("/downloads/plugin"), []byte("program"), 0o600))
	must(t, os.WriteFile(at("/downloads/other"), []byte("program"), 0o755))
	must(t, os.Symlink("plugin", at("/downloads/link")))
	copyTo(t, tree, "/downloads/plugin", "/bin/plugin")
	same(t, tree, "/bin/plugin", "/downloads/plugin", true)
	same(t, tree, "/bin/plugin", "/downloads/other", false) // equal content is not sufficient
	same(t, tree, "/bin/plugin", "/downloads/none", false)
	same(t, tree, "/bin", "/downloads/plugin", false)
	same(t, tree, "/downloads/link", "/downloads/plugin", false)
	info, err := os.Stat(at("/bin/plugin"))
	must(t, err)
	if info.Mode() != 0o755 {
		t.Errorf("mode is %v", info.Mode())
	}
	if stat, err := os.Lstat(at("/bin/.plugin.slipway-tmp")); err == nil {
		t.Errorf("%s is left", stat.Name())
	}
	for _, source := range []string{"/downloads/none", "/downloads/link", "/downloads"} {
		if err := tree.StageCopy(&resource.Copy{Path: "/bin/x", Source: source}); err == nil {
			t.Errorf("%s was copied", source)
		}
	}
	must(t, os.MkdirAll(at("/bin/directory"), 0o755))
	wantError(t, tree.StageCopy(&resource.Copy{Path: "/bin/directory", Source: "/downloads/plugin"}), "directory is in the way")
	// Over an existing one, with a file that an interrupted run has left.
	must(t, os.WriteFile(at("/bin/.other.slipway-tmp"), []byte("left"), 0o600))
	must(t, tree.StageCopy(&resource.Copy{Path: "/bin/other", Source: "/downloads/other"}))
	must(t, tree.Unstage("/bin/other"))
	must(t, tree.StageCopy(&resource.Copy{Path: "/bin/plugin", Source: "/downloads/other"}))
	must(t, tree.Commit("/bin/plugin"))
	same(t, tree, "/bin/plugin", "/downloads/other", true)
}

// On another file system its content is copied, and compared.
func TestCopyToAnotherFileSystem(t *testing.T) {
	elsewhere, err := os.MkdirTemp("/dev/shm", "slipway-")
	if err != nil {
		t.Skip("there is no second file system: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(elsewhere) })
	dir := t.TempDir()
	var here, there unix.Stat_t
	must(t, unix.Stat(dir, &here))
	must(t, unix.Stat(elsewhere, &there))
	if here.Dev == there.Dev {
		t.Skip("there is no second file system")
	}
	tree, err := Open("/")
	must(t, err)
	defer tree.Close()
	source, other, path := elsewhere+"/plugin", elsewhere+"/other", dir+"/bin/plugin"
	must(t, os.WriteFile(source, make([]byte, 3<<20+1), 0o600))
	must(t, os.WriteFile(other, append(make([]byte, 3<<20), 1), 0o600))
	copyTo(t, tree, source, path)
	same(t, tree, path, source, true)
	same(t, tree, path, other, false)
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o755 || info.Size() != 3<<20+1 {
		t.Errorf("%v, %v", info, err)
	}
}

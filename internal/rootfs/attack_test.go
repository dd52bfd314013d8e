package rootfs

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/resource"
)

// An attacker who may write to a parent directory replaces directories by links that lead out of the tree, as fast as
// possible: no operation in the tree reads or changes anything outside it.
func TestExchangedParents(t *testing.T) {
	base := t.TempDir()
	root, outside := filepath.Join(base, "root"), filepath.Join(base, "outside")
	for _, dir := range []string{root + "/etc/app/sub", outside + "/sub"} {
		must(t, os.MkdirAll(dir, 0o755))
	}
	const secret = "outside"
	must(t, os.WriteFile(outside+"/sub/f", []byte(secret), 0o600))
	must(t, os.WriteFile(outside+"/f", []byte(secret), 0o600))
	// The links lead out by a relative and by an absolute path, from either part of the path.
	must(t, os.Symlink("../../outside", root+"/etc/out"))
	must(t, os.Symlink(outside+"/sub", root+"/etc/app/out"))
	tree, err := Open(root)
	must(t, err)
	defer tree.Close()

	var swaps atomic.Int64
	done := make(chan struct{})
	var attackers sync.WaitGroup
	for dir, name := range map[string]string{root + "/etc": "app", root + "/etc/app": "sub"} {
		// The attacker keeps the directory open: by its name the attacker would also end outside.
		in, err := os.Open(dir)
		must(t, err)
		defer in.Close()
		attackers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					if unix.Renameat2(int(in.Fd()), name, int(in.Fd()), "out", unix.RENAME_EXCHANGE) == nil {
						swaps.Add(1)
					}
				}
			}
		})
	}
	for rounds := 0; rounds < 50 || swaps.Load() < 1000; rounds++ {
		// Each may fail, because its parent directory may be missing at that moment.
		_ = tree.WriteFileAtomic(&resource.File{Path: "/etc/app/sub/f", Mode: 0o644, UID: os.Getuid(), GID: os.Getgid(), Content: []byte("inside")})
		_ = tree.MakeDirectory(&resource.Directory{Path: "/etc/app/sub/d", Mode: 0o777, UID: os.Getuid(), GID: os.Getgid()})
		_ = tree.MakeSymlink(&resource.Symlink{Path: "/etc/app/sub/l", Target: "x"})
		if content, err := tree.ReadFile("/etc/app/sub/f", 100); err == nil && string(content) == secret {
			t.Error("a file outside was read")
		}
		_ = tree.Remove("/etc/app/sub/f")
		_ = tree.RemoveDirectory("/etc/app/sub/d")
		_, _ = tree.CreateExclusive("/etc/app/sub", func(int) string { return "e" }, 0o644, nil)
		_ = tree.Sync()
	}
	close(done)
	attackers.Wait()
	var found []string
	must(t, filepath.WalkDir(outside, func(path string, _ os.DirEntry, err error) error {
		found = append(found, path[len(outside):])
		return err
	}))
	if len(found) != 4 { // the directory, /f, /sub and /sub/f
		t.Errorf("outside there are %q", found)
	}
	for _, name := range []string{"/f", "/sub/f"} {
		if content, err := os.ReadFile(outside + name); err != nil || string(content) != secret {
			t.Errorf("%s outside is %q, %v", name, content, err)
		}
	}
}

// A file that is appended to must be regular and must not have another name.
func TestHardLinksAreNotWrittenThrough(t *testing.T) {
	tree, at := newTree(t)
	victim := at("victim")
	must(t, os.WriteFile(victim, []byte("v"), 0o600))
	for _, path := range []string{"/run/actions", "/var/log/slipway.log"} {
		must(t, os.MkdirAll(filepath.Dir(at(path)), 0o755))
		must(t, os.Link(victim, at(path)))
	}
	wantError(t, tree.AppendLine("/run/actions", []byte("line\n"), 0o644, 100), "more than one hard link")
	if _, err := tree.LogFile("/var/log/slipway.log").Write([]byte("record\n")); err != nil {
		t.Error(err)
	}
	// Replacing a file replaces only this name of it.
	must(t, os.Link(victim, at("/etc-file")))
	must(t, tree.WriteFileAtomic(&resource.File{Path: "/etc-file", Mode: 0o644, UID: os.Getuid(), GID: os.Getgid(), Content: []byte("new")}))
	if content, err := os.ReadFile(victim); err != nil || string(content) != "v" {
		t.Errorf("the victim is %q, %v", content, err)
	}
}

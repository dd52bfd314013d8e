package rootfs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// withUmask sets the process's umask during the test.
func withUmask(t *testing.T, mask int) {
	old := unix.Umask(mask)
	t.Cleanup(func() { unix.Umask(old) })
}

// list returns every name in a directory, with its kind and mode.
func list(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	must(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := entry.Info()
		names = append(names, fmt.Sprintf("%s %s", info.Mode(), strings.TrimPrefix(path, dir)))
		return err
	}))
	return names
}

func TestStageAndCommit(t *testing.T) {
	for _, mask := range []int{0o000, 0o022, 0o077, 0o777} {
		t.Run(fmt.Sprintf("umask %03o", mask), func(t *testing.T) {
			tree, at := newTree(t)
			withUmask(t, mask)
			must(t, tree.Stage(file("/etc/kubernetes/azure.json", "new", 0o640)))
			want := []string{"drwxr-xr-x /etc", "drwxr-xr-x /etc/kubernetes", "-rw-r----- /etc/kubernetes/.azure.json.slipway-tmp"}
			if got := list(t, tree.name); !slices.Equal(got, want) {
				t.Errorf("staged: got %q, want %q", got, want)
			}
			must(t, tree.Commit("/etc/kubernetes/azure.json"))
			want[2] = "-rw-r----- /etc/kubernetes/azure.json"
			if got := list(t, tree.name); !slices.Equal(got, want) {
				t.Errorf("committed: got %q, want %q", got, want)
			}
			if got, err := os.ReadFile(at("etc/kubernetes/azure.json")); err != nil || string(got) != "new" {
				t.Errorf("got %q, %v", got, err)
			}
			must(t, tree.Sync())
		})
	}
}

func TestStageModes(t *testing.T) {
	tree, _ := newTree(t)
	withUmask(t, 0o077)
	for _, mode := range []uint32{0o600, 0o400, 0o644, 0o755, 0o4755, 0o2750, 0o1777, 0o000} {
		path := fmt.Sprintf("/%04o", mode)
		must(t, tree.WriteFileAtomic(file(path, "x", mode)))
		if entry, err := tree.Stat(path); err != nil || entry.Mode != mode {
			t.Errorf("%s: mode %04o, %v", path, entry.Mode, err)
		}
	}
	wantError(t, tree.Stage(file("/bad", "", 0o100644)), "stage /bad", "mode 0100644")
}

func TestStageOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can give files away")
	}
	tree, _ := newTree(t)
	f := &resource.File{Path: "/f", Mode: 0o6755, UID: 12, GID: 34}
	must(t, tree.WriteFileAtomic(f))
	must(t, tree.MakeDirectory(&resource.Directory{Path: "/d", Mode: 0o2770, UID: 56, GID: 78}))
	for path, want := range map[string][3]int{"/f": {12, 34, 0o6755}, "/d": {56, 78, 0o2770}} {
		entry, err := tree.Stat(path)
		must(t, err)
		if got := [3]int{entry.UID, entry.GID, int(entry.Mode)}; got != want || !entry.Owned {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
	// Below a directory that passes its group on (setgid), new parents still belong to the superuser.
	must(t, tree.WriteFileAtomic(file("/d/parent/f", "", 0o600)))
	if entry, err := tree.Stat("/d/parent"); err != nil || entry.GID != 0 || entry.Mode != 0o755 {
		t.Errorf("parent: %+v, %v", entry, err)
	}
}

func TestStageReplacesWhatIsStale(t *testing.T) {
	tree, at := newTree(t)
	stale := at(".f.slipway-tmp")
	victim := at("victim")
	must(t, os.WriteFile(victim, []byte("untouched"), 0o644))
	for name, leave := range map[string]func() error{
		"longer file": func() error { return os.WriteFile(stale, bytes.Repeat([]byte("x"), 1000), 0o777) },
		"link":        func() error { return os.Symlink("victim", stale) },
		"hard link":   func() error { return os.Link(victim, stale) },
		"pipe":        func() error { return unix.Mkfifo(stale, 0o666) },
	} {
		must(t, leave())
		must(t, tree.WriteFileAtomic(file("/f", name, 0o644)))
		if got, err := os.ReadFile(at("f")); err != nil || string(got) != name {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	if got, _ := os.ReadFile(victim); string(got) != "untouched" {
		t.Errorf("victim has %q", got)
	}
}

func TestStageRefuses(t *testing.T) {
	tree, at := newTree(t)
	must(t, os.Mkdir(at("dir"), 0o755))
	must(t, os.WriteFile(at("file"), nil, 0o644))
	err := tree.Stage(file("/dir", "", 0o644))
	wantError(t, err, "stage /dir", "a directory is in the way")
	if !errors.Is(err, syscall.EISDIR) {
		t.Errorf("%v is not EISDIR", err)
	}
	wantError(t, tree.Stage(file("/file/below", "", 0o644)), "stage /file/below: /file: not a directory")
	long := "/" + strings.Repeat("x", 300)
	if err := tree.Stage(file(long, "", 0o644)); !errors.Is(err, syscall.ENAMETOOLONG) {
		t.Errorf("a long name: %v", err)
	}
	if got := list(t, tree.name); len(got) != 2 {
		t.Errorf("left behind: %q", got)
	}
}

// More files than StageAll has open at a time are staged in their order, and nothing remains of those that cannot be.
func TestStageAll(t *testing.T) {
	tree, at := newTree(t)
	files := make([]*resource.File, maxStaged+50)
	for i := range files {
		files[i] = file(fmt.Sprintf("/etc/%d/%d", i%3, i), fmt.Sprint("content ", i), 0o640)
	}
	refused := []int{7, maxStaged, maxStaged + 49}
	for _, i := range refused {
		must(t, os.MkdirAll(at(files[i].Path[1:]), 0o755))
	}
	for i, err := range tree.StageAll(files) {
		if slices.Contains(refused, i) {
			wantError(t, err, "stage "+files[i].Path, "a directory is in the way")
			continue
		}
		must(t, err)
		must(t, tree.Commit(files[i].Path))
		if got, err := os.ReadFile(at(files[i].Path[1:])); err != nil || string(got) != fmt.Sprint("content ", i) {
			t.Errorf("%s: got %q, %v", files[i].Path, got, err)
		}
	}
	must(t, tree.Sync())
	if got, want := len(list(t, tree.name)), 1+3+len(files); got != want {
		t.Errorf("%d names, want %d", got, want)
	}
	if errs := tree.StageAll(nil); len(errs) > 0 {
		t.Errorf("no file: %v", errs)
	}
}

func TestCommitOfNothing(t *testing.T) {
	tree, at := newTree(t)
	for _, path := range []string{"/f", "/missing/f"} {
		err := tree.Commit(path)
		wantError(t, err, "commit "+path)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v is not fs.ErrNotExist", err)
		}
	}
	must(t, tree.Stage(file("/f", "", 0o644)))
	must(t, os.Mkdir(at("f"), 0o755))
	wantError(t, tree.Commit("/f"), "commit /f", "a directory is in the way")
	must(t, tree.Unstage("/f"))
	must(t, tree.Unstage("/f"))
	must(t, tree.Unstage("/missing/f"))
	if got := list(t, tree.name); !slices.Equal(got, []string{"drwxr-xr-x /f"}) {
		t.Errorf("left behind: %q", got)
	}
}

func TestStageWhenTheDiskIsFull(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can mount")
	}
	tree, at := newTree(t)
	if err := unix.Mount("tmpfs", tree.name, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("cannot mount: ", err)
	}
	defer unix.Unmount(tree.name, unix.MNT_DETACH)
	small, err := Open(tree.name) // the first one is below the mount
	must(t, err)
	defer small.Close()
	must(t, small.WriteFileAtomic(file("/f", "old", 0o644)))
	err = small.Stage(file("/f", strings.Repeat("x", 1<<20), 0o644))
	wantError(t, err, "stage /f: write: no space left on device")
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v is not ENOSPC", err)
	}
	if got, _ := os.ReadFile(at("f")); string(got) != "old" {
		t.Errorf("the old content is gone: %q", got)
	}
	if got := list(t, tree.name); len(got) != 1 {
		t.Errorf("left behind: %q", got)
	}
	must(t, unix.Mount("", tree.name, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	if err := small.Stage(file("/f", "x", 0o644)); !errors.Is(err, syscall.EROFS) {
		t.Errorf("read-only: %v is not EROFS", err)
	}
}

func TestMakeDirectory(t *testing.T) {
	tree, at := newTree(t)
	withUmask(t, 0o077)
	dir := func(path string, mode uint32) *resource.Directory {
		return &resource.Directory{Path: path, Mode: mode, UID: os.Geteuid(), GID: os.Getegid()}
	}
	must(t, tree.MakeDirectory(dir("/a/b", 0o750)))
	must(t, os.WriteFile(at("a/b/kept"), nil, 0o600))
	must(t, tree.MakeDirectory(dir("/a/b", 0o750)))
	must(t, tree.MakeDirectory(dir("/a/b", 0o711)))
	must(t, tree.MakeDirectory(dir("/open", 0o1777)))
	want := []string{"drwxr-xr-x /a", "drwx--x--x /a/b", "-rw------- /a/b/kept", "dtrwxrwxrwx /open"}
	if got := list(t, tree.name); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	must(t, os.Symlink("a", at("link")))
	wantError(t, tree.MakeDirectory(dir("/a/b/kept", 0o755)), "make directory /a/b/kept: a regular file is in the way")
	wantError(t, tree.MakeDirectory(dir("/link", 0o755)), "make directory /link: a symbolic link is in the way")
	wantError(t, tree.MakeDirectory(dir("/mode", 0o40755)), "mode")
}

func TestMakeSymlink(t *testing.T) {
	tree, at := newTree(t)
	link := &resource.Symlink{Path: "/a/link", Target: "/some/where"}
	must(t, tree.MakeSymlink(link))
	must(t, tree.MakeSymlink(link))
	link.Target = "../else"
	must(t, os.Symlink("stale", at("a/.link.slipway-tmp")))
	must(t, tree.MakeSymlink(link))
	must(t, os.WriteFile(at("file"), nil, 0o644))
	must(t, tree.MakeSymlink(&resource.Symlink{Path: "/file", Target: "a"}))
	for path, want := range map[string]string{"/a/link": "../else", "/file": "a"} {
		if entry, err := tree.Stat(path); err != nil || entry.Kind != apply.Symlink || entry.Target != want {
			t.Errorf("%s: %+v, %v", path, entry, err)
		}
	}
	must(t, os.Mkdir(at("dir"), 0o755))
	wantError(t, tree.MakeSymlink(&resource.Symlink{Path: "/dir", Target: "a"}), "make link /dir", "a directory is in the way")
	wantError(t, tree.MakeSymlink(&resource.Symlink{Path: "/x", Target: ""}), "make link /x", "leads nowhere")
	if got := len(list(t, tree.name)); got != 4 {
		t.Errorf("%d names, want 4", got)
	}
}

func TestSync(t *testing.T) {
	tree, at := newTree(t)
	must(t, tree.WriteFileAtomic(file("/a/b/f", "", 0o644)))
	if len(tree.changed) != 0 {
		t.Errorf("after Sync: %v", tree.changed)
	}
	must(t, tree.Stage(file("/a/c/d/f", "", 0o644)))
	must(t, tree.Commit("/a/c/d/f"))
	must(t, tree.Remove("/a/b/f"))
	must(t, tree.Remove("/a/b/absent"))
	must(t, tree.MakeSymlink(&resource.Symlink{Path: "/l", Target: "x"}))
	want := []string{"/", "/a", "/a/b", "/a/c", "/a/c/d"}
	if got := slices.Sorted(maps.Keys(tree.changed)); !slices.Equal(got, want) {
		t.Errorf("changed: got %q, want %q", got, want)
	}
	must(t, os.RemoveAll(at("a/c/d"))) // it has nothing to make durable any more
	must(t, tree.Sync())

	must(t, tree.MakeDirectory(&resource.Directory{Path: "/a/b/x", Mode: 0o700, UID: os.Geteuid(), GID: os.Getegid()}))
	must(t, tree.WriteFileAtomic(file("/a/b/x/f", "", 0o644)))
	must(t, tree.Remove("/a/b/x/f"))
	must(t, os.RemoveAll(at("a/b")))
	must(t, os.WriteFile(at("a/b"), nil, 0o644))
	wantError(t, tree.Sync(), "sync directory /a/b/x: /a/b: not a directory")
	if !tree.changed["/a/b/x"] {
		t.Error("what was not synced is forgotten")
	}
}

func TestStagingInParallel(t *testing.T) {
	tree, _ := newTree(t)
	var group sync.WaitGroup
	for i := range 64 {
		group.Go(func() {
			path := fmt.Sprintf("/a/b/%d/f", i%8)
			if i >= 8 {
				path = fmt.Sprintf("/a/b/%d/f%d", i%8, i)
			}
			if err := errors.Join(tree.Stage(file(path, path, 0o600)), tree.Commit(path)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	must(t, tree.Sync())
	if got := len(list(t, tree.name)); got != 2+8+64 {
		t.Errorf("%d names", got)
	}
}

func TestCreateExclusive(t *testing.T) {
	tree, at := newTree(t)
	name := func(attempt int) string { return fmt.Sprintf("%d.json", 100+attempt) }
	for i := range 3 {
		got, err := tree.CreateExclusive("/var/events", name, 0o640, []byte{byte('a' + i)})
		if want := fmt.Sprintf("/var/events/%d.json", 100+i); err != nil || got != want {
			t.Fatalf("got %q, %v, want %q", got, err, want)
		}
	}
	must(t, tree.Sync())
	var all []byte
	for i := range 3 {
		content, err := os.ReadFile(at("var/events/" + name(i)))
		must(t, err)
		all = append(all, content...)
	}
	if string(all) != "abc" {
		t.Errorf("contents %q", all)
	}
	want := []string{"-rw-r----- /100.json", "-rw-r----- /101.json", "-rw-r----- /102.json"}
	if got := list(t, at("var/events")); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}

	_, err := tree.CreateExclusive("/var/events", func(int) string { return "100.json" }, 0o600, nil)
	wantError(t, err, "create a file in /var/events", "all taken")
	for _, bad := range []string{"", ".", "..", "a/b", "/a", "a/", "a\x00b"} {
		if _, err := tree.CreateExclusive("/var/events", func(int) string { return bad }, 0o600, nil); err == nil {
			t.Errorf("the name %q is taken", bad)
		}
	}
	for _, bad := range []string{"", "var", "/var/"} {
		if _, err := tree.CreateExclusive(bad, name, 0o600, nil); err == nil {
			t.Errorf("the directory %q is taken", bad)
		}
	}
	if got := list(t, at("var/events")); len(got) != 3 {
		t.Errorf("left behind: %q", got)
	}
}

func TestCreateExclusiveInParallel(t *testing.T) {
	tree, at := newTree(t)
	var group sync.WaitGroup
	for i := range 32 {
		group.Go(func() {
			content := bytes.Repeat([]byte{byte('A' + i)}, 5000)
			path, err := tree.CreateExclusive("/e", func(n int) string { return fmt.Sprint(n) }, 0o600, content)
			if err != nil {
				t.Error(err)
			} else if got, err := os.ReadFile(at(path)); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s is not whole: %v", path, err)
			}
		})
	}
	group.Wait()
	if got := len(list(t, at("e"))); got != 32 {
		t.Errorf("%d files", got)
	}
}

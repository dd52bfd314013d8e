package rootfs

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// newTree opens a tree in a new directory, and returns a function that names what is in it.
func newTree(t *testing.T) (*Tree, func(string) string) {
	t.Helper()
	tree, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	return tree, func(path string) string { return filepath.Join(tree.name, path) }
}

func file(path, content string, mode uint32) *resource.File {
	return &resource.File{Path: path, Mode: mode, UID: os.Geteuid(), GID: os.Getegid(), Content: []byte(content)}
}

func TestPathsThatAreRefused(t *testing.T) {
	tree, _ := newTree(t)
	for _, path := range []string{"", "etc/passwd", "/etc/../passwd", "/etc/./x", "/etc//x", "/etc/", "/a\x00b", "//etc", "."} {
		_, err := tree.Stat(path)
		if !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Stat(%q): %v, want an invalid path", path, err)
		}
		if err := tree.Stage(file(path, "", 0o644)); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Stage(%q): %v, want an invalid path", path, err)
		}
	}
	for name, err := range map[string]error{
		"Stage":         tree.Stage(file("/", "", 0o644)),
		"Commit":        tree.Commit("/"),
		"MakeSymlink":   tree.MakeSymlink(&resource.Symlink{Path: "/", Target: "x"}),
		"MakeDirectory": tree.MakeDirectory(&resource.Directory{Path: "/", Mode: 0o755}),
		"Remove":        tree.Remove("/"),
	} {
		if err == nil {
			t.Errorf("%s of the root is not refused", name)
		}
	}
}

func TestStat(t *testing.T) {
	tree, at := newTree(t)
	must(t, os.WriteFile(at("file"), []byte("12345"), 0o600))
	must(t, os.Chmod(at("file"), 0o640))
	must(t, os.Mkdir(at("dir"), 0o700))
	must(t, os.Chmod(at("dir"), 0o755|os.ModeSticky))
	must(t, os.Symlink("/nowhere", at("link")))
	must(t, unix.Mkfifo(at("pipe"), 0o600))
	for _, test := range []struct {
		path string
		want apply.Entry
	}{
		{"/absent", apply.Entry{}},
		{"/absent/too", apply.Entry{}},
		{"/file/below", apply.Entry{}},
		{"/file", apply.Entry{Kind: apply.RegularFile, Mode: 0o640, Size: 5}},
		{"/dir", apply.Entry{Kind: apply.Directory, Mode: 0o1755}},
		{"/link", apply.Entry{Kind: apply.Symlink, Mode: 0o777, Target: "/nowhere"}},
		{"/pipe", apply.Entry{Kind: apply.Other, Mode: 0o600}},
	} {
		got, err := tree.Stat(test.path)
		must(t, err)
		if got.Kind != apply.Absent && (got.UID != os.Geteuid() || got.GID != os.Getegid()) {
			t.Errorf("%s: owner %d:%d", test.path, got.UID, got.GID)
		}
		if got.Owned != (os.Geteuid() == 0) {
			t.Errorf("%s: owned is %v", test.path, got.Owned)
		}
		got.UID, got.GID, got.Owned = 0, 0, false
		if got.Kind != apply.RegularFile {
			got.Size = 0
		}
		if got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.path, got, test.want)
		}
	}
	if entry, err := tree.Stat("/"); err != nil || entry.Kind != apply.Directory {
		t.Errorf("/: got %+v, %v", entry, err)
	}
}

func TestReadFile(t *testing.T) {
	tree, at := newTree(t)
	must(t, os.WriteFile(at("file"), []byte("12345"), 0o600))
	for _, limit := range []int64{5, 6, 1 << 40} {
		if got, err := tree.ReadFile("/file", limit); err != nil || string(got) != "12345" {
			t.Errorf("limit %d: got %q, %v", limit, got, err)
		}
	}
	_, err := tree.ReadFile("/file", 4)
	wantError(t, err, "read /file", "limit of 4 bytes")
	_, err = tree.ReadFile("/missing", 4)
	wantError(t, err, "read /missing: no such file")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v is not fs.ErrNotExist", err)
	}
}

func TestReadFileOfTheKernel(t *testing.T) {
	tree, err := Open("/")
	must(t, err)
	defer tree.Close()
	// Its reported size is 0, but it has content.
	if got, err := tree.ReadFile("/proc/self/status", 1<<20); err != nil || !strings.HasPrefix(string(got), "Name:") {
		t.Errorf("got %.20q, %v", got, err)
	}
	_, err = tree.ReadFile("/proc/self/status", 10)
	wantError(t, err, "limit of 10 bytes")
}

func TestSpecialFilesAreNotRead(t *testing.T) {
	tree, at := newTree(t)
	must(t, unix.Mkfifo(at("pipe"), 0o600))
	must(t, os.Mkdir(at("dir"), 0o755))
	must(t, os.WriteFile(at("secret"), []byte("secret"), 0o600))
	must(t, os.Symlink("secret", at("link")))
	listener, err := net.Listen("unix", at("socket"))
	must(t, err)
	defer listener.Close()
	for path, kind := range map[string]string{
		"/pipe": "a named pipe", "/dir": "a directory", "/link": "a symbolic link", "/socket": "a socket",
	} {
		done := make(chan error, 1)
		go func() {
			_, err := tree.ReadFile(path, 1<<20)
			done <- err
		}()
		select {
		case err := <-done:
			wantError(t, err, "read "+path, kind)
		case <-time.After(5 * time.Second):
			t.Fatalf("reading %s hangs", path)
		}
		if err := tree.Stage(file(path, "", 0o644)); (err == nil) != (path == "/link") {
			t.Errorf("staging over %s: %v", path, err)
		} else if err != nil {
			wantError(t, err, "stage "+path, kind, "in the way")
		}
	}
}

func TestReadLinked(t *testing.T) {
	tree, at := newTree(t)
	must(t, os.MkdirAll(at("/pki"), 0o755))
	must(t, os.WriteFile(at("/pki/2026.pem"), []byte("newest"), 0o600))
	must(t, os.Symlink("/pki/2026.pem", at("/pki/current.pem")))
	must(t, os.Symlink("current.pem", at("/pki/other.pem")))
	for _, path := range []string{"/pki/2026.pem", "/pki/current.pem", "/pki/other.pem"} {
		if got, err := tree.ReadLinked(path, 10); err != nil || string(got) != "newest" {
			t.Errorf("%s: got %q, %v", path, got, err)
		}
	}
	if _, err := tree.ReadLinked("/pki/missing.pem", 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
	must(t, os.Symlink("loop.pem", at("/loop.pem")))
	if _, err := tree.ReadLinked("/loop.pem", 10); !errors.Is(err, unix.ELOOP) {
		t.Errorf("a link to itself: %v", err)
	}
}

func TestSymlinksStayInTheTree(t *testing.T) {
	outside := t.TempDir()
	must(t, os.WriteFile(filepath.Join(outside, "victim"), []byte("untouched"), 0o644))
	tree, at := newTree(t)
	must(t, os.Symlink(outside, at("absolute")))
	must(t, os.Symlink("../../../../../../../../../../.."+outside, at("climbing")))
	must(t, os.Symlink(filepath.Join(outside, "victim"), at("final")))
	must(t, os.Symlink("loop", at("loop")))

	dirs := []string{"/absolute", "/climbing"}
	for _, dir := range dirs {
		if _, err := tree.ReadFile(dir+"/victim", 100); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("reading through %s: %v, want nothing there", dir, err)
		}
	}
	for _, dir := range dirs {
		must(t, tree.Stage(file(dir+"/victim", "inside", 0o644)))
		must(t, tree.Commit(dir+"/victim"))
		must(t, tree.Remove(dir+"/other"))
		must(t, tree.MakeSymlink(&resource.Symlink{Path: dir + "/l", Target: "x"}))
		must(t, tree.MakeDirectory(&resource.Directory{Path: dir + "/d", Mode: 0o700, UID: os.Geteuid(), GID: os.Getegid()}))
		if got, err := tree.ReadFile(outside+"/victim", 100); err != nil || string(got) != "inside" {
			t.Errorf("the tree's own %s: %q, %v", outside, got, err)
		}
	}
	must(t, tree.Stage(file("/final", "replaced", 0o644)))
	must(t, tree.Commit("/final"))
	must(t, tree.Sync())
	if entry, err := tree.Stat("/final"); err != nil || entry.Kind != apply.RegularFile {
		t.Errorf("the link was not replaced: %+v, %v", entry, err)
	}
	if _, err := tree.Stat("/loop/x"); !errors.Is(err, unix.ELOOP) {
		t.Errorf("a loop: %v, want ELOOP", err)
	}

	names, err := os.ReadDir(outside)
	must(t, err)
	content, err := os.ReadFile(filepath.Join(outside, "victim"))
	must(t, err)
	if len(names) != 1 || string(content) != "untouched" {
		t.Errorf("outside the tree: %v, %q", names, content)
	}
}

func TestDirectoriesAreFoundThroughLinks(t *testing.T) {
	tree, at := newTree(t)
	must(t, os.MkdirAll(at("run/lock"), 0o755))
	must(t, os.MkdirAll(at("usr/lib"), 0o755))
	must(t, os.Mkdir(at("var"), 0o755))
	must(t, os.Symlink("/run", at("var/run")))
	must(t, os.Symlink("usr/lib", at("lib")))
	must(t, os.Symlink("../lib/../../run/./lock/", at("usr/odd")))
	for path, real := range map[string]string{
		"/var/run/a":      "run/a",
		"/var/run/lock/b": "run/lock/b",
		"/lib/c":          "usr/lib/c",
		"/var/run/new/d":  "run/new/d",
	} {
		must(t, tree.WriteFileAtomic(file(path, path, 0o644)))
		if got, err := os.ReadFile(at(real)); err != nil || string(got) != path {
			t.Errorf("%s: got %q, %v", path, got, err)
		}
	}
	// usr/../lib leads to usr/lib, and ".." from there twice is the root.
	if _, err := tree.ReadFile("/usr/odd/b", 100); err != nil {
		t.Error(err)
	}
}

func TestExists(t *testing.T) {
	tree, at := newTree(t)
	must(t, os.MkdirAll(at("/etc/cloud"), 0o755))
	must(t, os.WriteFile(at("/etc/file"), nil, 0o600))
	must(t, os.Symlink("/nowhere", at("/etc/dangling")))
	must(t, os.Symlink("/etc", at("/absolute")))
	must(t, unix.Mkfifo(at("/etc/pipe"), 0o600))
	for path, want := range map[string]bool{
		"/": true, "/etc": true, "/etc/cloud": true, "/etc/file": true, "/etc/dangling": true, "/etc/pipe": true, "/absolute/file": true,
		"/missing": false, "/missing/file": false, "/etc/file/below": false, "/etc/dangling/below": false,
		"": false, "etc": false, "/etc/": false, "/../etc": false,
	} {
		if got := tree.Exists(path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
}

func TestRemove(t *testing.T) {
	tree, at := newTree(t)
	must(t, os.WriteFile(at("file"), nil, 0o644))
	must(t, os.Symlink("file", at("link")))
	must(t, os.Mkdir(at("dir"), 0o755))
	for _, path := range []string{"/link", "/absent", "/absent/too"} {
		must(t, tree.Remove(path))
	}
	if _, err := os.Lstat(at("file")); err != nil {
		t.Error("removing a link removed what it leads to")
	}
	must(t, tree.Remove("/file"))
	if _, err := os.Lstat(at("file")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("file: %v", err)
	}
	err := tree.Remove("/dir")
	wantError(t, err, "remove /dir")
	if !errors.Is(err, syscall.EISDIR) {
		t.Errorf("dir: %v, want EISDIR", err)
	}
}

func TestErrorsKeepTheirNumber(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EROFS, syscall.EIO} {
		wrapped := Failed("write", "/etc/x", &fs.PathError{Op: "write", Path: "x", Err: &os.SyscallError{Syscall: "write", Err: errno}})
		if !errors.Is(wrapped, errno) || wrapped.Error() != "write /etc/x: "+errno.Error() {
			t.Errorf("got %q", wrapped)
		}
	}
}

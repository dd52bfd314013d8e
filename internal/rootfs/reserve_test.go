package rootfs

import (
	"errors"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/resource"
)

func blocks(t *testing.T, path string) int64 {
	t.Helper()
	var stat unix.Stat_t
	must(t, unix.Lstat(path, &stat))
	return stat.Blocks * 512
}

// A reserve has its blocks. A complete one is left alone. One that has holes, is too small, or is not a file is created
// again.
func TestReserve(t *testing.T) {
	tree, at := newTree(t)
	const size = 256 << 10
	must(t, tree.Reserve("/var/reserve", size))
	if got := blocks(t, at("var/reserve")); got < size {
		t.Errorf("%d bytes have blocks, want %d", got, size)
	}
	info, err := os.Stat(at("var/reserve"))
	must(t, err)
	must(t, tree.Reserve("/var/reserve", size))
	if again, err := os.Stat(at("var/reserve")); err != nil || !os.SameFile(info, again) || !again.ModTime().Equal(info.ModTime()) {
		t.Error("a reserve that is whole is made again")
	}
	for name, spoil := range map[string]func() error{
		"holes": func() error {
			return errors.Join(os.Truncate(at("var/reserve"), 0), os.Truncate(at("var/reserve"), size))
		},
		"small": func() error { return os.Truncate(at("var/reserve"), size/2) },
		"link": func() error {
			return errors.Join(os.Remove(at("var/reserve")), os.Symlink("/etc/passwd", at("var/reserve")))
		},
	} {
		must(t, spoil())
		must(t, tree.Reserve("/var/reserve", size))
		info, err := os.Lstat(at("var/reserve"))
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != 0o600 || info.Size() != size || blocks(t, at("var/reserve")) < size {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	must(t, os.Remove(at("var/reserve")))
	must(t, os.Mkdir(at("var/reserve"), 0o755))
	wantError(t, tree.Reserve("/var/reserve", size), "reserve room at /var/reserve", "a directory is in the way")
	if got := list(t, tree.name); !slices.Equal(got, []string{"drwxr-xr-x /var", "drwxr-xr-x /var/reserve"}) {
		t.Errorf("left behind: %q", got)
	}
}

// On a full disk there is no reserve, and nothing remains. Removing a reserve frees its space. The error for a
// read-only file system names it.
func TestReserveWhenTheDiskIsFull(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can mount")
	}
	outer, at := newTree(t)
	must(t, os.MkdirAll(at("var/lib"), 0o755))
	if err := unix.Mount("tmpfs", at("var/lib"), "tmpfs", 0, "size=256k"); err != nil {
		t.Skip("cannot mount: ", err)
	}
	defer unix.Unmount(at("var/lib"), unix.MNT_DETACH)
	if err := outer.Reserve("/var/lib/r", 1<<20); !NoRoom(err) {
		t.Errorf("got %v", err)
	}
	must(t, outer.Reserve("/var/lib/r", 128<<10))
	must(t, os.WriteFile(at("var/lib/fill"), make([]byte, 120<<10), 0o600))
	more := file("/var/lib/x", string(make([]byte, 64<<10)), 0o600)
	if err := outer.WriteFileAtomic(more); !NoRoom(err) {
		t.Errorf("the disk is full: %v", err)
	}
	must(t, outer.Remove("/var/lib/r"))
	must(t, outer.WriteFileAtomic(more))
	for _, dir := range []string{"/var/lib", "/var/lib/not/there", "/var"} {
		must(t, outer.Writable(dir))
	}
	must(t, unix.Mount("", at("var/lib"), "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	must(t, outer.Writable("/var"))
	for _, err := range []error{
		outer.Writable("/var/lib"), outer.Writable("/var/lib/not/there"), outer.WriteFileAtomic(more), outer.Remove("/var/lib/x"),
		outer.Reserve("/var/lib/r", 1), outer.MakeDirectory(&resource.Directory{Path: "/var/lib/d", Mode: 0o755}),
	} {
		wantError(t, err, "the file system that is mounted at "+at("var/lib")+" is read-only")
		if !errors.Is(err, unix.EROFS) {
			t.Errorf("%v is not EROFS", err)
		}
	}
}

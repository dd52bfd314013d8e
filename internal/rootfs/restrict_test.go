package rootfs_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/slipway-dev/slipway/internal/rootfs"
)

func TestRestrict(t *testing.T) {
	where := t.TempDir()
	dir, err := rootfs.Open(where)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	root := where
	for mode, want := range map[fs.FileMode]fs.FileMode{0o755: 0o600, 0o644: 0o600, 0o640: 0o600, 0o444: 0o400, 0o600: 0o600, 0o400: 0o400, 0o700: 0o700} {
		name := root + "/contract"
		if err := os.WriteFile(name, []byte("token"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		had, err := dir.Restrict("/contract")
		info, _ := os.Stat(name)
		if err != nil || had != (mode&0o077 != 0) || info.Mode().Perm() != want {
			t.Errorf("%04o: %t, %v, %04o", mode, had, err, info.Mode().Perm())
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := dir.Restrict("/contract"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
	// A symbolic link is not followed.
	if err := os.WriteFile(root+"/passwd", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("passwd", root+"/contract"); err != nil {
		t.Fatal(err)
	}
	if _, err := dir.Restrict("/contract"); err == nil {
		t.Error("a link is followed")
	}
	if info, _ := os.Stat(root + "/passwd"); info.Mode().Perm() != 0o644 {
		t.Error("a link's target is another's")
	}
}

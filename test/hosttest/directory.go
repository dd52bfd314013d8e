package hosttest

import (
	"os"
	"testing"
)

// TempDir is like t.TempDir, but in memory if possible. A node in it needs few megabytes and syncs each of its files, which takes a
// hundred times as long on a busy disk.
func TempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "slipway-")
	if err != nil { // it may be missing, or closed to this user
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove %s: %v", dir, err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

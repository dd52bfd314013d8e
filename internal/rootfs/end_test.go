package rootfs

import (
	"os"
	"testing"
)

func TestReadEnd(t *testing.T) {
	tree, on := newTree(t)
	must(t, os.WriteFile(on("/log"), []byte("0123456789"), 0o600))
	must(t, os.Symlink("log", on("/link")))
	must(t, os.Mkdir(on("/dir"), 0o700))
	for limit, want := range map[int64]string{4: "6789", 10: "0123456789", 100: "0123456789"} {
		if end, size, err := tree.ReadEnd("/log", limit); string(end) != want || size != 10 || err != nil {
			t.Errorf("limit %d: %q, %d, %v", limit, end, size, err)
		}
	}
	for _, path := range []string{"/link", "/dir", "/missing"} {
		if _, _, err := tree.ReadEnd(path, 10); err == nil {
			t.Errorf("%s: no error", path)
		}
	}
}

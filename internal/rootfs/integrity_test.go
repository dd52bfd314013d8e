package rootfs

import (
	"os"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A digest is that of the present content, even if a file was changed in place and its size and times were restored.
func TestDigestOfChangedFile(t *testing.T) {
	dir := t.TempDir()
	tree, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(dir+"/a", []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	digest := func(name string) string {
		t.Helper()
		digest, err := tree.Digest(name, 100)
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	write("one")
	if err := os.Symlink("/a", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(dir + "/a")
	if err != nil {
		t.Fatal(err)
	}
	first := digest("/a")
	if first != "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed" || digest("/link") != first {
		t.Errorf("the digest is %s", first)
	}
	for digest("/a") == first { // a kernel may give two changes at once the same time
		write("two")
		if err := os.Chtimes(dir+"/a", before.ModTime(), before.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
	write("a longer one than is allowed")
	if _, err := tree.Digest("/a", 2); err == nil {
		t.Error("a file over the limit is read")
	}
	if err := syscall.Mkfifo(dir+"/pipe", 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Digest("/pipe", 100); err == nil {
		t.Error("a pipe has a digest")
	}
}

func TestAttributes(t *testing.T) {
	dir := t.TempDir()
	tree, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for name, make := range map[string]func(string) error{
		"/file":      func(p string) error { return os.WriteFile(p, nil, 0o644) },
		"/directory": func(p string) error { return os.Mkdir(p, 0o755) },
	} {
		if err := make(dir + name); err != nil {
			t.Fatal(err)
		}
		if got, err := tree.Attributes(name); err != nil || len(withoutLabels(got)) > 0 {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		for _, attribute := range []string{"user.b", "user.a"} {
			if err := unix.Setxattr(dir+name, attribute, []byte("x"), 0); err != nil {
				t.Skip("no attributes here: ", err)
			}
		}
		if got, err := tree.Attributes(name); err != nil || !slices.Equal(withoutLabels(got), []string{"user.a", "user.b"}) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if got, err := tree.Attributes("/missing"); err != nil || got != nil {
		t.Errorf("a missing file: %q, %v", got, err)
	}
}

func withoutLabels(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return name == "security.selinux" })
}

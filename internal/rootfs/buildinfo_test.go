package rootfs

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/test/hosttest"
)

// The record of a program, here of this test, is found below the tree. For a file without one, the error names the
// file.
func TestBuildInfo(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want, err := buildinfo.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	root := hosttest.TempDir(t)
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"program": program, "cut": program[:len(program)/2], "empty": nil} {
		if err := os.WriteFile(filepath.Join(root, name), content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if got, err := tree.BuildInfo("/program"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, name := range []string{"/cut", "/empty", "/missing"} {
		if got, err := tree.BuildInfo(name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

package cases

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// unlisted are paths in a tree that are compared elsewhere or do not matter. A generation's record repeats the tree's content.
var unlisted = []string{"/run/slipway/actions.jsonl", "/var/lib/slipway/status.json", "/var/lib/slipway/generations", "/var/lib/slipway/reserve"}

// tree lists a tree: a line for each entry with its mode, and the content of files. It omits owners, because they depend on the
// user who runs the test; on a machine all files are root's.
func tree(t *testing.T, root string) []byte {
	var b bytes.Buffer
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		name := strings.TrimPrefix(path, root)
		for _, u := range unlisted {
			if name == u && d.IsDir() {
				return fs.SkipDir
			} else if name == u {
				return nil
			}
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		mode := info.Mode()
		switch {
		case mode.IsDir():
			fmt.Fprintf(&b, "== %04o %s/\n", mode.Perm(), name)
		case mode.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "== link %s -> %s\n", name, target)
		default:
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "== %04o %s\n%s", mode.Perm(), name, content)
			if len(content) > 0 && content[len(content)-1] != '\n' {
				b.WriteString("\n== no line break at the end\n")
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

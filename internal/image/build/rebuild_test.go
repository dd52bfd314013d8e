package build

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

func TestCompareTrees(t *testing.T) {
	at := time.Unix(1, 0)
	tree := func(change func(fstest.MapFS)) fstest.MapFS {
		m := fstest.MapFS{
			"etc":          {Mode: fs.ModeDir | 0o755, ModTime: at},
			"etc/hostname": {Data: []byte("node\n"), Mode: 0o644, ModTime: at},
			"etc/dir":      {Mode: fs.ModeDir | 0o755, ModTime: at},
			"etc/dir/a":    {Mode: 0o644, ModTime: at},
			"etc/dir/b":    {Mode: 0o644, ModTime: at},
			"etc/link":     {Data: []byte("dir"), Mode: fs.ModeSymlink | 0o777, ModTime: at},
			store + "/db":  {Data: []byte("1970"), Mode: 0o600, ModTime: at},
		}
		if change != nil {
			change(m)
		}
		return m
	}
	for name, test := range map[string]struct {
		change func(fstest.MapFS)
		want   string
	}{
		"equal":   {nil, ""},
		"content": {func(m fstest.MapFS) { m["etc/hostname"].Data = []byte("nodf\n") }, "/etc/hostname: its content differs when the image is made again"},
		"mode":    {func(m fstest.MapFS) { m["etc/hostname"].Mode = 0o600 }, "/etc/hostname: its mode is -rw-r--r--, and -rw------- when the image is made again"},
		"time":    {func(m fstest.MapFS) { m["etc/dir"].ModTime = time.Unix(2, 0) }, "/etc/dir: its time differs when the image is made again"},
		"kind":    {func(m fstest.MapFS) { m["etc/dir/a"].Mode = fs.ModeDevice | 0o644 }, "/etc/dir/a: its mode is -rw-r--r--, and Drw-r--r-- when the image is made again"},
		"link":    {func(m fstest.MapFS) { m["etc/link"].Data = []byte("dif") }, "/etc/link: its content differs when the image is made again"},
		"store":   {func(m fstest.MapFS) { m[store+"/db"].Data = []byte("2026") }, ""},
		"missing": {func(m fstest.MapFS) { delete(m, "etc/dir/a"); delete(m, "etc/dir/b"); delete(m, "etc/dir") }, "/etc/dir: it is missing when the image is made again"},
		"further": {func(m fstest.MapFS) { m["etc/x/y"] = &fstest.MapFile{Mode: 0o644} }, "/etc/x: it is there only when the image is made again"},
	} {
		one, two := tree(nil), tree(test.change)
		differences, err := compareTrees(one, two)
		var got []string
		for _, d := range differences {
			got = append(got, fmt.Sprintf("%s: %s", d.Path, d.Reason))
		}
		if err != nil || strings.Join(got, "\n") != test.want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, test.want)
		}
		sums := [2]string{filesDigestOf(t, one), filesDigestOf(t, two)}
		if (sums[0] == sums[1]) != (test.want == "") {
			t.Errorf("%s: the digests of the files are %q", name, sums)
		}
	}
}

func filesDigestOf(t *testing.T, tree fs.FS) string {
	t.Helper()
	sum, err := filesDigest(tree)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// A disk without its configuration cannot be made again: the error says what to name.
func TestRebuildOfOtherDisk(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"node.raw", "output/node.raw", "output/other.raw"} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		r := &Rebuilder{Disk: at, Tools: &Tools{dir}}
		if _, _, err := r.Compare(t.Context()); err == nil || !strings.Contains(err.Error(), "name DIR/output/node.raw") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package bundle_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/slipway-dev/slipway/internal/bundle"
	"github.com/slipway-dev/slipway/internal/integrity"
)

// sealed is a manifest with each type of entry, and its files.
func sealed(t testing.TB) (*bundle.Manifest, map[string][]byte) {
	t.Helper()
	documents := map[string][]byte{"config.ign": []byte("{}")}
	m := &bundle.Manifest{
		Slipway: "test", Config: "c0ffee", Node: integrity.Node{Units: []string{"a.service"}},
		Renderings: []bundle.Rendering{{Name: "config.ign", SHA256: bundle.Sum(documents["config.ign"])}},
		Entries: []bundle.Entry{
			{Path: "/etc/a.d/x", Type: bundle.TypeFile, Mode: "0600", SHA256: bundle.Sum([]byte("x<y>")), Content: []byte("x<y>"), Until: []string{"/etc/b"}},
			{Path: "/etc/a.d", Type: bundle.TypeDirectory, Mode: "0755"},
			{Path: "/etc/link", Type: bundle.TypeLink, Target: "/etc/a.d/x"},
		},
	}
	if err := m.Seal(); err != nil {
		t.Fatal(err)
	}
	return m, documents
}

// Read returns what Write wrote, and a tree made from it passes the comparison.
func TestWriteAndRead(t *testing.T) {
	m, documents := sealed(t)
	dir := filepath.Join(t.TempDir(), "bundle")
	if err := bundle.Write(dir, m, documents); err != nil {
		t.Fatal(err)
	}
	read, err := bundle.Read(os.DirFS(dir))
	if err != nil || read.Digest != m.Digest {
		t.Fatalf("%+v, %v", read, err)
	}
	tree := os.DirFS(filepath.Join(dir, bundle.Tree))
	if found := slices.Concat(read.Verify(tree, anybody), read.Self(os.DirFS(dir))); len(found) > 0 {
		t.Error(found)
	}
}

func anybody(fs.FileInfo) (uid, gid int, ok bool) { return 0, 0, false }

// FuzzRead: Read accepts only a manifest that equals the written one byte for byte.
func FuzzRead(f *testing.F) {
	m, documents := sealed(f)
	dir := filepath.Join(f.TempDir(), "bundle")
	if err := bundle.Write(dir, m, documents); err != nil {
		f.Fatal(err)
	}
	written, err := os.ReadFile(filepath.Join(dir, bundle.ManifestName))
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		string(written), string(written) + " ", string(written) + "{}", strings.Replace(string(written), "0600", "0644", 1),
		strings.Replace(string(written), `"mode"`, `"mode": "0", "mode"`, 1), "", "{}", "[]", "null", `{"apiVersion":"slipway.dev/v1","kind":"Bundle"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read, err := bundle.Read(fstest.MapFS{bundle.ManifestName: {Data: data}})
		if bytes.Equal(data, written) != (err == nil) {
			t.Errorf("%q: %+v, %v", data, read, err)
		}
	})
}

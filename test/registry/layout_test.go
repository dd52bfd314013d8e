package registry

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/content/oci"
)

// A container image comes into the tree of an image as a layout that another program reads, whole for its architecture. A newer lock
// replaces it, and a lock without images removes it.
func TestImageInTree(t *testing.T) {
	s := newServer(t)
	s.Anonymous = true
	s.tool("v1.4.0")
	first := s.image("3.10", "first")
	w := newWorkstation(t, s)
	if err := os.MkdirAll(filepath.Join(w.dir, "image/usr/lib/systemd"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.write("image/usr/lib/systemd/systemd", "systemd")
	bake := func() string { return w.run(0, "bake", "--root", "image", "--cache", "c", "--architecture", "arm64") }
	w.run(0, "lock", "--cache", "c")
	if out := bake(); !strings.Contains(out, "the container images are "+s.Host+"/pause:3.10\n") {
		t.Error(out)
	}
	w.holds(first, 1+1+1+2)
	if out := bake(); !strings.Contains(out, "image was already as components.lock says") {
		t.Error(out)
	}
	w.run(0, "verify", "image", "--lock", "components.lock")

	second := s.image("3.10", "second")
	w.run(0, "lock", "--cache", "c", "--update", "pause")
	bake()
	w.holds(second, 1+1+1+2)

	damaged := filepath.Join(w.dir, "image/opt/slipway/images/blobs/sha256", strings.TrimPrefix(second, "sha256:"))
	if err := os.WriteFile(damaged, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := w.run(1, "verify", "image"); !strings.Contains(out, "it has SHA-256 ") {
		t.Error(out)
	}
	bake()
	w.run(0, "verify", "image")

	document := strings.ReplaceAll(components, "REGISTRY", s.Host)
	w.write("components.yaml", document[:strings.Index(document, "- name: pause")])
	w.run(0, "lock", "--cache", "c")
	bake()
	if left, _ := filepath.Glob(filepath.Join(w.dir, "image/opt/slipway/images/*/*/*")); len(left) > 0 {
		t.Errorf("the images are still there: %s", left)
	}
}

// holds demands that the layout in the tree has an image for one architecture, and so many files.
func (w *workstation) holds(digest string, files int) {
	w.t.Helper()
	dir := filepath.Join(w.dir, "image/opt/slipway/images")
	store, err := oci.NewFromFS(w.t.Context(), os.DirFS(dir))
	if err != nil {
		w.t.Fatal(err)
	}
	index, err := store.Resolve(w.t.Context(), "3.10")
	if err != nil || index.Digest.String() != digest {
		w.t.Fatalf("the layout has %s, want %s: %v", index.Digest, digest, err)
	}
	manifests, err := content.Successors(w.t.Context(), store, index)
	if err != nil {
		w.t.Fatal(err)
	}
	i := slices.IndexFunc(manifests, func(m ocispec.Descriptor) bool { return m.Platform.Architecture == "arm64" })
	blobs, err := content.Successors(w.t.Context(), store, manifests[i])
	if err != nil {
		w.t.Fatal(err)
	}
	for _, blob := range blobs {
		if _, err := content.FetchAll(w.t.Context(), store, blob); err != nil {
			w.t.Errorf("%s: %v", blob.Digest, err)
		}
	}
	if all, _ := filepath.Glob(filepath.Join(dir, "blobs/sha256/*")); len(all) != files {
		w.t.Errorf("the layout has %d files, want %d", len(all), files)
	}
}

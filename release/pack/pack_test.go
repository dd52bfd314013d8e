package pack_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/release/pack"
	"github.com/slipway-dev/slipway/release/product"
)

var at = time.Date(2026, 11, 28, 21, 0, 0, 0, time.UTC)

// listing is an archive as text.
func listing(t *testing.T, data []byte, compressed bool) string {
	t.Helper()
	var from io.Reader = bytes.NewReader(data)
	if compressed {
		z, err := gzip.NewReader(from)
		if err != nil {
			t.Fatal(err)
		}
		from = z
	}
	var b strings.Builder
	for r := tar.NewReader(from); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %o %s:%s %d %s\n", h.Name, h.Mode, h.Uname, h.Gname, h.Size, h.ModTime.UTC().Format(time.RFC3339))
	}
}

func TestTar(t *testing.T) {
	files := []pack.File{{Name: "man/man8/b.8", Content: []byte("b"), Mode: 0o644}, {Name: "a", Content: []byte("aa"), Mode: 0o755}}
	data, err := pack.Tar("top", files, at)
	if err != nil {
		t.Fatal(err)
	}
	const time = " root:root 0 2026-11-28T21:00:00Z\n"
	want := "top/ 755" + time + "top/a 755 root:root 2 2026-11-28T21:00:00Z\ntop/man/ 755" + time + "top/man/man8/ 755" + time + "top/man/man8/b.8 644 root:root 1 2026-11-28T21:00:00Z\n"
	if got := listing(t, data, true); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	other, err := pack.Tar("top", []pack.File{files[1], files[0]}, at)
	if err != nil || !bytes.Equal(data, other) {
		t.Errorf("the order of the files makes another archive (%v)", err)
	}
}

// TestPackage: the same files make the same package, in another directory and at another time.
func TestPackage(t *testing.T) {
	p := &product.Programs[1]
	contents := []pack.Content{
		{Path: p.Installed, Data: []byte("program"), Mode: 0o755}, {Path: p.Link, Target: p.Installed},
		{Path: "/usr/share/doc/slipway-node/LICENSES", Data: []byte("text"), Mode: 0o644},
	}
	for format, want := range map[string]string{"deb": "slipway-node_0.1.1~rc.1-1_arm64.deb", "rpm": "slipway-node-0.1.1~rc.1-1.aarch64.rpm"} {
		name, first, err := pack.Package(format, p, "arm64", "0.1.1-rc.1", contents, t.TempDir(), at)
		if err != nil || name != want {
			t.Fatalf("%s: %q, %v", format, name, err)
		}
		_, second, err := pack.Package(format, p, "arm64", "0.1.1-rc.1", contents, t.TempDir(), at)
		if err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s: another build is another package (%v)", format, err)
		}
	}
}

// TestPreset names each unit, and enables none.
func TestPreset(t *testing.T) {
	preset := string(pack.Preset(&product.Programs[1]))
	for _, unit := range product.Programs[1].Units {
		if !strings.Contains(preset, "\ndisable "+unit+"\n") {
			t.Errorf("%s is not disabled:\n%s", unit, preset)
		}
	}
	if strings.Contains(preset, "\nenable") {
		t.Error(preset)
	}
}

// TestLayout: an image for two platforms and an artefact make a layout, always the same.
func TestLayout(t *testing.T) {
	make := func() []byte {
		var parts []pack.Part
		for _, on := range product.Linux {
			image, err := pack.Image(&product.Programs[0], on, []byte("program for "+on.Architecture), "v0.1.0", "abc", at)
			if err != nil {
				t.Fatal(err)
			}
			config, err := image.ConfigFile()
			if err != nil || config.Config.User == "" || config.Config.User == "root" || strings.HasPrefix(config.Config.User, "0") {
				t.Errorf("the image runs as root: %+v (%v)", config.Config, err)
			}
			parts = append(parts, pack.Part{Platform: on, Image: image})
		}
		artefact, err := pack.Artefact(&product.Programs[1], []byte("archive"), "v0.1.0", "abc")
		if err != nil {
			t.Fatal(err)
		}
		data, err := pack.Layout(append(parts, pack.Part{Platform: product.Linux[0], Image: artefact}), "v0.1.0", t.TempDir(), at)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	data := make()
	list := listing(t, data, false)
	for _, name := range []string{"index.json", "oci-layout", "blobs/sha256/"} {
		if !strings.Contains(list, name) {
			t.Errorf("no %s:\n%s", name, list)
		}
	}
	if n := strings.Count(list, "blobs/sha256/"); n != 1+3*3+1 { // the directory; of each part manifest, config and layer; the index
		t.Errorf("%d blobs:\n%s", n, list)
	}
	if !bytes.Equal(data, make()) {
		t.Error("another build is another layout")
	}
}

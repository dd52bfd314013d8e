package build

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/image/cache"
	"github.com/slipway-dev/slipway/internal/image/lock"
	"github.com/slipway-dev/slipway/internal/image/mkosi"
	"github.com/slipway-dev/slipway/internal/image/spec"
)

// TestManifestSignature: the manifest of a prepared directory is signed there, and a directory with the signature has the same manifest.
func TestManifestSignature(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is missing")
	}
	prepare := func(signature []byte) (dir string, err error) {
		store, err := cache.Open(t.Context(), t.TempDir(), func() {})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		dir = filepath.Join(t.TempDir(), "image")
		b := &Build{Lock: &lock.Lock{}, Cache: store, Contract: []byte(EveryNode), Signature: signature, Dir: dir,
			Image: mkosi.Image{Architecture: "amd64", Epoch: time.Unix(1, 0).UTC(), Base: spec.Base{Suite: "trixie"}}}
		return dir, b.Prepare(t.Context())
	}
	first, err := prepare(nil)
	if err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(first, mkosi.Components, components.Path)
	key := filepath.Join(t.TempDir(), "key")
	for _, args := range [][]string{{"-q", "-t", "ed25519", "-N", "", "-f", key}, {"-Y", "sign", "-n", components.SignedFor, "-f", key, manifest}} {
		if out, err := exec.Command("ssh-keygen", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	signature := read(t, manifest+".sig")
	second, err := prepare(signature)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read(t, filepath.Join(second, mkosi.Components, components.Path)), read(t, manifest)) {
		t.Error("with the signature the image has another manifest")
	}
	if got := read(t, filepath.Join(second, mkosi.Components, components.SignaturePath)); !bytes.Equal(got, signature) {
		t.Errorf("the image has the signature %s", got)
	}
	if err := os.Remove(filepath.Join(second, mkosi.Components, components.SignaturePath)); err != nil { // ssh-keygen overwrites none
		t.Fatal(err)
	}
	if out, err := exec.Command("ssh-keygen", "-Y", "sign", "-n", "git", "-f", key, filepath.Join(second, mkosi.Components, components.Path)).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, bad := range map[string][]byte{"no signature": []byte("x"), "for another purpose": read(t, filepath.Join(second, mkosi.Components, components.SignaturePath))} {
		if _, err := prepare(bad); err == nil || !strings.Contains(err.Error(), "the signature is not one of this image's manifest") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

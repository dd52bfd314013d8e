package pack_test

import (
	"bytes"
	"crypto/x509"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/slipway-dev/slipway/internal/fetch"
	"github.com/slipway-dev/slipway/release/pack"
	"github.com/slipway-dev/slipway/release/product"
)

// TestArtefactIsFetched: a lock of components can name the agent's artefact in a registry, and gets the archive of its platform.
func TestArtefactIsFetched(t *testing.T) {
	server := httptest.NewTLSServer(registry.New())
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "https://")
	var index v1.ImageIndex = empty.Index
	for _, on := range product.Linux {
		artefact, err := pack.Artefact(&product.Programs[1], []byte("archive for "+on.Architecture), "v0.1.0", "abc")
		if err != nil {
			t.Fatal(err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: artefact, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: on.OS, Architecture: on.Architecture}}})
	}
	tag, err := name.NewTag(host + "/slipway/slipway-node:v0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteIndex(tag, index, remote.WithTransport(server.Client().Transport)); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	for _, on := range product.Linux {
		into, err := os.Create(filepath.Join(t.TempDir(), "archive"))
		if err != nil {
			t.Fatal(err)
		}
		defer into.Close()
		client := &fetch.Client{Roots: roots}
		_, err = client.Get(t.Context(), fetch.Request{From: []string{tag.String()}, Platform: fetch.Platform{OS: on.OS, Architecture: on.Architecture}, MaxBytes: 1 << 20}, into)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(into.Name())
		if err != nil || !bytes.Equal(got, []byte("archive for "+on.Architecture)) {
			t.Errorf("%s: %q (%v)", on.Architecture, got, err)
		}
	}
}

// Package registry makes registries of container images for the machines of the test, and puts images into them.
//
// The images have one program, that of test/e2e/cmd/payload. test/e2e/lab serves the registries of the cases, and test/e2e/parts makes
// node images that have such an image.
package registry

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"runtime"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Empty is a registry without images, which does not log its requests.
func Empty() http.Handler { return registry.New(registry.Logger(log.New(io.Discard, "", 0))) }

// Layer is a layer with a program, and with a text that no other layer has, so that a client must always download it.
func Layer(program []byte, origin string) ([]byte, error) {
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	for _, f := range []struct {
		name    string
		mode    int64
		content []byte
	}{{"payload", 0o755, program}, {"origin", 0o644, []byte(origin)}} {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.content))}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	return layer.Bytes(), w.Close()
}

// Push pushes an image of one layer to a registry (OCI distribution specification, "Pushing manifests").
func Push(ctx context.Context, to http.Handler, repository, tag string, layer []byte) error {
	p := Pusher{to, repository}
	content, err := p.Blob(ctx, types.OCIUncompressedLayer, layer)
	if err != nil {
		return err
	}
	config, err := json.Marshal(v1.ConfigFile{
		Architecture: runtime.GOARCH, OS: "linux", Config: v1.Config{Entrypoint: []string{"/payload"}},
		RootFS: v1.RootFS{Type: "layers", DiffIDs: []v1.Hash{content.Digest}},
	})
	if err != nil {
		return err
	}
	manifest := v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Layers: []v1.Descriptor{content}}
	if manifest.Config, err = p.Blob(ctx, types.OCIConfigJSON, config); err != nil {
		return err
	}
	_, err = p.Manifest(ctx, tag, manifest.MediaType, manifest)
	return err
}

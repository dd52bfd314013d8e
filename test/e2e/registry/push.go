package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Pusher pushes content to one repository of a registry, without its access control (OCI distribution specification, "Push").
type Pusher struct {
	Registry   http.Handler
	Repository string
}

// Blob stores content, and returns its descriptor.
func (p *Pusher) Blob(ctx context.Context, mediaType types.MediaType, content []byte) (v1.Descriptor, error) {
	d, err := descriptor(mediaType, content)
	if err != nil {
		return d, err
	}
	return d, p.do(ctx, http.MethodPost, "/blobs/uploads/?digest="+d.Digest.String(), "application/octet-stream", content)
}

// Manifest stores a document under a tag, or under its digest, and returns its descriptor.
func (p *Pusher) Manifest(ctx context.Context, tag string, mediaType types.MediaType, document any) (v1.Descriptor, error) {
	content, err := json.Marshal(document)
	if err != nil {
		return v1.Descriptor{}, err
	}
	d, err := descriptor(mediaType, content)
	if err != nil {
		return d, err
	}
	if tag == "" {
		tag = d.Digest.String()
	}
	return d, p.do(ctx, http.MethodPut, "/manifests/"+tag, string(mediaType), content)
}

// descriptor returns a content's descriptor (OCI image specification, "Content Descriptors").
func descriptor(mediaType types.MediaType, content []byte) (v1.Descriptor, error) {
	digest, size, err := v1.SHA256(bytes.NewReader(content))
	return v1.Descriptor{MediaType: mediaType, Digest: digest, Size: size}, err
}

func (p *Pusher) do(ctx context.Context, method, path, contentType string, content []byte) error {
	path = "/v2/" + p.Repository + path
	request, err := http.NewRequestWithContext(ctx, method, path, bytes.NewReader(content))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", contentType)
	answer := httptest.NewRecorder()
	p.Registry.ServeHTTP(answer, request)
	if answer.Code != http.StatusCreated {
		return fmt.Errorf("%s %s: %d: %s", method, path, answer.Code, answer.Body)
	}
	return nil
}

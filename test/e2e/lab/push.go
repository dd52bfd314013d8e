package lab

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
)

const (
	ociManifest = "application/vnd.oci.image.manifest.v1+json"
	ociIndex    = "application/vnd.oci.image.index.v1+json"
)

// isolatedPusher puts things into one repository of the registry, from behind its door.
type isolatedPusher struct {
	to   *Isolated
	base string
}

// blob stores content, and returns its descriptor.
func (p *isolatedPusher) blob(ctx context.Context, mediaType string, content []byte) (map[string]any, error) {
	d := descriptor(mediaType, content)
	return d, p.do(ctx, http.MethodPost, fmt.Sprintf("/blobs/uploads/?digest=%s", d["digest"]), "application/octet-stream", content)
}

// manifest stores a document under a tag, or under its digest, and returns its descriptor.
func (p *isolatedPusher) manifest(ctx context.Context, tag string, document map[string]any) (map[string]any, error) {
	content, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	mediaType := document["mediaType"].(string)
	d := descriptor(mediaType, content)
	if tag == "" {
		tag = d["digest"].(string)
	}
	return d, p.do(ctx, http.MethodPut, "/manifests/"+tag, mediaType, content)
}

// descriptor says what a content is (OCI image specification, "Content Descriptors").
func descriptor(mediaType string, content []byte) map[string]any {
	return map[string]any{"mediaType": mediaType, "size": len(content), "digest": fmt.Sprintf("sha256:%x", sha256.Sum256(content))}
}

func (p *isolatedPusher) do(ctx context.Context, method, path, contentType string, content []byte) error {
	request, err := http.NewRequestWithContext(ctx, method, p.base+path, bytes.NewReader(content))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", contentType)
	answer := httptest.NewRecorder()
	p.to.registry.ServeHTTP(answer, request)
	if answer.Code != http.StatusCreated {
		return fmt.Errorf("%s %s: %d: %s", method, p.base+path, answer.Code, answer.Body)
	}
	return nil
}

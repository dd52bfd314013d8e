package fetch

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
)

// maxIndexes is how many indexes may lead to a manifest.
const maxIndexes = 2

// resolve finds the file that a reference means: manifest, or index and manifest, and the blob's digest.
func (g *getting) resolve(ctx context.Context, p *place) *failure {
	version := p.reference.version
	for range maxIndexes + 1 {
		m := &manifest{}
		data, f := g.document(ctx, p, "manifests", version)
		if f == nil {
			m, f = parseManifest(data)
		}
		var d *descriptor
		switch {
		case f != nil:
			return f
		case len(m.Manifests) > 0:
			if d, f = m.forPlatform(&g.request.Platform); f != nil {
				return f
			}
			version = d.Digest
			continue
		case version == p.reference.version: // no index has chosen it
			f = g.checkPlatform(ctx, p, &m.Config)
		}
		if f == nil {
			d, f = m.file(g.request.Title)
		}
		if f == nil {
			p.url, p.sha256, p.size = p.reference.url("blobs", d.Digest), d.Digest[len(sha256Prefix):], d.Size
		}
		return f
	}
	return failed(WrongContent, "more than %d indexes lead to the manifest", maxIndexes)
}

// document reads a document of a registry's, and checks it by its digest, where that is its name or in the header.
func (g *getting) document(ctx context.Context, p *place, kind, name string) ([]byte, *failure) {
	a, f := g.ask(ctx, p, p.reference.url(kind, name), http.Header{"Accept": manifestTypes})
	if f != nil {
		return nil, f
	}
	data, f := a.document(maxManifest)
	if f == nil {
		f = checkDigest(data, name)
	}
	if f == nil {
		f = checkDigest(data, a.Header.Get("Docker-Content-Digest"))
	}
	return data, f
}

// checkPlatform checks an image by its config, which says for which platform it is.
func (g *getting) checkPlatform(ctx context.Context, p *place, config *descriptor) *failure {
	if !slices.Contains(configTypes, config.MediaType) {
		return nil
	}
	f := config.check()
	var data []byte
	if f == nil {
		data, f = g.document(ctx, p, "blobs", config.Digest)
	}
	has := &Platform{}
	if want := &g.request.Platform; f == nil && (json.Unmarshal(data, has) != nil || !has.matches(want)) {
		f = failed(WrongContent, "is for %s, and %s is wanted", has, want)
	}
	return f
}

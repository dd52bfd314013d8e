package fetch

import (
	"context"
	"net/http"
)

// maxIndexes is how many indexes may lead to a manifest.
const maxIndexes = 2

// resolve finds the file that a reference means: manifest, or index and manifest, and the blob's digest. A manifest that no
// index has chosen is for whatever its tag says: an artifact's has no platform.
func (g *getting) resolve(ctx context.Context, p *place) *failure {
	version := p.version
	for range maxIndexes + 1 {
		m, f := g.manifest(ctx, p, version)
		if f != nil {
			return f
		}
		if len(m.Manifests) == 0 {
			d, f := m.file()
			if f == nil {
				p.url, p.sha256, p.size = p.of("blobs", d.Digest), d.Digest[len(sha256Prefix):], d.Size
			}
			return f
		}
		d, f := m.forPlatform(&g.request.Platform)
		if f != nil {
			return f
		}
		version = d.Digest
	}
	return failed(WrongContent, "more than %d indexes lead to the manifest", maxIndexes)
}

// manifest reads a manifest or an index, and checks it by its digest, where that is in the reference or in the header.
func (g *getting) manifest(ctx context.Context, p *place, version string) (*manifest, *failure) {
	a, f := g.ask(ctx, p, p.of("manifests", version), http.Header{"Accept": manifestTypes})
	if f != nil {
		return nil, f
	}
	data, f := a.document(maxManifest)
	for _, digest := range []string{version, a.Header.Get("Docker-Content-Digest")} {
		if f == nil {
			f = checkDigest(data, digest)
		}
	}
	if f != nil {
		return nil, f
	}
	return parseManifest(data)
}

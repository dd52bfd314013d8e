package fetch

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
)

// maxIndexes is how many indexes may lead to a manifest.
const maxIndexes = 2

// resolve finds a reference's file: manifest, or index and manifest, and the blob's digest.
func (g *download) resolve(ctx context.Context, p *remote) *failure {
	version, chosen := p.version, false
	for range maxIndexes + 1 {
		m, f := g.manifest(ctx, p, version)
		if f != nil {
			return f
		}
		if len(m.Manifests) == 0 {
			d, f := m.file()
			if f == nil && !chosen {
				f = g.checkPlatform(ctx, p, &m.Config)
			}
			if f == nil {
				p.url, p.sha256, p.size = p.of("blobs", d.Digest), d.Digest[len(sha256Prefix):], d.Size
			}
			return f
		}
		d, f := m.forPlatform(&g.request.Platform)
		if f != nil {
			return f
		}
		version, chosen = d.Digest, true
	}
	return failed(WrongContent, "more than %d indexes lead to the manifest", maxIndexes)
}

// checkPlatform refuses an image that no index has selected and that is for another platform. A file that is not an
// image has none.
func (g *download) checkPlatform(ctx context.Context, p *remote, config *descriptor) *failure {
	if !slices.Contains(imageConfigs, config.MediaType) {
		return nil
	}
	if f := config.check(); f != nil {
		return f
	}
	a, f := g.ask(ctx, p, p.of("blobs", config.Digest), http.Header{})
	if f != nil {
		return f
	}
	data, f := a.document(maxManifest)
	if f == nil {
		f = checkDigest(data, config.Digest)
	}
	if f != nil {
		return f
	}
	var is Platform
	if json.Unmarshal(data, &is) != nil {
		return failed(WrongContent, "the image does not say for which platform it is: its config cannot be read")
	}
	return is.another(&g.request.Platform)
}

// manifest reads a manifest or an index.
func (g *download) manifest(ctx context.Context, p *remote, version string) (*manifest, *failure) {
	data, f := g.manifestData(ctx, p, version)
	if f != nil {
		return nil, f
	}
	return parseManifest(data)
}

// manifestData downloads a manifest or an index. It checks the digest, if the reference or the header has one.
func (g *download) manifestData(ctx context.Context, p *remote, version string) ([]byte, *failure) {
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
	return data, f
}

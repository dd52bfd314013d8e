package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
)

// maxIndexes is how many indexes may lead to a manifest.
const maxIndexes = 2

// manifestTypes are what is asked for.
var manifestTypes = []string{ociManifest, ociIndex, dockerManifest, dockerIndex}

// resolve finds the file that a reference means: manifest, or index and manifest, and the blob's digest.
func (g *getting) resolve(ctx context.Context, p *place) (*target, *failure) {
	version := p.reference.version
	for range maxIndexes + 1 {
		m, f := g.manifest(ctx, p, version)
		if f != nil {
			return nil, f
		}
		if len(m.Manifests) > 0 {
			d, f := m.forPlatform(g.request.Platform)
			if f != nil {
				return nil, f
			}
			version = d.Digest
			continue
		}
		if version == p.reference.version { // no index has chosen it
			if f := g.checkPlatform(ctx, p, m); f != nil {
				return nil, f
			}
		}
		d, f := m.file(g.request.Title)
		if f != nil {
			return nil, f
		}
		sum, _ := d.sha256()
		return &target{url: p.reference.blob(d.Digest), sha256: sum, size: d.Size}, nil
	}
	return nil, failed(WrongContent, "more than %d indexes lead to the manifest", maxIndexes)
}

// manifest reads a manifest or an index, and checks it by its digest, where that is in the reference or in the header.
func (g *getting) manifest(ctx context.Context, p *place, version string) (manifest, *failure) {
	a, f := g.ask(ctx, p, p.reference.manifest(version), http.Header{"Accept": manifestTypes})
	if f != nil {
		return manifest{}, f
	}
	defer a.Close()
	if f := a.judge(http.StatusOK); f != nil {
		return manifest{}, f
	}
	data, f := a.document(maxManifest)
	if f != nil {
		return manifest{}, f
	}
	for _, digest := range []string{version, a.Header.Get("Docker-Content-Digest")} {
		if f := checkDigest(data, digest); f != nil {
			return manifest{}, f
		}
	}
	return parseManifest(data)
}

// checkDigest checks a document by a digest, if it is one that can be checked.
func checkDigest(data []byte, digest string) *failure {
	want, ok := descriptor{Digest: digest}.sha256()
	if !ok {
		return nil
	}
	sum := sha256.Sum256(data)
	if has := hex.EncodeToString(sum[:]); has != want {
		return failed(WrongDigest, "the manifest has SHA-256 %s, and %s is wanted", has, want)
	}
	return nil
}

// checkPlatform checks a manifest by its config, which says for which platform an image is.
func (g *getting) checkPlatform(ctx context.Context, p *place, m manifest) *failure {
	want := g.request.Platform
	if want == (Platform{}) || !m.isImage() {
		return nil
	}
	if f := m.Config.check(maxManifest); f != nil {
		return f
	}
	a, f := g.ask(ctx, p, p.reference.blob(m.Config.Digest), http.Header{})
	if f != nil {
		return f
	}
	defer a.Close()
	if f := a.judge(http.StatusOK); f != nil {
		return f
	}
	data, f := a.document(maxManifest)
	if f == nil {
		f = checkDigest(data, m.Config.Digest)
	}
	if f != nil {
		return f
	}
	var has platform
	if err := json.Unmarshal(data, &has); err != nil {
		return failed(WrongContent, "the image's config cannot be read")
	}
	if !has.matches(want) {
		return failed(WrongContent, "is for %s, and %s is wanted", listed([]string{has.String()}), platform(want))
	}
	return nil
}

package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Image is the manifest or the index of a container image.
type Image struct {
	// Data is the document, SHA256 its digest in hexadecimal, and From its source as shown to people.
	Data         []byte
	SHA256, From string
	// Manifests are those of an index, one for each platform.
	Manifests []Content
	// Blobs are the config and the layers of a manifest. An image is an index or a manifest.
	Blobs []Content
}

// Content is content that an image names by its digest.
type Content struct {
	SHA256   string
	Bytes    int64
	Platform Platform
}

// Image downloads an image's manifest or index from the first of the references that has it. sha256 is its digest in
// hexadecimal; if empty, the references' tags select it. It makes the same tries as [Client.Get].
func (c *Client) Image(ctx context.Context, from []string, sha256 string) (*Image, error) {
	g, done := c.request(from)
	defer done()
	image := new(Image)
	p, err := g.run(ctx, func(ctx context.Context, p *remote) *failure {
		if p.host == "" {
			return notRegistry()
		}
		version := p.version
		if sha256 != "" {
			version = sha256Prefix + sha256
		}
		data, f := g.manifestData(ctx, p, version)
		if f == nil {
			image, f = parseImage(data)
		}
		return f
	})
	if err != nil {
		return nil, err
	}
	image.From = p.shown
	return image, nil
}

// parseImage reads an image's manifest or index.
func parseImage(data []byte) (*Image, *failure) {
	m, f := parseManifest(data)
	if f != nil {
		return nil, f
	}
	sum := sha256.Sum256(data)
	image := &Image{Data: data, SHA256: hex.EncodeToString(sum[:])}
	entries, to := m.Manifests, &image.Manifests
	if len(entries) == 0 {
		if !slices.Contains(imageConfigs, m.Config.MediaType) {
			return nil, failed(WrongContent, "is not a container image: its config is of the type %q", m.Config.MediaType)
		}
		entries, to = append([]descriptor{m.Config}, m.Layers...), &image.Blobs
	}
	for i := range entries {
		if f := entries[i].check(); f != nil {
			return nil, f
		}
		*to = append(*to, Content{entries[i].Digest[len(sha256Prefix):], entries[i].Size, entries[i].Platform})
	}
	return image, nil
}

// maxTags limits the tags of a repository, and maxTagPages the answers that list them. The largest public repositories
// have some ten thousand.
const (
	maxTags     = 100_000
	maxTagPages = 200
)

// Tags lists the tags of an OCI reference's repository, from the first of the references whose registry answers.
func (c *Client) Tags(ctx context.Context, from []string) ([]string, error) {
	g, done := c.request(from)
	defer done()
	var tags []string
	_, err := g.run(ctx, func(ctx context.Context, p *remote) (f *failure) {
		if p.host == "" {
			return notRegistry()
		}
		tags, f = g.tags(ctx, p)
		return f
	})
	return tags, err
}

func notRegistry() *failure { return failed(NotFound, "is not a reference to a registry's image") }

// tags reads all pages of a repository's list (OCI distribution specification, "Listing Tags").
func (g *download) tags(ctx context.Context, p *remote) (tags []string, f *failure) {
	next := "https://" + p.host + "/v2/" + p.repository + "/tags/list?n=1000"
	for range maxTagPages {
		a, f := g.ask(ctx, p, next, http.Header{})
		if f != nil {
			return nil, f
		}
		link := a.Header.Get("Link")
		data, f := a.document(maxManifest)
		if f != nil {
			return nil, f
		}
		var page struct{ Tags []string }
		if json.Unmarshal(data, &page) != nil {
			return nil, failed(WrongContent, "the list of tags cannot be read")
		}
		if tags = append(tags, page.Tags...); len(tags) > maxTags {
			return nil, failed(WrongContent, "has more than %d tags", maxTags)
		}
		if next, f = nextPage(next, link); next == "" {
			return tags, f
		}
	}
	return nil, failed(WrongContent, "lists its tags in more than %d pages", maxTagPages)
}

// nextPage returns the URL in a Link header (RFC 8288), or "". It must be on the same host, because the registry's token is
// sent to it.
func nextPage(last, link string) (string, *failure) {
	target, rest, found := strings.Cut(strings.TrimPrefix(link, "<"), ">")
	if !found || !strings.Contains(rest, "next") {
		return "", nil
	}
	base, err := url.Parse(last)
	if err != nil {
		return "", failed(WrongContent, "the list of tags has no URL")
	}
	next, err := base.Parse(target)
	if err != nil || next.Scheme != base.Scheme || next.Host != base.Host {
		return "", failed(WrongContent, "the list of tags continues on another host")
	}
	return next.String(), nil
}

// request begins a call that gets a document.
func (c *Client) request(from []string) (*download, func()) {
	s, done := c.session()
	begin := s.now()
	g := &download{session: s, request: &Request{From: from}, into: new(sink), begin: begin, further: begin}
	g.from(from)
	return g, done
}

// ParseImage reads an image's manifest or index.
func ParseImage(data []byte) (*Image, error) {
	image, f := parseImage(data)
	if f != nil {
		return nil, &Error{Cause: f.cause, From: "the manifest", Err: f.err}
	}
	return image, nil
}

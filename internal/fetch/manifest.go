package fetch

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/redact"
)

// The media types of manifests and indexes, OCI's and Docker's.
const (
	ociManifest    = "application/vnd.oci.image.manifest.v1+json"
	ociIndex       = "application/vnd.oci.image.index.v1+json"
	dockerManifest = "application/vnd.docker.distribution.manifest.v2+json"
	dockerIndex    = "application/vnd.docker.distribution.manifest.list.v2+json"

	ociConfig    = "application/vnd.oci.image.config.v1+json"
	dockerConfig = "application/vnd.docker.container.image.v1+json"

	// titleAnnotation is a file's name (OCI image specification, "Pre-Defined Annotation Keys").
	titleAnnotation = "org.opencontainers.image.title"
)

const (
	digestBytes = 32
	// maxManifest is the limit that the OCI distribution specification asks registries for.
	maxManifest = 4 << 20
	// maxListed is how many platforms or titles an error names.
	maxListed = 8
)

// manifest is what an OCI or Docker manifest, or an index of them, has for us. It is one of the two.
type manifest struct {
	MediaType string       `json:"mediaType"`
	Config    descriptor   `json:"config"`
	Layers    []descriptor `json:"layers"`
	Manifests []descriptor `json:"manifests"`
}

// descriptor names content by its digest.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Platform    *platform         `json:"platform"`
	Annotations map[string]string `json:"annotations"`
}

// platform is Platform as documents have it.
type platform struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
	OSVersion    string `json:"os.version"`
}

// parseManifest reads a manifest or an index.
func parseManifest(data []byte) (manifest, *failure) {
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return manifest{}, failed(WrongContent, "the manifest cannot be read")
	}
	switch m.MediaType {
	case "", ociManifest, ociIndex, dockerManifest, dockerIndex:
	default:
		return manifest{}, failed(WrongContent, "the manifest is of a kind that is not known: %s", redact.Line(m.MediaType, 80))
	}
	isIndex := m.MediaType == ociIndex || m.MediaType == dockerIndex
	// A document that is both is read in two ways by two readers (OCI distribution, GHSA-mc8v-mgrf-8f4m).
	if len(m.Manifests) > 0 == (len(m.Layers) > 0) || m.MediaType != "" && isIndex != (len(m.Manifests) > 0) {
		return manifest{}, failed(WrongContent, "the manifest names neither files nor manifests, or both")
	}
	return m, nil
}

// forPlatform is the first manifest of an index that is for a platform.
func (m manifest) forPlatform(want Platform) (descriptor, *failure) {
	var others []string
	for _, d := range m.Manifests {
		if d.Platform == nil {
			d.Platform = &platform{}
		}
		if d.Platform.matches(want) {
			return d, d.check(maxManifest)
		}
		others = append(others, d.Platform.String())
	}
	return descriptor{}, failed(WrongContent, "has nothing for %s, but for %s", platform(want), listed(others))
}

func (p platform) matches(want Platform) bool {
	return (want.OS == "" || p.OS == want.OS) && (want.Architecture == "" || p.Architecture == want.Architecture) &&
		(want.OSVersion == "" || p.OSVersion == want.OSVersion)
}

func (p platform) String() string {
	text := p.OS + "/" + p.Architecture
	if p.OSVersion != "" {
		text += " (" + p.OSVersion + ")"
	}
	return text
}

// file is the file of a manifest: the only one, or the one whose title matches a pattern.
func (m manifest) file(title string) (descriptor, *failure) {
	var found []descriptor
	var titles []string
	for _, d := range m.Layers {
		name := d.Annotations[titleAnnotation]
		titles = append(titles, fmt.Sprintf("%q", name))
		untitled := name == "" && len(m.Layers) == 1
		if ok, err := path.Match(title, name); err != nil {
			return descriptor{}, failed(NotFound, "the pattern %q of the file's name: %w", title, err)
		} else if ok || title == "" || untitled {
			found = append(found, d)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], found[0].check(0)
	case title == "":
		return descriptor{}, failed(WrongContent, "has %d files, and one is wanted: %s", len(found), listed(titles))
	}
	return descriptor{}, failed(WrongContent, "has %d files that match %q, and one is wanted: %s", len(found), title, listed(titles))
}

// isImage says that the manifest's config has a platform. That of another artifact has none.
func (m manifest) isImage() bool {
	return m.Config.MediaType == ociConfig || m.Config.MediaType == dockerConfig
}

// check says what is wrong with a descriptor. limit is how large its content may be, 0 for no limit here.
func (d descriptor) check(limit int64) *failure {
	if _, ok := d.sha256(); !ok {
		return failed(WrongContent, "the manifest has %s where a digest with SHA-256 is expected", redact.Line(fmt.Sprintf("%q", d.Digest), 100))
	}
	if d.Size < 0 || limit > 0 && d.Size > limit {
		return failed(WrongContent, "the manifest names a document of %d bytes", d.Size)
	}
	return nil
}

// sha256 is the hexadecimal part of the digest.
func (d descriptor) sha256() (string, bool) {
	text, ok := strings.CutPrefix(d.Digest, sha256Prefix)
	if !ok || len(text) != 2*digestBytes || strings.Trim(text, "0123456789abcdef") != "" {
		return "", false
	}
	return text, true
}

const sha256Prefix = "sha256:"

// listed is what there is, as it may be shown.
func listed(all []string) string {
	if len(all) > maxListed {
		all = append(all[:maxListed:maxListed], fmt.Sprintf("%d more", len(all)-maxListed))
	}
	if len(all) == 0 {
		return "nothing"
	}
	return redact.Line(strings.Join(all, ", "), maxShown/2)
}

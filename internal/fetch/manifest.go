package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// manifestTypes are the media types of manifests and, from firstIndex on, of indexes: OCI's and Docker's.
var manifestTypes = []string{
	"application/vnd.oci.image.manifest.v1+json",
	"application/vnd.docker.distribution.manifest.v2+json",
	"application/vnd.oci.image.index.v1+json",
	"application/vnd.docker.distribution.manifest.list.v2+json",
}

const firstIndex = 2

// imageConfigs are the media types of what says for which platform an image is: OCI's and Docker's.
var imageConfigs = []string{"application/vnd.oci.image.config.v1+json", "application/vnd.docker.container.image.v1+json"}

const (
	// titleAnnotation is a file's name (OCI image specification, "Pre-Defined Annotation Keys").
	titleAnnotation = "org.opencontainers.image.title"
	// maxManifest is the limit that the OCI distribution specification asks registries for.
	maxManifest  = 4 << 20
	sha256Prefix = "sha256:"
)

// manifest is what an OCI or Docker manifest, or an index of them, has for us. It is one of the two.
type manifest struct {
	MediaType         string
	Config            descriptor
	Layers, Manifests []descriptor
}

// descriptor names content by its digest.
type descriptor struct {
	MediaType   string
	Digest      string
	Size        int64
	Platform    Platform
	Annotations map[string]string
}

// parseManifest reads a manifest or an index.
func parseManifest(data []byte) (*manifest, *failure) {
	m := &manifest{}
	if json.Unmarshal(data, m) != nil {
		return nil, failed(WrongContent, "the manifest cannot be read")
	}
	isIndex := len(m.Manifests) > 0
	kind := slices.Index(manifestTypes, m.MediaType)
	// A document that is both is read in two ways by two readers (OCI distribution, GHSA-mc8v-mgrf-8f4m).
	if isIndex == (len(m.Layers) > 0) || m.MediaType != "" && (kind < 0 || isIndex != (kind >= firstIndex)) {
		return nil, failed(WrongContent, "the manifest, of the type %q, names neither files nor manifests, or both", m.MediaType)
	}
	return m, nil
}

// forPlatform is the first manifest of an index that is for a platform.
func (m *manifest) forPlatform(want *Platform) (*descriptor, *failure) {
	others := ""
	for i := range m.Manifests {
		d := &m.Manifests[i]
		if d.Platform.matches(want) {
			return d, d.check()
		}
		others += ", " + d.Platform.String()
	}
	return nil, failed(WrongContent, "has nothing for %s, but for%s", want, others[1:])
}

// file is the file of a manifest, which has to have one.
func (m *manifest) file() (*descriptor, *failure) {
	if len(m.Layers) == 1 {
		return &m.Layers[0], m.Layers[0].check()
	}
	titles := ""
	for i := range m.Layers {
		titles += " " + strconv.Quote(m.Layers[i].Annotations[titleAnnotation])
	}
	return nil, failed(WrongContent, "has %d files where one is wanted:%s", len(m.Layers), titles)
}

// another says what is wrong with a platform that is said where another one is wanted.
func (p *Platform) another(want *Platform) *failure {
	differ := func(is, want string) bool { return is != "" && want != "" && is != want }
	if differ(p.OS, want.OS) || differ(p.Architecture, want.Architecture) {
		return failed(WrongContent, "is for another platform: %s, and %s is wanted", p, want)
	}
	return nil
}

// check says what is wrong with a descriptor.
func (d *descriptor) check() *failure {
	if text, ok := strings.CutPrefix(d.Digest, sha256Prefix); !ok || !isSHA256(text) || d.Size < 0 {
		return failed(WrongContent, "the manifest names %d bytes with the digest %q, and not one with SHA-256", d.Size, d.Digest)
	}
	return nil
}

// isSHA256 says that a text is a SHA-256 in hexadecimal.
func isSHA256(text string) bool {
	return len(text) == 2*sha256.Size && strings.Trim(text, "0123456789abcdef") == ""
}

// checkDigest checks a document by a digest, if it is one that can be checked: a tag is none.
func checkDigest(data []byte, digest string) *failure {
	want, ok := strings.CutPrefix(digest, sha256Prefix)
	sum := sha256.Sum256(data)
	if has := hex.EncodeToString(sum[:]); ok && isSHA256(want) && has != want {
		return otherDigest(has, want)
	}
	return nil
}

package fetch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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

// imageConfigs are the media types of documents with an image's platform: OCI's and Docker's.
var imageConfigs = []string{"application/vnd.oci.image.config.v1+json", "application/vnd.docker.container.image.v1+json"}

const (
	// maxManifest is the limit that the OCI distribution specification asks registries for.
	maxManifest = 4 << 20
	// maxEntries limits the files of a manifest, and the manifests of an index. A node's have one file, and a few
	// platforms.
	maxEntries   = 1000
	sha256Prefix = "sha256:"
)

// errEntries is the error for a manifest that would need much memory.
var errEntries = fmt.Errorf("the manifest names more than %d files or manifests", maxEntries)

// manifest is the used part of an OCI or Docker manifest or index. It is one of the two.
type manifest struct {
	MediaType         string
	Config            descriptor
	Layers, Manifests entries
}

// entries are the descriptors of a list.
type entries []descriptor

// UnmarshalJSON stops at the limit: two bytes of a document would need a hundred of memory.
func (e *entries) UnmarshalJSON(data []byte) error {
	*e = nil // the last of several equal keys counts
	d := json.NewDecoder(bytes.NewReader(data))
	begin, err := d.Token()
	if err != nil || begin == nil {
		return err
	}
	if begin != json.Delim('[') {
		return errors.New("want a list")
	}
	for d.More() {
		if len(*e) == maxEntries {
			return errEntries
		}
		var entry descriptor
		if err := d.Decode(&entry); err != nil {
			return err
		}
		*e = append(*e, entry)
	}
	return nil
}

// maxNamed is how many of a list an error names.
const maxNamed = 3

// named formats the first entries of a list for an error.
func (e entries) named(separator string, name func(*descriptor) string) string {
	var all []string
	for i := range e[:min(len(e), maxNamed)] {
		all = append(all, name(&e[i]))
	}
	text := strings.Join(all, separator)
	if len(e) > maxNamed {
		text += fmt.Sprintf(" and %d more", len(e)-maxNamed)
	}
	return text
}

// descriptor names content by its digest.
type descriptor struct {
	MediaType   string
	Digest      string
	Size        int64
	Platform    Platform
	Annotations struct {
		// Title is a file's name (OCI image specification, "Pre-Defined Annotation Keys").
		Title string `json:"org.opencontainers.image.title"`
	}
}

// parseManifest reads a manifest or an index.
func parseManifest(data []byte) (*manifest, *failure) {
	m := &manifest{}
	switch err := json.Unmarshal(data, m); {
	case errors.Is(err, errEntries):
		return nil, failed(WrongContent, "%w", errEntries)
	case err != nil:
		return nil, failed(WrongContent, "the manifest cannot be read")
	}
	isIndex := len(m.Manifests) > 0
	kind := slices.Index(manifestTypes, m.MediaType)
	// A document that is both has different meanings for different readers (OCI distribution, GHSA-mc8v-mgrf-8f4m).
	if isIndex == (len(m.Layers) > 0) || m.MediaType != "" && (kind < 0 || isIndex != (kind >= firstIndex)) {
		return nil, failed(WrongContent, "the manifest, of the type %q, names neither files nor manifests, or both", m.MediaType)
	}
	return m, nil
}

// forPlatform returns the first manifest of an index for a platform.
func (m *manifest) forPlatform(want *Platform) (*descriptor, *failure) {
	for i := range m.Manifests {
		if d := &m.Manifests[i]; d.Platform.matches(want) {
			return d, d.check()
		}
	}
	others := m.Manifests.named(", ", func(d *descriptor) string { return d.Platform.String() })
	return nil, failed(WrongContent, "has nothing for %s, but for %s", want, others)
}

// file returns the file of a manifest, which must have exactly one.
func (m *manifest) file() (*descriptor, *failure) {
	if len(m.Layers) == 1 {
		return &m.Layers[0], m.Layers[0].check()
	}
	titles := m.Layers.named(" ", func(d *descriptor) string { return strconv.Quote(d.Annotations.Title) })
	return nil, failed(WrongContent, "has %d files where one is wanted: %s", len(m.Layers), titles)
}

// another returns a failure if a platform is stated and differs from the wanted one.
func (p *Platform) another(want *Platform) *failure {
	differ := func(is, want string) bool { return is != "" && want != "" && is != want }
	if differ(p.OS, want.OS) || differ(p.Architecture, want.Architecture) {
		return failed(WrongContent, "is for another platform: %s, and %s is wanted", p, want)
	}
	return nil
}

// check returns what is wrong with a descriptor.
func (d *descriptor) check() *failure {
	if text, ok := strings.CutPrefix(d.Digest, sha256Prefix); !ok || !isSHA256(text) || d.Size < 0 {
		return failed(WrongContent, "the manifest names %d bytes with the digest %q, and not one with SHA-256", d.Size, d.Digest)
	}
	return nil
}

// isSHA256 reports whether a text is a SHA-256 in hexadecimal.
func isSHA256(text string) bool {
	return len(text) == 2*sha256.Size && strings.Trim(text, "0123456789abcdef") == ""
}

// checkDigest checks a document by a digest. A tag cannot be checked and passes.
func checkDigest(data []byte, digest string) *failure {
	want, ok := strings.CutPrefix(digest, sha256Prefix)
	sum := sha256.Sum256(data)
	if has := hex.EncodeToString(sum[:]); ok && isSHA256(want) && has != want {
		return otherDigest(has, want)
	}
	return nil
}

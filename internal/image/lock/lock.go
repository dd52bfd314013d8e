// Package lock has the document that says exactly what a node image has: components.lock.
//
// internal/image/resolve makes it of internal/image/spec's document, and a program writes it: the same inputs give the same bytes.
// The package parses, checks and writes bytes, and does no I/O. internal/image/download and internal/image/changes read it.
package lock

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/image/spec"
)

// APIVersion and Kind identify the document.
const (
	APIVersion = "slipway.dev/v1"
	Kind       = "ImageLock"
)

// Lock is what a node image has.
type Lock struct {
	// APIVersion is "slipway.dev/v1".
	APIVersion string `json:"apiVersion,omitempty"`
	// Kind is "ImageLock".
	Kind string `json:"kind,omitempty"`
	// Base is the distribution below the components.
	Base *spec.Base `json:"base,omitempty"`
	// Components are sorted by name.
	Components []Component `json:"components,omitempty"`
}

// Component is one component, in one version.
type Component struct {
	// Name is its name in components.yaml.
	Name string `json:"name,omitempty"`
	// Kind is its kind.
	Kind string `json:"kind,omitempty"`
	// Version is its version.
	Version string `json:"version,omitempty"`
	// Wanted is the version or the range in components.yaml.
	Wanted string `json:"wanted,omitempty"`
	// License is its licence's SPDX expression.
	License string `json:"license,omitempty"`
	// Kubernetes are the minor versions that it serves. If empty, it serves all.
	Kubernetes []string `json:"kubernetes,omitempty"`
	// Entry is the digest of its entry in components.yaml. As long as it is the same, the component stays as it is.
	Entry string `json:"entry,omitempty"`
	// Image is set if it is a container image.
	Image *Image `json:"image,omitempty"`
	// Artifacts are its files, one for each architecture, or the manifests of an image.
	Artifacts []Artifact `json:"artifacts,omitempty"`
}

// Image is a container image.
type Image struct {
	// References are its references with a tag, in the order of trying.
	References []string `json:"references,omitempty"`
	// Digest is that of its index or manifest, "sha256:...".
	Digest string `json:"digest,omitempty"`
}

// digestPrefix begins a digest of OCI.
const digestPrefix = "sha256:"

// SHA256 is the digest in hexadecimal.
func (i *Image) SHA256() string { return strings.TrimPrefix(i.Digest, digestPrefix) }

// NewImage is an image with a digest in hexadecimal.
func NewImage(references []string, sum string) *Image { return &Image{references, digestPrefix + sum} }

// Artifact is a component for one architecture.
type Artifact struct {
	// Architecture is "amd64" or "arm64".
	Architecture string `json:"architecture,omitempty"`
	// Sources are where the file is, in the order of trying. An image's are its references.
	Sources []string `json:"sources,omitempty"`
	// SHA256 is the file's digest in hexadecimal; of an image, that of the manifest.
	SHA256 string `json:"sha256,omitempty"`
	// Size is the file's size in bytes; of an image, that of manifest, config and layers together.
	Size int64 `json:"size,omitempty"`
	// Files are what is taken out of it.
	Files []File `json:"files,omitempty"`
}

// File is a file in the image.
type File struct {
	// Member is its path in the archive. It is empty if the file is the download itself.
	Member string `json:"member,omitempty"`
	// Path is its path in the image.
	Path string `json:"path,omitempty"`
	// Mode are its permission bits in octal.
	Mode string `json:"mode,omitempty"`
	// SHA256 is its digest in hexadecimal.
	SHA256 string `json:"sha256,omitempty"`
	// Size is its size in bytes.
	Size int64 `json:"size,omitempty"`
}

// Encode writes a lock. The same lock has the same bytes.
func (l *Lock) Encode() []byte {
	const head = "# Written by \"slipway image lock\". Change components.yaml, and lock again.\n"
	sorted := *l
	sorted.Components = slices.Clone(l.Components)
	slices.SortFunc(sorted.Components, func(a, b Component) int { return cmp.Compare(a.Name, b.Name) })
	for i := range sorted.Components {
		c := &sorted.Components[i]
		c.Artifacts = slices.Clone(c.Artifacts)
		slices.SortFunc(c.Artifacts, func(a, b Artifact) int { return cmp.Compare(a.Architecture, b.Architecture) })
		for j := range c.Artifacts {
			a := &c.Artifacts[j]
			a.Files = slices.Clone(a.Files)
			slices.SortFunc(a.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
		}
	}
	tree := document.TreeOf(&sorted, func(reflect.Value) (string, bool) { return "", false })
	return tree.AppendYAML([]byte(head))
}

// Find returns a component by its name, or nil.
func (l *Lock) Find(name string) *Component {
	if l == nil {
		return nil
	}
	i := slices.IndexFunc(l.Components, func(c Component) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &l.Components[i]
}

// For returns the artifact for an architecture, or nil.
func (c *Component) For(architecture string) *Artifact {
	i := slices.IndexFunc(c.Artifacts, func(a Artifact) bool { return a.Architecture == architecture })
	if i < 0 {
		return nil
	}
	return &c.Artifacts[i]
}

// entryLength is the length of an entry's digest, in hexadecimal digits.
const entryLength = 16

// EntryOf returns the digest of a component's entry, with what its kind adds to it.
func EntryOf(w *spec.Whole) string {
	type file struct {
		Members    []string
		Path, Mode string
		Optional   bool
	}
	var files []file
	for _, f := range w.Take {
		files = append(files, file{f.Members, f.Path, f.Mode, f.Optional})
	}
	entry := w.Component
	entry.Files = nil
	data, err := json.Marshal(struct {
		Entry spec.Component
		Files []file
	}{entry, files})
	if err != nil { // impossible for strings
		panic(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:entryLength]
}

package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/integrity"
)

// The manifest's own identity.
const (
	APIVersion = "slipway.dev/v1"
	Kind       = "Bundle"
)

// The names within a bundle.
const (
	// ManifestName is the manifest.
	ManifestName = "manifest.json"
	// Tree is the directory with the files of the node.
	Tree = "root"
)

// Manifest lists the contents of a bundle.
type Manifest struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Slipway is the version of the program that has made the bundle, Config the digest of the contract.
	Slipway string `json:"slipway"`
	Config  string `json:"config"`
	// Digest is the SHA-256 digest of the manifest without it, and so of all that the manifest names.
	Digest string `json:"digest"`
	// Renderings are the documents that a machine can be created with, by their names in the bundle.
	Renderings []Rendering `json:"renderings"`
	// Node is what else has to be known of the node to find what is not part of it.
	Node integrity.Node `json:"node"`
	// Entries are what the node has, by path.
	Entries []Entry `json:"entries"`
}

// Rendering is a document of the bundle.
type Rendering struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// Entry is a file, directory or link of the node.
type Entry struct {
	Path string `json:"path"`
	// Type is "file", "directory" or "link".
	Type string `json:"type"`
	// Mode are permission bits, in octal; a link has none.
	Mode string `json:"mode,omitempty"`
	UID  int    `json:"uid,omitempty"`
	GID  int    `json:"gid,omitempty"`
	// SHA256 is the digest of a file's content, Target where a link leads.
	SHA256 string `json:"sha256,omitempty"`
	Target string `json:"target,omitempty"`
	// Until are paths: the entry is gone when there is a file at each that is not empty.
	Until []string `json:"until,omitempty"`
	// Content is a file's content. It is in the tree, not in the manifest.
	Content []byte `json:"-"`
}

// The types of entries.
const (
	TypeFile      = "file"
	TypeDirectory = "directory"
	TypeLink      = "link"
)

// Mode writes permission bits as an entry has them.
func Mode(bits uint32) string { return fmt.Sprintf("%04o", bits) }

// Sum is the digest of a content.
func Sum(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// encode writes the manifest for people and programs.
func (m *Manifest) encode() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(m)
	return out.Bytes(), err
}

// digest computes the value of Digest.
func (m *Manifest) digest() (string, error) {
	plain := *m
	plain.Digest = ""
	data, err := plain.encode()
	return Sum(data), err
}

// Seal sets the identity and the digest of a manifest, once everything else is there, and sorts its entries.
func (m *Manifest) Seal() (err error) {
	m.APIVersion, m.Kind = APIVersion, Kind
	slices.SortFunc(m.Entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	m.Digest, err = m.digest()
	return err
}

// Read reads the manifest of a bundle, and refuses one that was changed.
func Read(from fs.FS) (*Manifest, error) {
	data, err := readFile(from, ManifestName)
	if err != nil {
		return nil, fmt.Errorf("it is no bundle: %s: %w", ManifestName, cause(err))
	}
	m := new(Manifest)
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(m); err != nil {
		return nil, fmt.Errorf("%s: %w", ManifestName, err)
	}
	if m.APIVersion != APIVersion || m.Kind != Kind {
		return nil, fmt.Errorf("%s is %q %q, and not %q %q", ManifestName, m.APIVersion, m.Kind, APIVersion, Kind)
	}
	if want, err := m.digest(); err != nil || want != m.Digest {
		return nil, fmt.Errorf("%s has been changed since it was written: its digest is %s, and it says %q; render the bundle again", ManifestName, want, m.Digest)
	}
	// What a digest of its meaning does not see: another form, or something behind it.
	if written, err := m.encode(); err != nil || !bytes.Equal(written, data) {
		return nil, fmt.Errorf("%s has been changed since it was written: its meaning is the same, and its form is not; render the bundle again", ManifestName)
	}
	for _, e := range m.Entries {
		if path.Clean(e.Path) != e.Path || !path.IsAbs(e.Path) {
			return nil, fmt.Errorf("%s: %q is no clean absolute path", ManifestName, e.Path)
		}
	}
	return m, nil
}

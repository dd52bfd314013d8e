package bake

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/fetch"
	"github.com/slipway-dev/slipway/internal/image/lock"
)

// imagesDir is where an image has container images: a layout of OCI, whose files have their digests as names.
// https://github.com/opencontainers/image-spec/blob/v1.1.1/image-layout.md
const imagesDir = "/opt/slipway/images"

// blobPath is the path of a file of the layout.
func blobPath(digest string) string { return path.Join(imagesDir, "blobs/sha256", digest) }

// indexType is the type of an index of OCI.
const indexType = "application/vnd.oci.image.index.v1+json"

// layoutVersion is the content of the file that makes a directory a layout.
const layoutVersion = `{"imageLayoutVersion":"1.0.0"}`

// descriptor names the manifest or the index of an image, in the layout's index.json.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Annotations map[string]string `json:"annotations"`
}

// maxManifest limits a manifest or an index of a container image, as registries do.
const maxManifest = 4 << 20

// unknown is the size of a manifest that could not be read.
const unknown = -1

// layout collects the files of the container images.
type layout struct {
	files map[string]file
	index []descriptor
}

// addImages adds the container images of a lock to its files. read returns the manifest or the index with a digest; if that is missing or
// damaged, the files that it names are left out.
func addImages(files map[string]file, l *lock.Lock, architecture string, read func(digest string) ([]byte, error)) error {
	all := layout{files: files}
	for i := range l.Components {
		c := &l.Components[i]
		if a := c.For(architecture); c.Image != nil && a != nil {
			if err := all.image(c, a, read); err != nil {
				return err
			}
		}
	}
	if len(all.index) == 0 {
		return nil
	}
	slices.SortFunc(all.index, func(a, b descriptor) int {
		return strings.Compare(a.Annotations[nameOfImage], b.Annotations[nameOfImage])
	})
	var index bytes.Buffer
	err := cli.WriteJSON(&index, struct {
		SchemaVersion int          `json:"schemaVersion"`
		MediaType     string       `json:"mediaType"`
		Manifests     []descriptor `json:"manifests"`
	}{2, indexType, all.index})
	all.record("index.json", index.Bytes())
	all.record("oci-layout", []byte(layoutVersion))
	return err
}

// The annotations of an image's name: containerd's, and that of OCI, which is the tag alone.
const (
	nameOfImage = "io.containerd.image.name"
	tagOfImage  = "org.opencontainers.image.ref.name"
)

// image adds one image: its index, if it has one, the manifest for the architecture, the config and the layers. The layout has the image
// under each of its references, because a mirror's name is not the one that a contract has.
func (a *layout) image(c *lock.Component, artifact *lock.Artifact, read func(digest string) ([]byte, error)) error {
	blob := func(digest string, size int64) {
		a.files[blobPath(digest)] = file{
			File: lock.File{Path: blobPath(digest), SHA256: digest, Size: size}, component: c, archive: digest, source: c.Image.References[0], mode: 0o644}
	}
	for n, digest := range slices.Compact([]string{c.Image.SHA256(), artifact.SHA256}) {
		data, err := read(digest)
		if err != nil {
			return fmt.Errorf("the manifest of %s: %w", c.Name, err)
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != digest {
			blob(digest, unknown)
			return nil
		}
		image, err := fetch.ParseImage(data)
		if err != nil {
			return fmt.Errorf("the manifest of %s: %w", c.Name, err)
		}
		blob(digest, int64(len(data)))
		for _, content := range image.Blobs {
			blob(content.SHA256, content.Bytes)
		}
		if n > 0 {
			continue
		}
		var typed struct {
			MediaType string `json:"mediaType"`
		}
		if err := json.Unmarshal(data, &typed); err != nil {
			return fmt.Errorf("the manifest of %s: %w", c.Name, err)
		}
		if typed.MediaType == "" { // a manifest of OCI need not have it
			typed.MediaType = "application/vnd.oci.image.manifest.v1+json"
			if len(image.Manifests) > 0 {
				typed.MediaType = indexType
			}
		}
		for _, reference := range c.Image.References {
			_, tag, _ := strings.Cut(path.Base(reference), ":")
			a.index = append(a.index, descriptor{typed.MediaType, "sha256:" + digest, int64(len(data)), map[string]string{nameOfImage: reference, tagOfImage: tag}})
		}
	}
	return nil
}

// record adds a file that is made here, and is in no archive.
func (a *layout) record(name string, content []byte) {
	sum := sha256.Sum256(content)
	at := path.Join(imagesDir, name)
	a.files[at] = file{
		File: lock.File{Path: at, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(content))}, component: &lock.Component{Name: "images"}, mode: 0o644, content: content}
}

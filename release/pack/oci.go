package pack

import (
	"bytes"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/slipway-dev/slipway/release/product"
)

// AgentType is the media type of an artefact with the agent. Its one layer is the archive of the release.
const AgentType = "application/vnd.slipway.agent.v1"

// Part is an image for a platform.
type Part struct {
	Platform product.Platform
	Image    v1.Image
}

// unprivileged is the user of the image: neither root nor a user of the host.
const unprivileged = "65532:65532"

// Image is a container image that has one program, and runs it as an unprivileged user. It has no shell and no certificate authorities.
func Image(p *product.Program, platform product.Platform, program []byte, version, commit string, at time.Time) (v1.Image, error) {
	files := []File{{Name: "usr/bin/" + p.Name, Content: program, Mode: 0o755}}
	archive, err := Tar("", files, at)
	if err != nil {
		return nil, err
	}
	image := mutate.MediaType(mutate.ConfigMediaType(empty.Image, types.OCIConfigJSON), types.OCIManifestSchema1)
	image, err = mutate.Append(image, mutate.Addendum{
		Layer: static.NewLayer(archive, types.OCILayer), History: v1.History{Created: v1.Time{Time: at}, CreatedBy: "slipway's release"},
	})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = platform.OS, platform.Architecture, v1.Time{Time: at}
	config.Config = v1.Config{Entrypoint: []string{"/usr/bin/" + p.Name}, User: unprivileged, WorkingDir: "/work", Labels: labels(p, version, commit)}
	return mutate.ConfigFile(image, config)
}

// Artefact is the archive of a program as an artefact of a registry, which a lock of components can name.
func Artefact(p *product.Program, archive []byte, version, commit string) (v1.Image, error) {
	image := mutate.MediaType(mutate.ConfigMediaType(empty.Image, AgentType), types.OCIManifestSchema1)
	image, err := mutate.Append(image, mutate.Addendum{Layer: static.NewLayer(archive, types.OCILayer)})
	if err != nil {
		return nil, err
	}
	return mutate.Annotations(image, labels(p, version, commit)).(v1.Image), nil
}

func labels(p *product.Program, version, commit string) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       p.Name,
		"org.opencontainers.image.description": p.Summary,
		"org.opencontainers.image.version":     version,
		"org.opencontainers.image.revision":    commit,
		"org.opencontainers.image.source":      product.Homepage,
		"org.opencontainers.image.licenses":    product.License,
	}
}

// Layout writes an index of images as an archive of an OCI layout, which "skopeo copy oci-archive:FILE" and "crane push" read. scratch is an
// empty directory.
func Layout(parts []Part, name, scratch string, at time.Time) ([]byte, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range parts {
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: p.Image, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: p.Platform.OS, Architecture: p.Platform.Architecture},
		}})
	}
	l, err := layout.Write(scratch, empty.Index)
	if err != nil {
		return nil, err
	}
	if err := l.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": name})); err != nil {
		return nil, err
	}
	var files []File
	err = filepath.WalkDir(scratch, func(at string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(scratch, at)
		files = append(files, File{Name: filepath.ToSlash(relative), Content: content, Mode: 0o644})
		return err
	})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = writeTar(&b, "", files, at)
	return b.Bytes(), err
}

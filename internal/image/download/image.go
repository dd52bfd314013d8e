package download

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/slipway-dev/slipway/internal/fetch"
)

// Image brings the manifest or index of an image into the cache. digest is its digest in hexadecimal; if empty, the references' tags
// select it.
func (g *Getter) Image(ctx context.Context, references []string, digest string) (*fetch.Image, error) {
	if digest != "" {
		held, err := g.File(ctx, Wanted{SHA256: digest, MaxBytes: maxDocument}) // from the cache or a directory
		if isOwn(err) {
			return nil, err
		}
		if err == nil {
			data, err := g.Cache.Data(held.SHA256, maxDocument)
			if err != nil {
				return nil, err
			}
			return fetch.ParseImage(data)
		}
		if g.Client == nil {
			return nil, err
		}
	}
	if g.Client == nil {
		return nil, errors.New("is in a registry, and no server is asked")
	}
	image, err := g.Client.Image(ctx, references, digest)
	if err != nil {
		return nil, err
	}
	_, err = g.Cache.PutData(image.Data)
	return image, err
}

// Manifest returns an image's manifest for an architecture, from its index or the image itself.
func (g *Getter) Manifest(ctx context.Context, references []string, image *fetch.Image, architecture string) (*fetch.Image, error) {
	if len(image.Manifests) == 0 {
		return image, g.checkConfig(ctx, references, image, architecture)
	}
	i := slices.IndexFunc(image.Manifests, func(c fetch.Content) bool {
		return c.Platform.Architecture == architecture && (c.Platform.OS == "" || c.Platform.OS == "linux")
	})
	if i < 0 {
		var have []string
		for _, m := range image.Manifests {
			have = append(have, m.Platform.String())
		}
		return nil, fmt.Errorf("the image has nothing for linux/%s, but for %q", architecture, have)
	}
	m, err := g.Image(ctx, references, image.Manifests[i].SHA256)
	if err == nil && len(m.Blobs) == 0 {
		err = errors.New("the image's index leads to another index")
	}
	return m, err
}

// checkConfig refuses an image that is for another architecture by its config.
func (g *Getter) checkConfig(ctx context.Context, references []string, image *fetch.Image, architecture string) error {
	config := image.Blobs[0]
	got, err := g.File(ctx, Wanted{Sources: references, SHA256: config.SHA256, Blob: true, MaxBytes: maxDocument})
	if err != nil {
		return err
	}
	data, err := g.Cache.Data(got.SHA256, maxDocument)
	if err != nil {
		return err
	}
	var is struct{ OS, Architecture string }
	if json.Unmarshal(data, &is) != nil || is.Architecture != architecture || is.OS != "linux" {
		return fmt.Errorf("the image is for %.40q/%.40q, and not for linux/%s", is.OS, is.Architecture, architecture)
	}
	return nil
}

// Size is the size of an image for one platform: manifest, config and layers.
func Size(manifest *fetch.Image) int64 {
	size := int64(len(manifest.Data))
	for _, b := range manifest.Blobs {
		size += b.Bytes
	}
	return size
}

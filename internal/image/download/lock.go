package download

import (
	"context"
	"errors"
	"slices"

	"github.com/slipway-dev/slipway/internal/fetch"
	"github.com/slipway-dev/slipway/internal/image/fault"
	"github.com/slipway-dev/slipway/internal/image/lock"
	"github.com/slipway-dev/slipway/internal/parallel"
)

// Fetched is a component's file, or image, that the cache has.
type Fetched struct {
	Component    string `json:"component"`
	Architecture string `json:"architecture"`
	SHA256       string `json:"sha256"`
	Bytes        int64  `json:"bytes"`
	// From is its source. It is empty if the cache had it.
	From string `json:"from,omitempty"`
	// Resumed is the part that an earlier run had downloaded.
	Resumed int64 `json:"resumed,omitempty"`
}

// atATime is how many files are fetched at a time.
const atATime = 4

// Lock brings everything that a lock names into the cache, for these architectures. done is called for each file that has come. The
// error joins those of all components, each a *fault.Error.
func (g *Getter) Lock(ctx context.Context, l *lock.Lock, architectures []string, done func(Fetched)) ([]Fetched, error) {
	type work struct {
		component *lock.Component
		artifact  *lock.Artifact
	}
	var all []work
	for i := range l.Components {
		c := &l.Components[i]
		for j := range c.Artifacts {
			if slices.Contains(architectures, c.Artifacts[j].Architecture) {
				all = append(all, work{c, &c.Artifacts[j]})
			}
		}
	}
	fetched, errs := make([]Fetched, len(all)), make([]error, len(all))
	parallel.Each(len(all), atATime, func(i int) {
		w := all[i]
		f := Fetched{Component: w.component.Name, Architecture: w.artifact.Architecture, SHA256: w.artifact.SHA256}
		var err error
		if w.component.Image != nil {
			err = g.image(ctx, w.component, w.artifact, &f)
		} else {
			err = g.artifact(ctx, w.component, w.artifact, &f)
		}
		if err != nil {
			errs[i] = fault.Of(f.Component, f.Architecture, err, "run the command again")
			return
		}
		fetched[i] = f
		done(f)
	})
	return fetched, errors.Join(errs...)
}

// artifact brings the file of a component.
func (g *Getter) artifact(ctx context.Context, c *lock.Component, a *lock.Artifact, f *Fetched) error {
	got, err := g.File(ctx, Wanted{
		Name: c.Name + " " + a.Architecture, Sources: a.Sources, SHA256: a.SHA256, Architecture: a.Architecture, MaxBytes: a.Size,
	})
	f.Bytes, f.From, f.Resumed = got.Bytes, got.From, got.Resumed
	return err
}

// image brings the index, the manifest, the config and the layers of an image.
func (g *Getter) image(ctx context.Context, c *lock.Component, a *lock.Artifact, f *Fetched) error {
	digest := c.Image.SHA256()
	index, err := g.Image(ctx, c.Image.References, digest)
	if err != nil {
		return err
	}
	f.From = index.From
	manifest := index
	if digest != a.SHA256 {
		if !slices.ContainsFunc(index.Manifests, func(m fetch.Content) bool { return m.SHA256 == a.SHA256 }) {
			return errors.New("the image's index does not have the lock's manifest")
		}
		if manifest, err = g.Image(ctx, c.Image.References, a.SHA256); err != nil {
			return err
		}
	}
	if Size(manifest) != a.Size {
		return errors.New("the image's size is not the lock's")
	}
	f.Bytes = a.Size
	for _, blob := range manifest.Blobs {
		got, err := g.File(ctx, Wanted{
			Name: c.Name + " " + a.Architecture, Sources: c.Image.References, SHA256: blob.SHA256, Blob: true, MaxBytes: blob.Bytes,
		})
		if err != nil {
			return err
		}
		if got.From != "" {
			f.From = got.From
		}
		f.Resumed += got.Resumed
	}
	return nil
}

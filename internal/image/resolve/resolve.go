// Package resolve makes the lock of a node image: it finds the newest version of each range, brings the files into the cache, and
// notes their digests and what is in them.
//
// A component whose entry in the document is unchanged stays as the earlier lock has it, and no server is asked for it. A digest that
// an earlier lock has for the same version counts: another file at the same source is an error. cmd/slipway's commands call it.
package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/image/download"
	"github.com/slipway-dev/slipway/internal/image/fault"
	"github.com/slipway-dev/slipway/internal/image/lock"
	"github.com/slipway-dev/slipway/internal/image/spec"
	"github.com/slipway-dev/slipway/internal/parallel"
	"github.com/slipway-dev/slipway/internal/versions"
)

// Request is what to lock.
type Request struct {
	// Document is valid.
	Document *spec.Document
	// Previous is the earlier lock. It may be nil.
	Previous *lock.Lock
	// Updates are the components to look at again, by name, each with its wanted version or with "", which is the newest.
	Updates map[string]string
}

// Note is a remark about a component that is locked.
type Note struct{ Component, Text string }

// atATime is how many components are resolved at a time.
const atATime = 4

// Lock resolves all components. The error joins those of all components, each a *fault.Error.
func Lock(ctx context.Context, g *download.Getter, r Request) (*lock.Lock, []Note, error) {
	wholes := r.Document.Wholes()
	if err := r.checkUpdates(wholes); err != nil {
		return nil, nil, err
	}
	components, errs := make([]*lock.Component, len(wholes)), make([]error, len(wholes))
	var notes notebook
	parallel.Each(len(wholes), atATime, func(i int) {
		w := &wholes[i]
		previous := r.Previous.Find(w.Name)
		pinned, update := r.Updates[w.Name]
		if previous != nil && !update && previous.Entry == lock.EntryOf(w) {
			components[i] = previous
			return
		}
		c := &component{Getter: g, whole: w, previous: previous, pinned: pinned, update: update, notes: &notes}
		components[i], errs[i] = c.resolve(ctx)
	})
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	l := &lock.Lock{APIVersion: lock.APIVersion, Kind: lock.Kind, Base: r.Document.Base}
	for _, c := range components {
		l.Components = append(l.Components, *c)
	}
	return l, notes.sorted(), nil
}

// Stale returns the names of components whose entry in the document differs from the lock's, or that only one of the two has. It
// includes "base" if the base differs.
func Stale(d *spec.Document, l *lock.Lock) (names []string) {
	wholes := d.Wholes()
	for i := range wholes {
		if c := l.Find(wholes[i].Name); c == nil || c.Entry != lock.EntryOf(&wholes[i]) {
			names = append(names, wholes[i].Name)
		}
	}
	for _, c := range l.Components {
		if !slices.ContainsFunc(wholes, func(w spec.Whole) bool { return w.Name == c.Name }) {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	if !reflect.DeepEqual(cmp.Or(d.Base, new(spec.Base)), cmp.Or(l.Base, new(spec.Base))) {
		names = append(names, "base")
	}
	return names
}

// checkUpdates refuses an update of a missing component, or to a version that the document does not allow.
func (r *Request) checkUpdates(wholes []spec.Whole) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(r.Updates)) {
		version := r.Updates[name]
		i := slices.IndexFunc(wholes, func(w spec.Whole) bool { return w.Name == name })
		switch {
		case i < 0:
			var known []string
			for _, w := range wholes {
				known = append(known, w.Name)
			}
			errs = append(errs, fault.Of(name, "", errors.New("the document has no such component"), "it has "+strings.Join(known, ", ")))
		case version != "" && !wholes[i].Range.Has(version):
			errs = append(errs, fault.Of(name, "", fmt.Errorf("version %q is not in %s, which the document wants", version, wholes[i].Range), "change its version in the document first"))
		}
	}
	return errors.Join(errs...)
}

// notebook collects notes of several goroutines.
type notebook struct {
	mu  sync.Mutex
	all []Note
}

func (n *notebook) add(component, format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, Note{component, fmt.Sprintf(format, args...)})
}

func (n *notebook) sorted() []Note {
	slices.SortFunc(n.all, func(a, b Note) int {
		return cmp.Or(strings.Compare(a.Component, b.Component), strings.Compare(a.Text, b.Text))
	})
	return n.all
}

// component is one that is being resolved.
type component struct {
	*download.Getter
	whole    *spec.Whole
	previous *lock.Component
	pinned   string
	update   bool
	notes    *notebook
	// unchecked are the architectures whose file came from a server without a digest that was known before.
	unchecked []string
}

func (c *component) failed(architecture string, err error) error {
	return fault.Of(c.whole.Name, architecture, err, "correct the component in components.yaml")
}

func (c *component) resolve(ctx context.Context) (*lock.Component, error) {
	version, err := c.version(ctx)
	if err != nil {
		return nil, c.failed("", err)
	}
	w := c.whole
	locked := &lock.Component{
		Name: w.Name, Kind: w.Kind, Version: version, License: w.License, Kubernetes: w.Kubernetes, Entry: lock.EntryOf(w), Wanted: w.Version,
	}
	if locked.Kubernetes, err = serves(w, version); err != nil {
		return nil, c.failed("", err)
	}
	if w.Row.Image {
		return locked, c.image(ctx, locked)
	}
	for _, architecture := range w.Architectures {
		a, err := c.artifact(ctx, version, architecture)
		if err != nil {
			return nil, c.failed(architecture, err)
		}
		locked.Artifacts = append(locked.Artifacts, *a)
	}
	if len(c.unchecked) > 0 {
		c.notes.add(w.Name, "(%s): the digest is that of the file that came; name checksums or sha256 to check it", strings.Join(c.unchecked, ", "))
	}
	return locked, nil
}

// serves returns the versions of Kubernetes that a component serves. A kubelet serves its own.
func serves(w *spec.Whole, version string) ([]string, error) {
	minor, ok := versions.Minor(version)
	if !w.Row.Kubernetes {
		return w.Kubernetes, nil
	}
	if !ok {
		return nil, fmt.Errorf("%q is not a version of Kubernetes", version)
	}
	own := fmt.Sprintf("1.%d", minor)
	if len(w.Kubernetes) > 0 && !slices.Contains(w.Kubernetes, own) {
		return nil, fmt.Errorf("is for Kubernetes %s in the document, and its version is %s", strings.Join(w.Kubernetes, ", "), version)
	}
	return []string{own}, nil
}

// image notes an image's digest, and its size for each architecture.
func (c *component) image(ctx context.Context, locked *lock.Component) error {
	w := c.whole
	values := spec.Values{Name: w.Name, Version: locked.Version}
	var references []string
	for _, source := range w.Sources {
		references = append(references, values.Expand(source))
	}
	digest := ""
	if p := c.previous; p != nil && p.Image != nil && p.Version == locked.Version && !c.update {
		digest = p.Image.SHA256()
	}
	image, err := c.Image(ctx, references, digest)
	if err != nil {
		return c.failed("", err)
	}
	locked.Image = lock.NewImage(references, image.SHA256)
	for _, architecture := range w.Architectures {
		m, err := c.Manifest(ctx, references, image, architecture)
		if err != nil {
			return c.failed(architecture, err)
		}
		locked.Artifacts = append(locked.Artifacts, lock.Artifact{Architecture: architecture, SHA256: m.SHA256, Size: download.Size(m)})
	}
	return nil
}

// artifact brings the file for an architecture, and notes what is in it.
func (c *component) artifact(ctx context.Context, version, architecture string) (*lock.Artifact, error) {
	w := c.whole
	values := spec.Values{Name: w.Name, Version: version, Arch: architecture}
	a := &lock.Artifact{Architecture: architecture}
	for _, source := range w.Sources {
		a.Sources = append(a.Sources, values.Expand(source))
	}
	known, err := c.digest(ctx, values, a.Sources)
	if err != nil {
		return nil, err
	}
	want := download.Wanted{
		Name: w.Name + " " + architecture, Sources: a.Sources, SHA256: known, Architecture: architecture, MaxBytes: lock.MaxSize,
	}
	got, err := c.File(ctx, want)
	if err != nil {
		return nil, err
	}
	if !got.Checked && !got.Local {
		c.unchecked = append(c.unchecked, architecture)
	}
	a.SHA256, a.Size = got.SHA256, got.Bytes
	if a.Files, err = c.files(got.SHA256, values); err != nil {
		if got.From != "" { // it came for nothing
			err = errors.Join(fmt.Errorf("%s: %w", got.From, err), c.Cache.Remove(got.SHA256))
		}
		return nil, err
	}
	return a, nil
}

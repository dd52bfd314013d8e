// Package changes compares what two node images have, by their locks or their component manifests, and writes the difference like
// release notes. It parses bytes and does no I/O. cmd/slipway's commands call it.
package changes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/image/kind"
	"github.com/slipway-dev/slipway/internal/image/lock"
	"github.com/slipway-dev/slipway/internal/image/spec"
	"github.com/slipway-dev/slipway/internal/versions"
)

// Side is what one image has.
type Side struct {
	base  string
	items map[string]item
	// sizes are the bytes to download by architecture. It is nil for a manifest.
	sizes map[string]int64
}

// item is a component.
type item struct {
	version, license string
	// isKubelet reports that kubernetes are the versions that an image of it serves.
	isKubelet  bool
	kubernetes []string
	// digests and sources are by architecture, files the digests by path; a manifest's digest is in files.
	digests, sources map[string]string
	sizes            map[string]int64
	files            map[string]string
}

// OfLock is what a lock has.
func OfLock(l *lock.Lock) Side {
	s := Side{items: make(map[string]item), sizes: make(map[string]int64)}
	if l == nil {
		return s
	}
	if l.Base != nil {
		s.base = l.Base.Suite + " " + l.Base.Snapshot
	}
	for _, c := range l.Components {
		it := newItem(c.Version)
		it.license, it.kubernetes, it.isKubelet = c.License, c.Kubernetes, c.Kind == kind.Kubelet
		for _, a := range c.Artifacts {
			it.digests[a.Architecture], it.sizes[a.Architecture] = a.SHA256, a.Size
			it.sources[a.Architecture] = strings.Join(a.Sources, ", ")
			s.sizes[a.Architecture] += a.Size
			for _, f := range a.Files {
				it.files[f.Path] = f.Mode
			}
		}
		if c.Image != nil {
			it.digests[""], it.sources[""] = c.Image.Digest, strings.Join(c.Image.References, ", ")
		}
		s.items[c.Name] = it
	}
	return s
}

func newItem(version string) item {
	return item{version: version, digests: make(map[string]string), sources: make(map[string]string), sizes: make(map[string]int64), files: make(map[string]string)}
}

// OfManifest is what an image's component manifest has. If it has several versions of a component, each is a separate item.
func OfManifest(m *components.Manifest) Side {
	s := Side{items: make(map[string]item)}
	if m.Made != nil && m.Made.Suite != "" {
		s.base = m.Made.Suite + " " + m.Made.Snapshot
	}
	times := make(map[string]int)
	for _, c := range m.Components {
		times[c.Name]++
	}
	for _, c := range m.Components {
		name := c.Name
		if times[name] > 1 {
			name += " " + c.Path
		}
		it := newItem(c.Version)
		it.digests[""], it.files[c.Path], it.license = c.SHA256, "", c.License
		if minor, ok := versions.Minor(c.Version); ok && c.Name == kind.Kubelet {
			it.isKubelet, it.kubernetes = true, []string{fmt.Sprintf("1.%d", minor)}
		}
		s.items[name] = it
	}
	return s
}

// Changes are the differences between two images.
type Changes struct {
	// Base is the change of the distribution below the components, if any.
	Base *Pair `json:"base,omitempty"`
	// Kubernetes are the minor versions that only one of the images serves.
	Kubernetes *Served `json:"kubernetes,omitempty"`
	// Components are sorted by what has happened, and by name.
	Components []Change `json:"components"`
	// Bytes are the sizes of all components by architecture.
	Bytes map[string]Bytes `json:"bytes,omitempty"`
}

// Pair is a value before and after.
type Pair struct {
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// Served are versions of Kubernetes.
type Served struct {
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

// Bytes are a size before and after.
type Bytes struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// What has happened to a component, in the order of the notes.
const (
	Added      = "added"
	Upgraded   = "upgraded"
	Downgraded = "downgraded"
	Replaced   = "replaced"
	Changed    = "changed"
	Removed    = "removed"
)

var order = []string{Added, Upgraded, Downgraded, Replaced, Changed, Removed}

// Change is the difference of one component.
type Change struct {
	Name string `json:"name"`
	// What is one of the words above.
	What string `json:"what"`
	// From and To are the versions.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Details are the other differences, a sentence each.
	Details []string `json:"details,omitempty"`
}

// Same reports whether the images have the same.
func (c *Changes) Same() bool { return c.Base == nil && c.Kubernetes == nil && len(c.Components) == 0 }

// Between compares two images.
func Between(a, b Side) *Changes {
	c := &Changes{Components: []Change{}, Bytes: bytesOf(a.sizes, b.sizes)}
	if a.base != b.base {
		c.Base = &Pair{a.base, b.base}
	}
	added, removed := onlyIn(b.kubernetes(), a.kubernetes()), onlyIn(a.kubernetes(), b.kubernetes())
	if len(added)+len(removed) > 0 {
		c.Kubernetes = &Served{added, removed}
	}
	for name, before := range a.items {
		after, stays := b.items[name]
		if !stays {
			c.Components = append(c.Components, Change{Name: name, What: Removed, From: before.version})
		} else if change := compare(name, &before, &after); change != nil {
			c.Components = append(c.Components, *change)
		}
	}
	for name, after := range b.items {
		if _, was := a.items[name]; !was {
			c.Components = append(c.Components, Change{Name: name, What: Added, To: after.version, Details: after.introduced()})
		}
	}
	slices.SortFunc(c.Components, func(a, b Change) int {
		return cmp.Or(slices.Index(order, a.What)-slices.Index(order, b.What), strings.Compare(a.Name, b.Name))
	})
	return c
}

// introduced describes a new component.
func (i *item) introduced() (details []string) {
	if len(i.files) > 0 {
		details = append(details, "at "+strings.Join(slices.Sorted(maps.Keys(i.files)), ", "))
	}
	if i.license != "" {
		details = append(details, "licence "+i.license)
	}
	return details
}

// kubernetes are the minor versions that the image's kubelets serve.
func (s *Side) kubernetes() (all []string) {
	for _, it := range s.items {
		if it.isKubelet {
			all = append(all, it.kubernetes...)
		}
	}
	slices.SortFunc(all, spec.Compare)
	return slices.Compact(all)
}

func onlyIn(these, others []string) []string {
	return slices.DeleteFunc(slices.Clone(these), func(v string) bool { return slices.Contains(others, v) })
}

func bytesOf(a, b map[string]int64) map[string]Bytes {
	all := make(map[string]Bytes)
	for architecture := range a {
		all[architecture] = Bytes{From: a[architecture], To: b[architecture]}
	}
	for architecture := range b {
		all[architecture] = Bytes{From: a[architecture], To: b[architecture]}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// compare returns the difference of a component, or nil.
func compare(name string, a, b *item) *Change {
	c := &Change{Name: name, What: Changed, From: a.version, To: b.version}
	if a.version == b.version && !maps.Equal(a.digests, b.digests) {
		c.What = Replaced
		for _, architecture := range slices.Sorted(maps.Keys(b.digests)) {
			if was := a.digests[architecture]; was != "" && was != b.digests[architecture] {
				c.Details = append(c.Details, strings.TrimSpace(architecture+" digest")+" "+short(was)+" → "+short(b.digests[architecture]))
			}
		}
	}
	switch order := spec.Compare(a.version, b.version); {
	case order < 0:
		c.What = Upgraded
	case order > 0:
		c.What = Downgraded
	}
	c.Details = append(c.Details, a.moved(b)...)
	for _, architecture := range slices.Sorted(maps.Keys(b.sizes)) {
		if was, is := a.sizes[architecture], b.sizes[architecture]; was != 0 && was != is {
			c.Details = append(c.Details, fmt.Sprintf("%s: %s → %s", architecture, cli.Size(was), cli.Size(is)))
		}
	}
	if a.version == b.version && a.sourcesChanged(b) {
		c.Details = append(c.Details, "comes from other sources")
	}
	if a.version == b.version && len(c.Details) == 0 {
		return nil
	}
	return c
}

func (i *item) sourcesChanged(b *item) bool { return !maps.Equal(i.sources, b.sources) }

// moved are the differences of paths, licences, architectures and served versions.
func (i *item) moved(b *item) (details []string) {
	list := func(text string, added []string) {
		if len(added) > 0 {
			details = append(details, text+" "+strings.Join(added, ", "))
		}
	}
	pathsA, pathsB := slices.Sorted(maps.Keys(i.files)), slices.Sorted(maps.Keys(b.files))
	list("new files", onlyIn(pathsB, pathsA))
	list("files that are gone:", onlyIn(pathsA, pathsB))
	for _, path := range pathsB {
		if mode, was := i.files[path]; was && mode != b.files[path] {
			details = append(details, path+" has another mode")
		}
	}
	architecturesA, architecturesB := slices.Sorted(maps.Keys(i.digests)), slices.Sorted(maps.Keys(b.digests))
	list("new for", onlyIn(architecturesB, architecturesA))
	list("no longer for", onlyIn(architecturesA, architecturesB))
	if len(i.kubernetes) != 1 || len(b.kubernetes) != 1 { // a kubelet serves one, that of its version
		list("now also serves Kubernetes", onlyIn(b.kubernetes, i.kubernetes))
		list("no longer serves Kubernetes", onlyIn(i.kubernetes, b.kubernetes))
	}
	if i.license != b.license && i.license != "" && b.license != "" {
		details = append(details, "licence "+i.license+" → "+b.license)
	}
	return details
}

// short is a digest for people.
func short(digest string) string {
	digest = strings.TrimPrefix(digest, "sha256:")
	return digest[:min(12, len(digest))]
}

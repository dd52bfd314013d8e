package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/resource"
)

// comparison is how two plans differ. It is the JSON form too, and holds nothing of a secret.
type comparison struct {
	A       side                `json:"a"`
	B       side                `json:"b"`
	Same    bool                `json:"same"`
	Added   []resource.Resource `json:"added"`
	Removed []resource.Resource `json:"removed"`
	Changed []changedResource   `json:"changed"`
	// Restarts are the units that restart when a machine goes from A to B.
	Restarts []string `json:"restarts"`
}

// changedResource is a resource that both plans have, and not alike.
type changedResource struct {
	ID resource.ID `json:"id"`
	// Fields are what differs but for a file's content.
	Fields []changedField `json:"fields,omitempty"`
	// Content is the unified diff of a file's content. It is empty where the content is secret or is
	// no text.
	Content string `json:"content,omitempty"`
	// ContentDiffers tells that the content differs, were it secret.
	ContentDiffers bool `json:"contentDiffers,omitempty"`
	Secret         bool `json:"secret,omitempty"`
	spec           resource.Spec
	restarts       []string
}

// changedField is a field of a resource by its JSON path, with its values as JSON.
type changedField struct {
	Path string          `json:"path"`
	Old  json.RawMessage `json:"old,omitempty"`
	New  json.RawMessage `json:"new,omitempty"`
}

// compare compares two plans.
func compare(a, b side) *comparison {
	c := &comparison{
		A: a, B: b,
		Added: []resource.Resource{}, Removed: []resource.Resource{}, Changed: []changedResource{}, Restarts: []string{},
	}
	before, after := byID(a.plan), byID(b.plan)
	for _, r := range a.plan.Resources {
		other, ok := after[r.ID()]
		switch {
		case !ok:
			c.Removed = append(c.Removed, r)
			c.Restarts = append(c.Restarts, r.Restarts...)
		default:
			if changed, differs := compareResources(r, other); differs {
				c.Changed = append(c.Changed, changed)
				c.Restarts = append(c.Restarts, changed.restarts...)
			}
		}
	}
	for _, r := range b.plan.Resources {
		if _, ok := before[r.ID()]; !ok {
			c.Added = append(c.Added, r)
			c.Restarts = append(c.Restarts, r.Restarts...)
		}
	}
	slices.Sort(c.Restarts)
	c.Restarts = slices.Compact(c.Restarts)
	c.Same = len(c.Added)+len(c.Removed)+len(c.Changed) == 0
	return c
}

func byID(p resource.Plan) map[resource.ID]resource.Resource {
	m := make(map[resource.ID]resource.Resource, len(p.Resources))
	for _, r := range p.Resources {
		m[r.ID()] = r
	}
	return m
}

// compareResources compares two resources of one ID.
func compareResources(a, b resource.Resource) (changedResource, bool) {
	c := changedResource{ID: a.ID(), spec: b.Spec, restarts: slices.Concat(a.Restarts, b.Restarts)}
	for _, d := range treeDiff("$", comparable(a), comparable(b)) {
		c.Fields = append(c.Fields, changedField{strings.TrimPrefix(d.path, "$."), jsonOf(d.old), jsonOf(d.new)})
	}
	if from, ok := a.Spec.(*resource.File); ok {
		c.compareContent(from, b.Spec.(*resource.File))
	}
	return c, len(c.Fields) > 0 || c.ContentDiffers
}

// comparable is what counts of a resource when it is compared, as JSON, so that a plan that comes
// from JSON and one that does not compare alike. A file's content is compared by itself.
func comparable(r resource.Resource) *document.Node {
	data, err := json.Marshal(r)
	must(err)
	n := parseTree(data)
	for _, ignored := range []string{"id", "kind", "requires", "reason"} {
		n = with(n, []step{field(ignored)}, nil)
	}
	if r.Spec.Kind() == "File" {
		for _, content := range []string{"content", "base64", "fingerprint"} {
			n = with(n, []step{field("spec"), field(content)}, nil)
		}
	}
	return n
}

func (c *changedResource) compareContent(a, b *resource.File) {
	c.Secret = a.Secret || b.Secret
	switch {
	case c.Secret:
		c.ContentDiffers = a.Fingerprint() != b.Fingerprint()
	case bytes.Equal(a.Content, b.Content):
	case !utf8.Valid(a.Content) || !utf8.Valid(b.Content):
		c.ContentDiffers = true
	default:
		c.ContentDiffers = true
		c.Content = string(diff.Diff("a"+a.Path, a.Content, "b"+b.Path, b.Content))
	}
}

func jsonOf(n *document.Node) json.RawMessage {
	if n == nil {
		return nil
	}
	return n.AppendJSON(nil)
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
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
func compare(a, b side) (*comparison, error) {
	c := &comparison{
		A: a, B: b,
		Added: []resource.Resource{}, Removed: []resource.Resource{}, Changed: []changedResource{}, Restarts: []string{},
	}
	before, after := byID(a.plan), byID(b.plan)
	for _, r := range a.plan.Resources {
		other, ok := after[r.ID()]
		if !ok {
			c.Removed = append(c.Removed, r)
			c.Restarts = append(c.Restarts, r.Restarts...)
		} else {
			changed, err := compareResources(r, other)
			if err != nil {
				return nil, err
			}
			if len(changed.Fields) > 0 || changed.ContentDiffers {
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
	return c, nil
}

func byID(p resource.Plan) map[resource.ID]resource.Resource {
	m := make(map[resource.ID]resource.Resource, len(p.Resources))
	for _, r := range p.Resources {
		m[r.ID()] = r
	}
	return m
}

// compareResources compares two resources of one ID.
func compareResources(a, b resource.Resource) (changedResource, error) {
	c := changedResource{ID: a.ID(), spec: b.Spec, restarts: slices.Concat(a.Restarts, b.Restarts)}
	before, err := comparedPart(a)
	if err != nil {
		return c, err
	}
	after, err := comparedPart(b)
	if err != nil {
		return c, err
	}
	for _, d := range treeDiff("$", before, after) {
		c.Fields = append(c.Fields, changedField{strings.TrimPrefix(d.path, "$."), jsonOf(d.old), jsonOf(d.new)})
	}
	if from, ok := a.Spec.(*resource.File); ok {
		c.compareContent(from, b.Spec.(*resource.File))
	}
	return c, nil
}

// notCompared are the parts of a resource that do not count when it is compared: those that are the
// same for one ID, those that change nothing on the machine, and a file's content, which is compared
// by itself.
var notCompared = [][]step{
	{field("id")}, {field("kind")}, {field("requires")}, {field("reason")},
	{field("spec"), field("content")}, {field("spec"), field("base64")}, {field("spec"), field("fingerprint")},
}

// comparedPart is what counts of a resource when it is compared. It is taken from its JSON, so that
// a plan that was read and one that was made compare alike.
func comparedPart(r resource.Resource) (*document.Node, error) {
	if file, ok := r.Spec.(*resource.File); ok {
		bare := *file
		bare.Content = nil
		r.Spec = &bare
	}
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("resource %s: %w", r.ID(), err)
	}
	n, err := document.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("resource %s: %w", r.ID(), err)
	}
	for _, part := range notCompared {
		n = with(n, part, nil)
	}
	return n, nil
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

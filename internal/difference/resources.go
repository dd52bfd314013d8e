package difference

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

// compareResources compares two resources of one ID.
func compareResources(a, b resource.Resource) (Change, error) {
	c := Change{ID: a.ID(), spec: b.Spec}
	before, err := comparedPart(a)
	if err != nil {
		return c, err
	}
	after, err := comparedPart(b)
	if err != nil {
		return c, err
	}
	for _, d := range document.Diff("$", before, after) {
		c.Fields = append(c.Fields, Field{strings.TrimPrefix(d.Path, "$."), jsonOf(d.Old), jsonOf(d.New)})
	}
	if text := resource.KindOf(a.Spec).Text; text != nil {
		c.compareContent(text(a.Spec), text(b.Spec))
	}
	return c, nil
}

// The parts of a resource, and of its spec, that do not count when it is compared: those that are the
// same for one ID, those that change nothing on the machine, and content, which is compared as text.
var (
	notCompared       = []string{"id", "kind", "requires", "reason", "takes"}
	notComparedInSpec = []string{"content", "base64", "fingerprint"}
)

// comparedPart is the part of a resource that is compared. It comes from the resource's JSON, so a plan from a file and a new
// plan compare alike.
func comparedPart(r resource.Resource) (*document.Node, error) {
	r.Spec = resource.Compared(r.Spec)
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("resource %s: %w", r.ID(), err)
	}
	n, err := document.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("resource %s: %w", r.ID(), err)
	}
	if spec, ok := n.Get("spec"); ok {
		remove(spec, notComparedInSpec)
	}
	remove(n, notCompared)
	return n, nil
}

func remove(n *document.Node, names []string) {
	n.Fields = slices.DeleteFunc(n.Fields, func(f document.Field) bool { return slices.Contains(names, f.Name) })
}

func (c *Change) compareContent(a, b *resource.File) {
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

// onMachine reports whether what differs is on the machine, and not only in the plan.
func (c *Change) onMachine() bool {
	return c.ContentDiffers || slices.ContainsFunc(c.Fields, func(f Field) bool { return strings.HasPrefix(f.Path, "spec.") })
}

func jsonOf(n *document.Node) json.RawMessage {
	if n == nil {
		return nil
	}
	return n.AppendJSON(nil)
}

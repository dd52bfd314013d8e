package explain

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// whoReads sets who applies a field, which becomes the given fields of the NodeConfig. A field that is read is applied.
func (e *experiment) whoReads(x *Explanation, at *position, becomes []string) {
	if r, ok := dialect.ReaderOf(e.dialect, x.Field); ok {
		x.Applied = r.Applied
		return
	}
	if e.dialect == dialect.Native {
		becomes = []string{x.Field}
	}
	for _, path := range becomes {
		x.ReadBy = append(x.ReadBy, plan.ReadBy(path)...)
		x.Applied = x.Applied || slices.ContainsFunc(dialect.Unplanned(dialect.Native), func(r dialect.Reader) bool {
			return r.Applied && (document.Within(path, r.Path) || document.Within(r.Path, path))
		})
	}
	slices.Sort(x.ReadBy)
	x.ReadBy = slices.Compact(x.ReadBy)
	x.Applied = x.Applied || len(x.ReadBy) > 0
	if x.Applied && e.dialect == dialect.Native {
		x.NotApplied = e.catalog.notApplied(at.shape, x.Field)
	}
}

// notApplied returns the fields of the NodeConfig, at a path and below it, that no concern reads.
func (c *catalog) notApplied(s *shape, path string) []string {
	s = c.follow(s)
	var all []string
	switch _, elsewhere := dialect.ReaderOf(dialect.Native, path); {
	case elsewhere:
	case s.isStruct():
		for _, name := range c.names(s) {
			below, _, _ := c.property(s, name)
			all = append(all, c.notApplied(below, document.FieldPath(path, name))...)
		}
	case s.isMap() && len(plan.ReadBy(path)) > 0:
		all = c.notApplied(s.Additional.shape, path+".*")
	case len(plan.ReadBy(path)) == 0:
		all = []string{path}
	}
	return all
}

// Readers names the concerns that read a field, in words. It is empty if there are no such concerns.
func (x *Explanation) Readers() string {
	switch {
	case len(x.ReadBy) == 0:
		return ""
	case len(x.ReadBy) == 1:
		return "the concern " + x.ReadBy[0]
	case slices.Equal(x.ReadBy, plan.Concerns()):
		return "every concern"
	}
	return "the concerns " + cli.List(x.ReadBy, "and")
}

package dialect

import (
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Extends reports whether a native document can be merged with a document of a dialect. It sets what the dialect has no field for.
func Extends(name string) bool { return name == EKSCTL }

// Extend merges a native document over the node's part of d. The result is a native document. Its problems have the paths of the
// document with the value.
func (d *Decoded) Extend(native *document.Node) Decoded {
	base := *d // the caller may overwrite d with the result
	written, err := document.Parse(nodeconfig.Encode(base.Written()))
	if err != nil {
		panic("a config of this program's own cannot be read: " + err.Error())
	}
	merged := &document.Merge(written, native).Top
	extended := DecodeAs(merged.AppendJSON(nil), Reading{Dialect: Native, Profile: base.reading.Profile})
	values := document.NewFinder(native)
	own := func(path string) bool { return values.Has(path) }
	place := extended.origin
	extended.lacks, extended.values = base.lacks, base.values
	extended.elsewhere = func(path string) (name, at string, ok bool) {
		if own(path) {
			return "", "", false
		}
		return base.elsewhere(path)
	}
	extended.origin = func(path string) string {
		if path = place(path); own(path) {
			return path
		}
		return base.Origin(path)
	}
	extended.origins = func(path string) []string {
		if path = place(path); own(path) || base.origins == nil {
			return []string{path}
		}
		return base.origins(path)
	}
	for _, p := range extended.Problems {
		p.Line, p.Column = 0, 0 // they are positions in the merged document
		p.Path = extended.origin(p.Path)
		p = extended.locate(p)
		base.Problems = append(base.Problems, p)
	}
	extended.Problems = unique(base.Problems)
	return extended
}

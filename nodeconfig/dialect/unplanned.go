package dialect

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
)

// A Reader is a field of a document that changes nothing in a plan, and is no mistake there: something else
// reads it. Of every other field the planner makes something, or there is a warning (TestNothingIsDroppedInSilence,
// TestEveryLeafCounts).
type Reader struct {
	// Path is the field's, in its dialect's terms.
	Path string
	// Applied says that the field changes what happens on a node, though nothing in its plan.
	Applied bool
	// Why says what becomes of it, or why nothing does.
	Why string
}

// Unplanned returns the fields of a dialect that change nothing in a plan, and that cause no warning.
func Unplanned(dialect string) []Reader {
	if d := Named(dialect); d != nil {
		return slices.Clone(d.unplanned)
	}
	return nil
}

// ReaderOf says what becomes of a field that is one of [Unplanned], or is below one.
func ReaderOf(dialect, path string) (r Reader, ok bool) {
	if d := Named(dialect); d != nil {
		for _, r := range d.unplanned {
			if document.Within(path, r.Path) {
				return r, true
			}
		}
	}
	return Reader{}, false
}

package dialect

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
)

// A Reader is a field of a document that changes nothing in a plan, and is still no mistake, because another program reads it.
// Every other field changes the plan, or causes a warning (TestNothingIsDroppedInSilence, TestEveryLeafCounts).
type Reader struct {
	// Path is the field's path, in its dialect's terms.
	Path string
	// Applied means that the field changes the node, although not its plan.
	Applied bool
	// Why is the field's effect, or why it has no effect.
	Why string
}

// Unplanned returns the fields of a dialect that change nothing in a plan, and cause no warning.
func Unplanned(dialect string) []Reader {
	if d := Named(dialect); d != nil {
		return slices.Clone(d.unplanned)
	}
	return nil
}

// ReaderOf returns the entry of [Unplanned] for a field that is in it, or below one in it.
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

package launch

import (
	"reflect"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// Value is one value of a template, and where it is from.
type Value struct {
	// Path is the value's in [Document].
	Path string `json:"path"`
	// Value is the value for people; a secret is "[redacted]".
	Value  string `json:"value"`
	Source Source `json:"source"`
	// Origin is the layer's, or the name of the rule that computed the value.
	Origin string `json:"origin"`
	// Overrode are the values of weaker layers, the strongest first.
	Overrode []Overridden `json:"overrode,omitempty"`
}

// Overridden is a value that was not taken.
type Overridden struct {
	Value  string `json:"value"`
	Source Source `json:"source"`
	Origin string `json:"origin"`
}

// Explanation is where all values are from, by their paths.
type Explanation []Value

// Explain says of each value of layers where it is from.
func Explain(layers []Layer) Explanation { return explain(layers).sorted() }

// explainer finds out where values are from.
type explainer struct {
	values Explanation
	// at is where in values each path is.
	at map[string]int
}

// usualValues are as many as a template usually has.
const usualValues = 192

// explain looks at layers, the weakest first. Nothing else in the package keeps track of it, so it costs nothing
// where nobody asks.
func explain(layers []Layer) *explainer {
	e := &explainer{make(Explanation, 0, usualValues), make(map[string]int, usualValues)}
	for _, l := range ranked(layers) {
		walk(l.Document, func(path string, v reflect.Value) {
			value := e.value(path)
			weaker := *value
			*value = Value{Path: path, Value: text(v), Source: l.Source, Origin: l.Origin}
			if weaker.Source != "" {
				value.Overrode = append([]Overridden{{weaker.Value, weaker.Source, weaker.Origin}}, weaker.Overrode...)
			}
		})
	}
	return e
}

// sorted are the values by their paths. Values are large, so it is the paths that are sorted.
func (e *explainer) sorted() Explanation {
	sorted := make(Explanation, 0, len(e.values))
	for _, path := range sortedKeys(e.at) {
		sorted = append(sorted, e.values[e.at[path]])
	}
	return sorted
}

// value is the one at a path; it is new where there was none.
func (e *explainer) value(path string) *Value {
	i, known := e.at[path]
	if !known {
		i = len(e.values)
		e.at[path] = i
		e.values = append(e.values, Value{})
	}
	return &e.values[i]
}

// Below returns the values at a path and below it. The path may be without "$.", and without "node." or "machine.".
func (e Explanation) Below(path string) Explanation {
	if !strings.HasPrefix(path, "$") {
		path = "$." + path
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(path, "$"), ".")
	var found Explanation
	for _, v := range e {
		if document.Within(v.Path, path) || document.Within(v.Path, "$.node."+rest) || document.Within(v.Path, "$.machine."+rest) {
			found = append(found, v)
		}
	}
	return found
}

// fieldOf is the row of a path: the longest that has it within.
func fieldOf(fields []Field, path string) *Field {
	var row *Field
	for i := range fields {
		if document.Within(path, fields[i].Path) && (row == nil || len(fields[i].Path) > len(row.Path)) {
			row = &fields[i]
		}
	}
	return row
}

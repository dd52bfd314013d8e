package launch

import (
	"reflect"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// Said is a value that a source says.
type Said struct {
	// Value is the value for people; a secret is "[redacted]".
	Value  string `json:"value"`
	Source Source `json:"source"`
	// Origin is the layer's, or the name of the rule that computed the value. Place is where in it the value is, if there is more to say.
	Origin string `json:"origin"`
	Place  string `json:"place,omitempty"`
}

// Where is the origin for people, with the place in it.
func (s *Said) Where() string { return where(s.Origin, s.Place) }

func where(origin, place string) string {
	if place == "" {
		return origin
	}
	return origin + ", " + place
}

// Value is one value of a template, and where it is from.
type Value struct {
	// Path is the value's in [Document].
	Path string `json:"path"`
	Said
	// Overrode are the values of weaker layers, the strongest first.
	Overrode []Overridden `json:"overrode,omitempty"`
}

// Overridden is a value that was not taken.
type Overridden struct {
	Said
	// Reason says why the value over it was taken.
	Reason string `json:"reason"`
}

// reason says why a value of a layer of source s was taken, and not one of a weaker layer. It follows from [ranks].
func (s Source) reason(weaker Source) string {
	switch said := slices.Contains(explicit, s); {
	case s == weaker:
		return "of two of one source the later one counts"
	case said && slices.Contains(explicit, weaker):
		return "what is said for fewer nodes goes before what is said for more"
	case said && weaker == Detected:
		return "what somebody has said goes before what was found"
	case said:
		return "what somebody has said goes before what is the same for all nodes"
	default:
		return "what was found goes before what is the same for all nodes"
	}
}

// Explanation is where all values are from, by their paths.
type Explanation []Value

// explainer finds out where values are from.
type explainer struct {
	values Explanation
	// at is where in values each path is.
	at map[string]int
	// maps are those that rules have set.
	maps []setMap
	// source and origin are of the values that it looks at, and places are where in the origin they are.
	source Source
	origin string
	places map[string]string
}

// setMap is a map that a rule has set, and its path.
type setMap struct {
	path string
	at   reflect.Value
}

// usualValues are as many as a template usually has.
const usualValues = 192

// explain looks at layers, the weakest first. Nothing else in the package keeps track of it, so it costs nothing
// where nobody asks.
func explain(layers []Layer) *explainer {
	e := &explainer{values: make(Explanation, 0, usualValues), at: make(map[string]int, usualValues)}
	w := newWalker(func(path []byte, v reflect.Value) {
		value := e.value(path)
		if value.Source != "" {
			weaker := Overridden{value.Said, e.source.reason(value.Source)}
			value.Overrode = append([]Overridden{weaker}, value.Overrode...)
		}
		value.Said = Said{text(v), e.source, e.origin, e.places[string(path)]}
	})
	for _, l := range ranked(layers) {
		e.source, e.origin, e.places = l.Source, l.Origin, l.Lines
		w.at(l.Document, "$")
	}
	return e
}

// compute looks at what rules have made of a document: what differs there from what the layers say.
func (e *explainer) compute(rules []Rule, d *Document) {
	w := newWalker(func(path []byte, v reflect.Value) {
		if known, value := e.value(path), text(v); known.Source == "" || known.Value != value {
			*known = Value{Path: known.Path, Said: Said{Value: value, Source: Computed, Origin: e.origin}}
		}
	})
	for i := range rules {
		e.origin = rules[i].Name
		for _, path := range rules[i].Sets {
			if at := valueAt(d, path); at.IsValid() {
				if at.Kind() == reflect.Map {
					e.maps = append(e.maps, setMap{path, at})
				}
				w.from(at, path)
			}
		}
	}
}

// value is the one at a path; it is new where there was none.
func (e *explainer) value(path []byte) *Value {
	i, known := e.at[string(path)]
	if !known {
		i = len(e.values)
		e.values = append(e.values, Value{Path: string(path)})
		e.at[e.values[i].Path] = i
	}
	return &e.values[i]
}

// sorted are the values by their paths, without those that rules have taken out.
func (e *explainer) sorted() Explanation {
	values := e.values
	slices.SortFunc(values, func(a, b Value) int { return strings.Compare(a.Path, b.Path) })
	for i := range e.maps {
		values = e.maps[i].still(values)
	}
	return values
}

// still are sorted values without those that layers have put into the map, and a rule has taken out of it. Nothing but a map of texts
// has entries of layers and of a rule ([Field]).
func (m *setMap) still(sorted Explanation) Explanation {
	entries, ok := m.at.Interface().(map[string]string)
	if !ok {
		return sorted
	}
	first, _ := slices.BinarySearchFunc(sorted, m.path, func(v Value, path string) int { return strings.Compare(v.Path, path) })
	last := first
	for last < len(sorted) && strings.HasPrefix(sorted[last].Path, m.path) {
		last++
	}
	kept := slices.DeleteFunc(sorted[first:last], func(v Value) bool {
		if v.Source == Computed || !document.Within(v.Path, m.path) {
			return false
		}
		name, _, _ := document.Step(v.Path[len(m.path):])
		_, has := entries[name]
		return !has
	})
	return slices.Delete(sorted, first+len(kept), last)
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

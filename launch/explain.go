package launch

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// Value is one value of a launch, with its source.
type Value struct {
	// Path is the value's path in [Document].
	Path string `json:"path,omitempty"`
	// Value is the value as people see it; a secret is "[redacted]".
	Value  string `json:"value"`
	Source Source `json:"source"`
	// Origin is the layer's, or the name of the rule that computed the value. Place is the value's place in it, such as a line. It may be empty.
	Origin string `json:"origin"`
	Place  string `json:"place,omitempty"`
	// Overrode are the values of weaker layers, the strongest first. They have no path; Reason says why the value over each was taken.
	Overrode []Value `json:"overrode,omitempty"`
	Reason   string  `json:"reason,omitempty"`
}

// Where is the origin for people, with the place in it.
func (v *Value) Where() string { return where(v.Origin, v.Place) }

func where(origin, place string) string {
	if place == "" {
		return origin
	}
	return origin + ", " + place
}

// reason explains why the value of a layer with source s is used instead of a weaker layer's value. It follows from [ranks].
func (s Source) reason(weaker Source) string {
	over := map[bool]string{true: "a value that was set", false: "a detected value"}[slices.Contains(explicit, s)]
	switch {
	case s == weaker:
		return "the later of two values of one source is used"
	case slices.Contains(explicit, weaker):
		return "a value that was set for fewer nodes is used before one for more"
	case weaker == Detected:
		return over + " is used before a detected one"
	default:
		return over + " is used before the default of all nodes"
	}
}

// explain returns each value of the layers with its source, by path. No other code in the package tracks sources, so they cost nothing
// unless a caller asks for them.
func explain(layers []Layer) map[string]Value {
	all := make(map[string]Value, usualValues)
	for _, l := range ranked(layers) {
		l.each(func(at []byte, n *document.Node) {
			path := string(at)
			value := Value{Path: path, Value: textOf(n), Source: l.Source, Origin: l.Origin, Place: l.Lines[path]}
			if weaker, found := all[path]; found {
				value.Overrode = append([]Value{weaker}, weaker.Overrode...)
				value.Overrode[0].Path, value.Overrode[0].Reason, value.Overrode[0].Overrode = "", l.Source.reason(weaker.Source), nil
			}
			all[path] = value
		})
	}
	return all
}

// Explain returns the values of the launch at and below path, each with its source. Empty means all values. The path may omit "$." and
// "node." or "machine.".
func (l *Launch) Explain(path string) []Value {
	layered := explain(append(slices.Clip(l.base.layers), l.own))
	names := pathsOf(path)
	var values []Value
	treeOf(&l.document).Walk("$", func(at []byte, n *document.Node) {
		if !slices.ContainsFunc(names, func(above string) bool { return document.Within(string(at), above) }) {
			return
		}
		value, known := layered[string(at)]
		if rule := l.base.setter(string(at)); !known || rule != "" && value.Value != textOf(n) {
			value = Value{Path: string(at), Value: textOf(n), Source: Computed, Origin: rule}
		}
		values = append(values, value)
	})
	slices.SortFunc(values, func(a, b Value) int { return cmp.Compare(a.Path, b.Path) })
	return values
}

// setter returns the name of the rule that may set the value at a path. Empty means that no rule may.
func (b *base) setter(path string) string {
	sets := func(r Rule) bool {
		return slices.ContainsFunc(r.Sets, func(above string) bool { return document.Within(path, above) })
	}
	if i := slices.IndexFunc(b.rules, sets); i >= 0 {
		return b.rules[i].Name
	}
	return ""
}

// pathsOf returns the paths in a [Document] that a name may stand for.
func pathsOf(name string) []string {
	if !strings.HasPrefix(name, "$") {
		name = strings.TrimSuffix("$."+name, ".")
	}
	rest := strings.TrimPrefix(name, "$")
	return []string{name, "$.node" + rest, "$.machine" + rest}
}

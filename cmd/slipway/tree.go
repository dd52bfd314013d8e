package main

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
)

// parseTree parses what this program has written itself.
func parseTree(data []byte) *document.Node {
	n, err := document.Parse(data)
	if err != nil {
		panic("a document of this program's own cannot be parsed: " + err.Error())
	}
	return n
}

// change is a value that differs between two trees; nil where it is missing.
type change struct {
	path     string
	old, new *document.Node
}

// treeDiff compares two trees, map by map; a list of another length differs as a whole.
func treeDiff(path string, a, b *document.Node) []change {
	switch {
	case a == nil && b == nil:
		return nil
	case isMap(a) && (b == nil || isMap(b)), a == nil && isMap(b):
		var changes []change
		for _, name := range fieldNames(a, b) {
			below, _ := a.Get(name)
			above, _ := b.Get(name)
			changes = append(changes, treeDiff(document.FieldPath(path, name), below, above)...)
		}
		if len(changes) == 0 && (a == nil || b == nil) { // an empty map on one side
			return []change{{path, a, b}}
		}
		return changes
	case a != nil && b != nil && a.Kind == document.List && b.Kind == document.List && len(a.Items) == len(b.Items):
		var changes []change
		for i := range a.Items {
			changes = append(changes, treeDiff(document.IndexPath(path, i), &a.Items[i], &b.Items[i])...)
		}
		return changes
	case a != nil && b != nil && string(a.AppendJSON(nil)) == string(b.AppendJSON(nil)):
		return nil
	}
	return []change{{path, a, b}}
}

func isMap(n *document.Node) bool { return n != nil && n.Kind == document.Map }

// fieldNames returns the names of the fields of two maps, sorted.
func fieldNames(nodes ...*document.Node) []string {
	var names []string
	for _, n := range nodes {
		if n == nil {
			continue
		}
		for _, f := range n.Fields {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// step is one step from a value into it: to a field of a map, or to an item of a list.
type step struct {
	name  string
	index int // -1 for a field
}

func field(name string) step { return step{name, -1} }
func item(i int) step        { return step{"", i} }

// pathOf writes steps as a JSON path.
func pathOf(steps []step) string {
	path := "$"
	for _, s := range steps {
		if s.index < 0 {
			path = document.FieldPath(path, s.name)
		} else {
			path = document.IndexPath(path, s.index)
		}
	}
	return path
}

// lookUp returns the value at the end of the steps, or nil.
func lookUp(n *document.Node, steps []step) *document.Node {
	for _, s := range steps {
		switch {
		case n == nil:
			return nil
		case s.index < 0:
			n, _ = n.Get(s.name)
		case n.Kind == document.List && s.index < len(n.Items):
			n = &n.Items[s.index]
		default:
			return nil
		}
	}
	return n
}

// with returns the tree with another value at the end of the steps, or without the value where it
// is nil. What is missing on the way is made. The tree itself is not changed.
func with(n *document.Node, steps []step, value *document.Node) *document.Node {
	if len(steps) == 0 {
		return value
	}
	var copied document.Node
	if n != nil {
		copied = *n
	}
	s := steps[0]
	if s.index >= 0 {
		copied.Kind, copied.Items = document.List, slices.Clone(copied.Items)
		for len(copied.Items) <= s.index {
			copied.Items = append(copied.Items, document.Node{})
		}
		inner := with(&copied.Items[s.index], steps[1:], value)
		if inner == nil {
			copied.Items = slices.Delete(copied.Items, s.index, s.index+1)
		} else {
			copied.Items[s.index] = *inner
		}
		return &copied
	}
	copied.Kind, copied.Fields = document.Map, slices.Clone(copied.Fields)
	at := slices.IndexFunc(copied.Fields, func(f document.Field) bool { return f.Name == s.name })
	var below *document.Node
	if at >= 0 {
		below = &copied.Fields[at].Value
	}
	inner := with(below, steps[1:], value)
	switch {
	case inner == nil && at >= 0:
		copied.Fields = slices.Delete(copied.Fields, at, at+1)
	case inner != nil && at >= 0:
		copied.Fields[at].Value = *inner
	case inner != nil:
		copied.Fields = append(copied.Fields, document.Field{Name: s.name, Value: *inner})
	}
	return &copied
}

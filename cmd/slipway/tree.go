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

func isMap(n *document.Node) bool { return n != nil && n.Kind == document.Map }

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

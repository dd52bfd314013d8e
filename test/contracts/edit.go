package contracts

import (
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// Merge returns base with a change merged over it: maps are merged, null removes a field, and any other value replaces the earlier
// one.
func Merge(base, change *document.Node) *document.Node {
	if base.Kind != document.Map || change.Kind != document.Map {
		return change
	}
	merged := &document.Node{Kind: document.Map, Fields: slices.Clone(base.Fields)}
	for _, f := range change.Fields {
		i := slices.IndexFunc(merged.Fields, func(b document.Field) bool { return b.Name == f.Name })
		switch null := f.Value.Kind == document.Null; {
		case null && i < 0:
		case null:
			merged.Fields = slices.Delete(merged.Fields, i, i+1)
		case i < 0:
			value := Merge(&document.Node{Kind: document.Map}, &f.Value)
			merged.Fields = append(merged.Fields, document.Field{Name: f.Name, Value: *value})
		default:
			merged.Fields[i].Value = *Merge(&merged.Fields[i].Value, &f.Value)
		}
	}
	return merged
}

// Walk visits every value of a document below the top with its path, parents before children.
func Walk(n *document.Node, visit func(path string, n *document.Node)) {
	walk(n, "$", visit)
}

func walk(n *document.Node, at string, visit func(path string, n *document.Node)) {
	if at != "$" {
		visit(at, n)
	}
	for i := range n.Items {
		walk(&n.Items[i], document.IndexPath(at, i), visit)
	}
	for i := range n.Fields {
		walk(&n.Fields[i].Value, document.FieldPath(at, n.Fields[i].Name), visit)
	}
}

// Edit returns a copy of a document. It calls edit for every value except the top: edit returns the new value, or nil to remove it.
// Edit does not visit a value that replaces another one.
func Edit(n *document.Node, edit func(path string, n *document.Node) *document.Node) *document.Node {
	return edited(n, "$", edit)
}

func edited(n *document.Node, at string, edit func(path string, n *document.Node) *document.Node) *document.Node {
	if at != "$" {
		if out := edit(at, n); out != n {
			return out
		}
	}
	out := &document.Node{Kind: n.Kind, Text: n.Text}
	for i := range n.Items {
		if item := edited(&n.Items[i], document.IndexPath(at, i), edit); item != nil {
			out.Items = append(out.Items, *item)
		}
	}
	for i := range n.Fields {
		f := &n.Fields[i]
		if value := edited(&f.Value, document.FieldPath(at, f.Name), edit); value != nil {
			out.Fields = append(out.Fields, document.Field{Name: f.Name, Value: *value})
		}
	}
	return out
}

// Replace returns a copy of a document with another value at a path. If with is nil, the value is removed.
func Replace(n *document.Node, path string, with *document.Node) *document.Node {
	return Edit(n, func(at string, n *document.Node) *document.Node {
		if at == path {
			return with
		}
		return n
	})
}

// Put returns a document with a value at a path; missing maps and lists on the way are created. Names in the path have no dots and
// brackets.
func Put(n *document.Node, path string, value *document.Node) *document.Node {
	rest := strings.TrimPrefix(path, "$")
	if rest == "" {
		return value
	}
	copied := document.Node{}
	if n != nil {
		copied = *n
	}
	if digits, after, ok := strings.Cut(rest, "]"); ok && !strings.HasPrefix(rest, ".") {
		step := strings.TrimPrefix(digits, "[")
		if i, err := strconv.Atoi(step); err == nil {
			copied.Kind, copied.Items = document.List, slices.Clone(copied.Items)
			for len(copied.Items) <= i {
				copied.Items = append(copied.Items, document.Node{})
			}
			copied.Items[i] = *Put(&copied.Items[i], after, value)
			return &copied
		}
		return putField(copied, strings.Trim(step, `"`), after, value)
	}
	name, after := rest[1:], ""
	if end := strings.IndexAny(name, ".["); end >= 0 {
		name, after = name[:end], name[end:]
	}
	return putField(copied, name, after, value)
}

func putField(n document.Node, name, rest string, value *document.Node) *document.Node {
	below, _ := n.Get(name)
	n.Kind, n.Fields = document.Map, slices.DeleteFunc(slices.Clone(n.Fields), func(f document.Field) bool { return f.Name == name })
	n.Fields = append(n.Fields, document.Field{Name: name, Value: *Put(below, rest, value)})
	return &n
}

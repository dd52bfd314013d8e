package document

import (
	"bytes"
	"slices"
)

// Merged is several documents as one.
type Merged struct {
	// Top is the merged document. It shares its values with the documents.
	Top Node

	documents []Finder
}

// value is a value of one of the documents.
type value struct {
	document int
	node     *Node
}

// Merge merges several documents. A later one wins over an earlier one: a map gets the entries of both, by name, and every other
// value, including a list, replaces the earlier one. A null has no effect, so it does not remove anything; false, 0, "" and an
// empty list are values like others.
//
// The result does not depend on how documents are grouped, as long as none has a map where another one has another type.
func Merge(documents ...*Node) *Merged {
	m := new(Merged)
	for _, d := range documents {
		m.documents = append(m.documents, NewFinder(d))
	}
	m.Top = merge(m.tops())
	return m
}

func (m *Merged) tops() []value {
	var tops []value
	for i, d := range m.documents {
		tops = append(tops, value{i, d.top})
	}
	return tops
}

// Without returns a map of n's values that part lacks or has differently: Merge(part, n.Without(part)) has all of n.
func (n *Node) Without(part *Node) *Node {
	rest := &Node{Kind: Map}
	for _, f := range n.Fields {
		other, has := part.Get(f.Name)
		switch {
		case !has:
			rest.Fields = append(rest.Fields, f)
		case f.Value.Kind == Map && other.Kind == Map:
			if below := f.Value.Without(other); len(below.Fields) > 0 {
				rest.Fields = append(rest.Fields, Field{Name: f.Name, Value: *below})
			}
		case !bytes.Equal(f.Value.AppendJSON(nil), other.AppendJSON(nil)):
			rest.Fields = append(rest.Fields, f)
		}
	}
	return rest
}

// At returns the value at a JSON path, or the innermost existing value above it, and the number of its document. It is nil if only
// the whole documents are above it.
func (m *Merged) At(path string) (document int, found *Node) {
	at := effective(m.tops())
	rest := path[min(len(path), len("$")):]
	for rest != "" {
		name, index, after := Step(rest)
		var below []value
		for _, v := range at {
			switch {
			case name != "":
				if n := m.documents[v.document].field(v.node, name); n != nil {
					below = append(below, value{v.document, n})
				}
			case v.node.Kind == List && index >= 0 && index < len(v.node.Items):
				below = append(below, value{v.document, &v.node.Items[index]})
			}
		}
		if len(below) == 0 {
			break
		}
		at, rest = effective(below), after
		document, found = at[len(at)-1].document, at[len(at)-1].node
	}
	return document, found
}

// effective returns those values of one path that count, at least one: the last one, or the last maps.
func effective(values []value) []value {
	said := slices.DeleteFunc(slices.Clone(values), func(v value) bool { return v.node.Kind == Null })
	if len(said) == 0 {
		return values[len(values)-1:]
	}
	first := len(said) - 1
	for said[first].node.Kind == Map && first > 0 && said[first-1].node.Kind == Map {
		first--
	}
	return said[first:]
}

func merge(values []value) Node {
	values = effective(values)
	if len(values) == 1 {
		return *values[0].node
	}
	merged := Node{Kind: Map}
	below := make(map[string][]value)
	for _, v := range values {
		for i := range v.node.Fields {
			f := &v.node.Fields[i]
			if below[f.Name] == nil {
				merged.Fields = append(merged.Fields, Field{Name: f.Name})
			}
			below[f.Name] = append(below[f.Name], value{v.document, &f.Value})
		}
	}
	for i := range merged.Fields {
		merged.Fields[i].Value = merge(below[merged.Fields[i].Name])
	}
	return merged
}

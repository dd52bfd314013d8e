package document

import "slices"

// Change is a value that differs between two trees. Old or New is nil if it is missing.
type Change struct {
	// Path is the JSON path of the value.
	Path     string
	Old, New *Node
}

// Diff compares two trees, map by map, below a path. A list of another length differs as a whole.
func Diff(path string, a, b *Node) []Change {
	switch {
	case a == nil && b == nil:
		return nil
	case isMap(a) && (b == nil || isMap(b)), a == nil && isMap(b):
		var changes []Change
		before, after := byName(a), byName(b)
		for _, name := range FieldNames(a, b) {
			changes = append(changes, Diff(FieldPath(path, name), before[name], after[name])...)
		}
		if len(changes) == 0 && (a == nil || b == nil) { // an empty map on one side
			return []Change{{path, a, b}}
		}
		return changes
	case a != nil && b != nil && a.Kind == List && b.Kind == List && len(a.Items) == len(b.Items):
		var changes []Change
		for i := range a.Items {
			changes = append(changes, Diff(IndexPath(path, i), &a.Items[i], &b.Items[i])...)
		}
		return changes
	case a != nil && b != nil && string(a.AppendJSON(nil)) == string(b.AppendJSON(nil)):
		return nil
	}
	return []Change{{path, a, b}}
}

// byName returns the values of a map by their names.
func byName(n *Node) map[string]*Node {
	if n == nil {
		return nil
	}
	values := make(map[string]*Node, len(n.Fields))
	for i := range n.Fields {
		values[n.Fields[i].Name] = &n.Fields[i].Value
	}
	return values
}

func isMap(n *Node) bool { return n != nil && n.Kind == Map }

// FieldNames returns the names of the fields of maps, sorted, each once.
func FieldNames(nodes ...*Node) []string {
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

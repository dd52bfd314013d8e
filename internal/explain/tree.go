package explain

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// parseTree parses a document that this program has written.
func parseTree(data []byte) *document.Node {
	n, err := document.Parse(data)
	if err != nil {
		panic("a document of this program's own cannot be parsed: " + err.Error())
	}
	return n
}

func isMap(n *document.Node) bool { return n != nil && n.Kind == document.Map }

// step is one step from a value to a nested one: to a field of a map, or to an item of a list.
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

// with returns the tree with another value at the end of the steps, or without the value if it is nil. It creates
// missing parents. The tree itself is not changed.
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

// withoutSecrets returns a document with possible credentials hidden where the schema does not know them: in data that
// passes through, and in the kubelet's flags.
func withoutSecrets(n *document.Node) *document.Node {
	if n == nil {
		return nil
	}
	return withoutSecretsAt(n, "$")
}

func withoutSecretsAt(n *document.Node, at string) *document.Node {
	if nodeconfig.IsSecretPlace(at) {
		return hidden(n)
	}
	shown := *n
	shown.Items = make([]document.Node, len(n.Items))
	for i := range n.Items {
		shown.Items[i] = *withoutSecretsAt(&n.Items[i], document.IndexPath(at, i))
	}
	name, _ := n.Get("name")
	shown.Fields = make([]document.Field, len(n.Fields))
	for i, f := range n.Fields {
		if nodeconfig.IsSecretFlag(f.Name) || f.Name == "value" && name != nil && nodeconfig.IsSecretFlag(name.Text) {
			f.Value = *hidden(&f.Value)
		}
		shown.Fields[i] = document.Field{Name: f.Name, Value: *withoutSecretsAt(&f.Value, document.FieldPath(at, f.Name))}
	}
	return &shown
}

// hidden returns a value with all its texts redacted.
func hidden(n *document.Node) *document.Node {
	shown := document.Node{Kind: n.Kind, Text: n.Text}
	if len(n.Items) == 0 && len(n.Fields) == 0 {
		shown = document.Node{Kind: document.String, Text: nodeconfig.Redacted}
	}
	for i := range n.Items {
		shown.Items = append(shown.Items, *hidden(&n.Items[i]))
	}
	for _, f := range n.Fields {
		shown.Fields = append(shown.Fields, document.Field{Name: f.Name, Value: *hidden(&f.Value)})
	}
	return &shown
}

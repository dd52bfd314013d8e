package document

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// TreeOf returns the tree of a struct, with the names that [Decode] reads. It omits unset values: a zero field, and a nil, as in
// [Overlay]. If show returns a text for a value, the text replaces the whole value; a struct without exported fields needs one.
func TreeOf(v any, show func(reflect.Value) (text string, ok bool)) *Node {
	n, _ := treeMaker(show).node(reflect.ValueOf(v))
	return &n
}

// treeMaker makes trees of Go values.
type treeMaker func(reflect.Value) (string, bool)

// node returns the tree of a value, and reports whether the value is set.
func (t treeMaker) node(v reflect.Value) (n Node, said bool) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer, reflect.Map, reflect.Slice:
		if v.IsNil() {
			return n, false
		}
	}
	if v.Kind() == reflect.Interface {
		return t.node(v.Elem())
	}
	if text, ok := t(v); ok {
		return Node{Kind: String, Text: text}, true
	}
	switch v.Kind() {
	case reflect.Pointer:
		n, _ = t.node(v.Elem())
		return n, true // a pointer that is not nil is set, also if its target is zero
	case reflect.Struct:
		n = t.structure(v)
		return n, len(n.Fields) > 0
	case reflect.Map:
		n = t.mapping(v)
		return n, len(n.Fields) > 0
	case reflect.Slice:
		n = Node{Kind: List, Items: make([]Node, v.Len())}
		for i := range n.Items {
			n.Items[i], _ = t.node(v.Index(i))
		}
		return n, true
	}
	return scalarOf(v), true
}

// scalarOf returns the node of a scalar value.
func scalarOf(v reflect.Value) Node {
	switch {
	case v.Kind() == reflect.Bool:
		return Node{Kind: Bool, Text: strconv.FormatBool(v.Bool())}
	case v.CanInt():
		return Node{Kind: Number, Text: strconv.FormatInt(v.Int(), 10)}
	case v.CanUint():
		return Node{Kind: Number, Text: strconv.FormatUint(v.Uint(), 10)}
	case v.CanFloat():
		return Node{Kind: Number, Text: strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits())}
	case v.Type() == numberType:
		return Node{Kind: Number, Text: v.String()}
	case v.Kind() == reflect.String:
		return Node{Kind: String, Text: v.String()}
	}
	panic(fmt.Sprintf("document: no rule for the tree of a %s", v.Type()))
}

var numberType = reflect.TypeFor[json.Number]()

func (t treeMaker) structure(v reflect.Value) Node {
	names, said := NamesOf(v.Type()), 0
	for i, name := range names {
		if name != "" && !v.Field(i).IsZero() {
			said++
		}
	}
	n := Node{Kind: Map, Fields: make([]Field, 0, said)}
	for i, name := range names {
		if name == "" || v.Field(i).IsZero() {
			continue
		}
		if below, ok := t.node(v.Field(i)); ok {
			n.Fields = append(n.Fields, Field{name, below})
		}
	}
	return n
}

// mapping returns the tree of a map. A zero entry is set, and null is not.
func (t treeMaker) mapping(v reflect.Value) Node {
	n := Node{Kind: Map, Fields: make([]Field, 0, v.Len())}
	if texts, ok := v.Interface().(map[string]string); ok {
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			n.Fields = append(n.Fields, Field{name, Node{Kind: String, Text: texts[name]}})
		}
		return n
	}
	for entries := v.MapRange(); entries.Next(); {
		if below, ok := t.node(entries.Value()); ok || below.Kind == Map {
			n.Fields = append(n.Fields, Field{entries.Key().String(), below})
		}
	}
	slices.SortFunc(n.Fields, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return n
}

// typeNames caches the names of types' fields, in their order.
var typeNames sync.Map

// NamesOf returns the names of a struct's fields in a document, by [JSONNames]. The name is "" for a field that is not in it.
func NamesOf(t reflect.Type) []string {
	if known, ok := typeNames.Load(t); ok {
		return known.([]string)
	}
	all := make([]string, t.NumField())
	for i := range all {
		if n := JSONNames(t.Field(i)); len(n) > 0 {
			all[i] = n[0]
		}
	}
	typeNames.Store(t, all)
	return all
}

// Walk calls visit for each value of the tree that is not a map, with its path, in the order of the tree. A list is one value. If
// visit keeps the path, it must copy it.
func (n *Node) Walk(path string, visit func(path []byte, n *Node)) {
	n.walk(append(make([]byte, 0, 256), path...), visit)
}

func (n *Node) walk(path []byte, visit func(path []byte, n *Node)) {
	if n.Kind != Map {
		visit(path, n)
		return
	}
	for i := range n.Fields {
		n.Fields[i].Value.walk(AppendField(path, n.Fields[i].Name), visit)
	}
}

// At returns the value at a JSON path, or nil. [Finder] is faster for many values of a large document, and also finds the innermost
// existing one.
func (n *Node) At(path string) *Node {
	rest, ok := strings.CutPrefix(path, "$")
	for ok && rest != "" {
		var name string
		var index int
		switch name, index, rest = Step(rest); {
		case name != "":
			n, ok = n.Get(name)
		case n.Kind == List && index >= 0 && index < len(n.Items):
			n = &n.Items[index]
		default:
			ok = false
		}
	}
	if !ok {
		return nil
	}
	return n
}

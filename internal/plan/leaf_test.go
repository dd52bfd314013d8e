package plan

import (
	"fmt"
	"reflect"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// leaf is a value that a contract can hold, reached by steps from the top: fields by index, elements
// of maps by key, the first element of lists, and what pointers point to.
type leaf struct {
	path  string
	steps []any
	of    reflect.Type
}

// element is the step into a pointer or a list.
type element struct{}

// key is the step into a map.
type key string

// leaves are all leaves of a type.
func leaves(t reflect.Type, path string, steps ...any) []leaf {
	step := func(s any) []any { return append(steps[:len(steps):len(steps)], s) }
	switch {
	case t == reflect.TypeFor[nodeconfig.Secret](), t == reflect.TypeFor[map[string]any]():
	case t.Kind() == reflect.Struct:
		var all []leaf
		for i := range t.NumField() {
			name := document.JSONNames(t.Field(i))[0]
			all = append(all, leaves(t.Field(i).Type, document.FieldPath(path, name), step(i)...)...)
		}
		return all
	case t.Kind() == reflect.Pointer:
		return leaves(t.Elem(), path, step(element{})...)
	case t.Kind() == reflect.Slice:
		return leaves(t.Elem(), document.IndexPath(path, 0), step(element{})...)
	case t.Kind() == reflect.Map:
		name := mapKeys[path]
		if name == "" {
			name = "changed"
		}
		return leaves(t.Elem(), document.FieldPath(path, name), step(key(name))...)
	}
	return []leaf{{path, steps, t}}
}

// visit calls f with the value that the steps lead to; what is missing on the way is made.
func visit(v reflect.Value, steps []any, f func(reflect.Value)) {
	if len(steps) == 0 {
		f(v)
		return
	}
	switch s := steps[0].(type) {
	case int:
		visit(v.Field(s), steps[1:], f)
	case key:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		at := reflect.ValueOf(string(s))
		item := reflect.New(v.Type().Elem()).Elem()
		if have := v.MapIndex(at); have.IsValid() {
			item.Set(have)
		}
		visit(item, steps[1:], f)
		v.SetMapIndex(at, item)
	case element:
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			visit(v.Elem(), steps[1:], f)
			return
		}
		if v.Len() == 0 {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		}
		visit(v.Index(0), steps[1:], f)
	}
}

// parents creates all structs above a leaf, so that only the leaf makes a plan differ, not the structs
// above it.
func (l leaf) parents(c *nodeconfig.NodeConfig) {
	last := 0
	t := reflect.TypeFor[nodeconfig.NodeConfig]()
	for i, s := range l.steps {
		switch s := s.(type) {
		case int:
			t = t.Field(s).Type
		default:
			t = t.Elem()
		}
		if t.Kind() == reflect.Struct && t != reflect.TypeFor[nodeconfig.Secret]() {
			last = i + 1
		}
	}
	visit(reflect.ValueOf(c).Elem(), l.steps[:last], func(reflect.Value) {})
}

// get returns a leaf's value.
func (l leaf) get(c *nodeconfig.NodeConfig) (value any) {
	visit(reflect.ValueOf(c).Elem(), l.steps, func(v reflect.Value) { value = v.Interface() })
	return value
}

// set gives a leaf a value.
func (l leaf) set(c *nodeconfig.NodeConfig, value any) {
	visit(reflect.ValueOf(c).Elem(), l.steps, func(v reflect.Value) { v.Set(reflect.ValueOf(value).Convert(v.Type())) })
}

// other is a value that a leaf does not have.
func other(value any) any {
	switch value.(type) {
	case nodeconfig.Secret:
		return nodeconfig.NewSecret("changed")
	case map[string]any:
		return map[string]any{"changed": "value"}
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.Bool:
		return !v.Bool()
	case reflect.Int64, reflect.Int32:
		return v.Int() + 1
	case reflect.Float64:
		return v.Float() + 1
	case reflect.String:
		return "changed"
	}
	panic(fmt.Sprintf("no other value of a %T", value))
}

// covers reports whether a problem with one path is about another.
func covers(problem, path string) bool {
	return document.Within(path, problem)
}

// ClassOf returns the class of the difference of two plans; empty if they are equal. It is a variable because internal/difference, which
// sets it, imports this package.
var ClassOf func(before, after resource.Plan) (class string, err error)

package launch

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

var (
	secretType = reflect.TypeFor[nodeconfig.Secret]()
	flagType   = reflect.TypeFor[[]nodeconfig.Flag]()
)

// walk calls visit for each value of a document that is said and has none below it, in the order of the paths. A list is one
// value: a stronger layer's stands for the whole of it.
func walk(d *Document, visit func(path string, v reflect.Value)) { walkBelow(d, everything, visit) }

// walkBelow does that for what is at some paths and below them.
func walkBelow(d *Document, below []string, visit func(path string, v reflect.Value)) {
	walker{below: below, visit: visit}.walk("$", reflect.ValueOf(d).Elem())
}

type walker struct {
	below []string
	visit func(string, reflect.Value)
	// inside says that it is at one of the paths or below, where everything is looked for.
	inside bool
}

// to is the walker at a path.
func (w walker) to(path string) walker {
	w.inside = w.inside || slices.ContainsFunc(w.below, func(b string) bool { return document.Within(path, b) })
	return w
}

// leads reports whether what has a name below a path is looked for, or is above what is. Most names do not, and need no path of
// their own.
func (w walker) leads(path, name string) bool {
	if w.inside {
		return true
	}
	for _, b := range w.below {
		rest, above := strings.CutPrefix(b, path)
		switch {
		case !above:
		case strings.HasPrefix(rest, "["): // a name in quotes
			if at := document.FieldPath(path, name); document.Within(b, at) {
				return true
			}
		default:
			if rest, ok := strings.CutPrefix(rest, "."+name); ok && document.Within(rest, "") {
				return true
			}
		}
	}
	return false
}

func (w walker) walk(path string, v reflect.Value) {
	w = w.to(path)
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			if v.Kind() == reflect.Pointer && isScalar(v.Elem()) {
				w.leaf(path, v.Elem()) // a pointer that is set says something, also if that is zero
				return
			}
			w.walk(path, v.Elem())
		}
	case reflect.Struct:
		if v.Type() == secretType {
			if !v.IsZero() {
				w.leaf(path, v)
			}
			return
		}
		for i, name := range namesOf(v.Type()) {
			if name == "" || !w.leads(path, name) {
				continue
			}
			if field := v.Field(i); !field.IsZero() {
				w.walk(document.FieldPath(path, name), field)
			}
		}
	case reflect.Map:
		switch m := v.Interface().(type) {
		case map[string]string: // reflection makes a copy of each key and each value, and most maps are of texts or of data
			walkMap(w, path, m)
		case map[string]any:
			walkMap(w, path, m)
		default:
			keys := v.MapKeys()
			slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
			for _, key := range keys {
				w.entry(path, key.String(), v.MapIndex(key))
			}
		}
	case reflect.Slice:
		if !v.IsNil() {
			w.leaf(path, v)
		}
	default:
		w.leaf(path, v)
	}
}

// walkMap walks the entries of a map, in the order of their names.
func walkMap[V any](w walker, path string, m map[string]V) {
	for _, name := range sortedKeys(m) {
		w.entry(path, name, reflect.ValueOf(m[name]))
	}
}

// sortedKeys are the keys of a map, in one allocation.
func sortedKeys[V any](m map[string]V) []string {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys
}

// entry walks an entry of a map. What is zero there is said, too.
func (w walker) entry(path, name string, v reflect.Value) {
	switch {
	case !w.leads(path, name):
	case isScalar(v):
		w.leaf(document.FieldPath(path, name), v)
	default:
		w.walk(document.FieldPath(path, name), v)
	}
}

// leaf visits a value, if it is one that is looked for and not only above one.
func (w walker) leaf(path string, v reflect.Value) {
	if w.to(path).inside {
		w.visit(path, v)
	}
}

// names are the names of the fields of types, in their order: types do not change.
var names sync.Map

// namesOf are the names of a struct's fields in a document; empty for one that is not in it.
func namesOf(t reflect.Type) []string {
	if known, ok := names.Load(t); ok {
		return known.([]string)
	}
	all := make([]string, t.NumField())
	for i := range all {
		if n := document.JSONNames(t.Field(i)); len(n) > 0 {
			all[i] = n[0]
		}
	}
	names.Store(t, all)
	return all
}

func isScalar(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64, reflect.String:
		return true
	}
	return false
}

// text is a value for people: a text as it is, a list as JSON, a secret as [nodeconfig.Redacted].
func text(v reflect.Value) string {
	switch {
	case v.Type() == secretType:
		return nodeconfig.Redacted
	case v.Kind() == reflect.String:
		return v.String()
	case isScalar(v):
		if d, ok := v.Interface().(nodeconfig.Duration); ok {
			return d.String()
		}
		return fmt.Sprint(v.Interface())
	case v.Type() == flagType:
		return flagsText(v.Interface().([]nodeconfig.Flag))
	}
	data, err := json.Marshal(v.Interface())
	if err != nil { // it has a secret
		return nodeconfig.Redacted
	}
	return string(data)
}

// flagsText shows flags as a command line has them, but for values that may be credentials.
func flagsText(flags []nodeconfig.Flag) string {
	words := make([]string, len(flags))
	for i, f := range flags {
		if words[i] = "--" + f.Name + "=" + f.Value; f.IsSecret() {
			words[i] = "--" + f.Name + "=" + nodeconfig.Redacted
		}
	}
	return strings.Join(words, " ")
}

package launch

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

var (
	secretType = reflect.TypeFor[nodeconfig.Secret]()
	publicType = reflect.TypeFor[PublicKey]()
)

// visitor is called with a value that is said and has none below it, and with its path, which is the walker's.
type visitor func(path []byte, v reflect.Value)

// walker visits values. Only who keeps a path has to make a text of it.
type walker struct {
	path  []byte
	visit visitor
}

// walk visits the values of a document in the order of the paths. A list is one value: a stronger layer's stands for the whole of
// it.
func walk(d *Document, visit visitor) { newWalker(visit).at(d, "$") }

// newWalker returns a walker for any number of documents.
func newWalker(visit visitor) *walker { return &walker{make([]byte, 0, 256), visit} }

// at visits what is at a path of a document and below it.
func (w *walker) at(d *Document, path string) {
	if at := valueAt(d, path); at.IsValid() {
		w.from(at, path)
	}
}

// from visits a value that is at a path, and what is below it.
func (w *walker) from(at reflect.Value, path string) {
	w.path = append(w.path[:0], path...)
	w.walk(at)
}

// valueAt is what is at a path of a document; the zero Value where nothing is.
func valueAt(d *Document, path string) reflect.Value {
	at := reflect.ValueOf(d).Elem()
	for rest := path[len("$"):]; rest != "" && at.IsValid(); {
		var name string
		name, _, rest = document.Step(rest)
		at = child(at, name)
	}
	return at
}

// child is what has a name in a value; the zero Value where nothing has.
func child(v reflect.Value, name string) reflect.Value {
	switch v = behind(v); v.Kind() {
	case reflect.Struct:
		if i := slices.Index(namesOf(v.Type()), name); i >= 0 && !v.Field(i).IsZero() {
			return v.Field(i)
		}
	case reflect.Map:
		return v.MapIndex(reflect.ValueOf(name))
	}
	return reflect.Value{}
}

// behind is what pointers and interfaces lead to; the zero Value of nil.
func behind(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

func (w *walker) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Invalid: // a null says nothing, as in nodeconfig.Merge
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			w.walk(v.Elem()) // a pointer that is set says something, also if that is zero
		}
	case reflect.Struct:
		if v.Type() == secretType {
			if !v.IsZero() {
				w.visit(w.path, v)
			}
			return
		}
		for i, name := range namesOf(v.Type()) { // a struct says something if one of its fields does
			if name != "" && !v.Field(i).IsZero() {
				w.below(name, v.Field(i))
			}
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys { // what is zero there is said, too
			w.below(key.String(), v.MapIndex(key))
		}
	case reflect.Slice:
		if !v.IsNil() {
			w.visit(w.path, v)
		}
	default:
		w.visit(w.path, v)
	}
}

// below walks what has a name.
func (w *walker) below(name string, v reflect.Value) {
	above := len(w.path)
	w.path = document.AppendField(w.path, name)
	w.walk(v)
	w.path = w.path[:above]
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

// text is a value for people: a text as it is, a list as JSON, a public key as its fingerprint, parts by their names, a secret as [nodeconfig.Redacted].
func text(v reflect.Value) string {
	if v.Type() == publicType {
		return PublicKey(v.String()).String()
	}
	return plain(v)
}

// plain is a value for digests: it is that for people, but a public key is whole, as all releases have it there.
func plain(v reflect.Value) string {
	switch {
	case v.Type() == secretType:
		return nodeconfig.Redacted
	case v.Kind() == reflect.String:
		return v.String()
	case isScalar(v):
		switch n := v.Interface().(type) {
		case nodeconfig.Duration:
			return n.String()
		case int: // most are one of these, and fmt takes longer
			return strconv.Itoa(n)
		case bool:
			return strconv.FormatBool(n)
		default:
			return fmt.Sprint(n)
		}
	}
	value := v.Interface()
	switch list := value.(type) {
	case UserParts:
		return list.String()
	case []nodeconfig.Flag:
		return flagsText(list)
	case []nodeconfig.File:
		return filesText(list)
	case []nodeconfig.Unit:
		return unitsText(list)
	case []nodeconfig.ShellCommand:
		return commandsText(list)
	}
	data, err := json.Marshal(value)
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

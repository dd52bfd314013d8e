package plan

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// notApplied reports a setting that this version does not apply.
func (o *output) notApplied(path string) { o.report(notApplied(path)) }

func notApplied(path string) nodeconfig.Problem {
	return nodeconfig.Problem{Kind: nodeconfig.NotApplied, Path: path, Reason: "is not applied by this version"}
}

// defaults are a contract's that says nothing.
var defaults = sync.OnceValue(func() reflect.Value {
	c := new(nodeconfig.NodeConfig)
	nodeconfig.Default(c)
	return reflect.ValueOf(c).Elem()
})

// unread warns of every setting that a contract gives and that nobody reads: nothing is dropped in silence. What has
// nothing within that is read is one warning, below the contract's sections.
func unread(c *nodeconfig.NodeConfig) []nodeconfig.Problem {
	w := unreadWalk{}
	w.walk(reflect.ValueOf(c).Elem(), defaults(), allReaders(), "$", 0)
	return w.problems
}

type unreadWalk struct{ problems []nodeconfig.Problem }

func (w *unreadWalk) walk(v, byDefault reflect.Value, r *readers, path string, depth int) {
	switch {
	case r != nil && r.handled, !given(v, byDefault):
		return
	case r == nil && depth > 1 || !hasParts(v):
		w.problems = append(w.problems, notApplied(path))
		return
	}
	below := func(name string) *readers {
		if r == nil {
			return nil
		}
		return r.next[name]
	}
	switch v.Kind() {
	case reflect.Pointer:
		if byDefault.IsValid() {
			byDefault = byDefault.Elem() // invalid where it is nil
		}
		w.walk(v.Elem(), byDefault, r, path, depth)
	case reflect.Map:
		for _, key := range slices.SortedFunc(slices.Values(v.MapKeys()), func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }) {
			w.walk(v.MapIndex(key), reflect.Value{}, below(anyKey), document.FieldPath(path, key.String()), depth+1)
		}
	default:
		for i := range v.NumField() {
			name := document.JSONNames(v.Type().Field(i))[0]
			var other reflect.Value
			if byDefault.IsValid() {
				other = byDefault.Field(i)
			}
			w.walk(v.Field(i), other, below(name), document.FieldPath(path, name), depth+1)
		}
	}
}

// hasParts reports whether a value has settings within that somebody can read alone.
func hasParts(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Struct, reflect.Pointer, reflect.Map:
		return v.Type() != reflect.TypeFor[nodeconfig.Secret]()
	}
	return false
}

// given reports whether a value says anything that it would not say by default.
func given(v, byDefault reflect.Value) bool {
	if v.IsZero() || (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0 {
		return false
	}
	return !byDefault.IsValid() || !reflect.DeepEqual(v.Interface(), byDefault.Interface())
}

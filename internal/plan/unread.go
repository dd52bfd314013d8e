package plan

import (
	"reflect"
	"sync"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// defaults are the defaults of an empty contract.
var defaults = sync.OnceValue(func() reflect.Value {
	c := new(nodeconfig.NodeConfig)
	nodeconfig.Default(c)
	return reflect.ValueOf(c).Elem()
})

// unread returns the path of every setting of a contract that no concern reads, so that none is dropped in silence. If no concern reads
// any part of a setting, it has one path, below the contract's sections. The paths are in no order.
func unread(c *nodeconfig.NodeConfig) []string {
	var w unreadWalk
	w.walk(reflect.ValueOf(c).Elem(), defaults(), allReaders())
	return w.paths
}

type unreadWalk struct {
	at    document.Path
	paths []string
}

func (w *unreadWalk) walk(v, byDefault reflect.Value, r *readers) {
	switch {
	case r != nil && r.handled, v.IsZero():
		return
	case r == nil && w.at.Depth() > 1 || !hasParts(v):
		if given(v, byDefault) {
			w.paths = append(w.paths, w.at.String())
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if byDefault.IsValid() {
			byDefault = byDefault.Elem() // invalid if it is nil
		}
		w.walk(v.Elem(), byDefault, r)
	case reflect.Map:
		for iter := v.MapRange(); iter.Next(); {
			w.at.Enter(iter.Key().String())
			w.walk(iter.Value(), reflect.Value{}, r.key(iter.Key().String()))
			w.at.Leave()
		}
	default:
		for i, name := range namesOf(v.Type()) {
			var other reflect.Value
			if byDefault.IsValid() {
				other = byDefault.Field(i)
			}
			w.at.Enter(name)
			w.walk(v.Field(i), other, r.entry(name))
			w.at.Leave()
		}
	}
}

// settingNames are the names of structs' fields, by type.
var settingNames sync.Map

func namesOf(t reflect.Type) []string {
	if names, ok := settingNames.Load(t); ok {
		return names.([]string)
	}
	names := make([]string, t.NumField())
	for i := range names {
		names[i] = document.JSONNames(t.Field(i))[0]
	}
	settingNames.Store(t, names)
	return names
}

// hasParts reports whether a value has settings within that a concern can read alone.
func hasParts(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Struct, reflect.Pointer, reflect.Map:
		return v.Type() != reflect.TypeFor[nodeconfig.Secret]()
	}
	return false
}

// given reports whether a value that is not zero differs from its default.
func given(v, byDefault reflect.Value) bool {
	if (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0 {
		return false
	}
	return !byDefault.IsValid() || !reflect.DeepEqual(v.Interface(), byDefault.Interface())
}

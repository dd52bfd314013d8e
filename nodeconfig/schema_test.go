package nodeconfig_test

import (
	"fmt"
	"reflect"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// filler makes values of the schema's types by reflection, so that a new field is tested
// automatically. Each scalar differs from all others.
type filler struct{ n int }

func (f *filler) next() int {
	f.n++
	return f.n
}

// scalar returns a value of a leaf's type; ok is false for a composite.
func (f *filler) scalar(t reflect.Type) (v reflect.Value, ok bool) {
	v = reflect.New(t).Elem()
	switch value := v.Addr().Interface().(type) {
	case *nodeconfig.Secret:
		*value = nodeconfig.NewSecret(fmt.Sprint("secret-", f.next()))
		return v, true
	case *nodeconfig.Duration:
		*value = nodeconfig.Duration(f.next()) * 1_000_000_000
		return v, true
	}
	switch t.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint("text-", f.next()))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.next()))
	case reflect.Float64:
		v.SetFloat(float64(f.next()) + 0.5)
	case reflect.Interface:
		v.Set(reflect.ValueOf(fmt.Sprint("any-", f.next())))
	default:
		return v, false
	}
	return v, true
}

// full returns a value of a type with everything set, and with two elements in each list and map.
func (f *filler) full(t reflect.Type) reflect.Value {
	if v, ok := f.scalar(t); ok {
		return v
	}
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(f.full(t.Elem()))
	case reflect.Struct:
		for i := range t.NumField() {
			v.Field(i).Set(f.full(t.Field(i).Type))
		}
	case reflect.Slice:
		v.Set(reflect.Append(v, f.full(t.Elem()), f.full(t.Elem())))
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		for range 2 {
			v.SetMapIndex(reflect.ValueOf(fmt.Sprint("k", f.next())), f.full(t.Elem()))
		}
	default:
		panic(fmt.Sprint("no value for ", t))
	}
	return v
}

// leaf is a value with one scalar set and nothing else.
type leaf struct {
	path  string
	value reflect.Value
}

// leaves returns values of a type, one for each scalar that it can hold.
func (f *filler) leaves(t reflect.Type, at string) []leaf {
	if v, ok := f.scalar(t); ok {
		return []leaf{{at, v}}
	}
	var all []leaf
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			name := document.JSONNames(t.Field(i))[0]
			for _, below := range f.leaves(t.Field(i).Type, document.FieldPath(at, name)) {
				v := reflect.New(t).Elem()
				v.Field(i).Set(below.value)
				all = append(all, leaf{below.path, v})
			}
		}
		return all
	case reflect.Slice:
		at = document.IndexPath(at, 0)
	case reflect.Map:
		at = document.FieldPath(at, "k")
	}
	for _, below := range f.leaves(t.Elem(), at) {
		v := reflect.New(t).Elem()
		switch t.Kind() {
		case reflect.Pointer:
			v.Set(reflect.New(t.Elem()))
			v.Elem().Set(below.value)
		case reflect.Slice:
			v.Set(reflect.Append(v, below.value))
		case reflect.Map:
			v.Set(reflect.MakeMap(t))
			v.SetMapIndex(reflect.ValueOf("k"), below.value)
		}
		all = append(all, leaf{below.path, v})
	}
	return all
}

// config returns the leaf as a whole config.
func (l leaf) config() *nodeconfig.NodeConfig {
	c := l.value.Interface().(nodeconfig.NodeConfig)
	return &c
}

var configType = reflect.TypeFor[nodeconfig.NodeConfig]()

// fullConfig is a config with everything set. As a node it makes no sense.
func fullConfig() *nodeconfig.NodeConfig {
	c := new(filler).full(configType).Interface().(nodeconfig.NodeConfig)
	return &c
}

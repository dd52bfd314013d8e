package collect

import (
	"reflect"
	"sort"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// replaceSecrets replaces each secret of a config by what with returns, in the order of the fields.
func replaceSecrets(config *nodeconfig.NodeConfig, with func(secret string) string) {
	replace(reflect.ValueOf(config).Elem(), with)
}

// replace replaces the secrets in a value that can be set.
func replace(v reflect.Value, with func(string) string) {
	switch value := v.Addr().Interface().(type) {
	case *nodeconfig.Secret:
		if !value.IsZero() {
			*value = nodeconfig.NewSecret(with(value.Reveal()))
		}
		return
	case *nodeconfig.Flag:
		if value.IsSecret() {
			value.Value = with(value.Value)
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			replace(v.Elem(), with)
		}
	case reflect.Interface:
		if !v.IsNil() {
			v.Set(replaced(v.Elem(), with))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				replace(v.Field(i), with)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			replace(v.Index(i), with)
		}
	case reflect.Map:
		keys := v.MapKeys() // the numbers of the placeholders follow their order
		sort.SliceStable(keys, func(i, j int) bool { return keys[i].String() < keys[j].String() })
		for _, key := range keys {
			v.SetMapIndex(key, replaced(v.MapIndex(key), with))
		}
	}
}

// replaced returns a copy of a value with its secrets replaced.
func replaced(v reflect.Value, with func(string) string) reflect.Value {
	fresh := reflect.New(v.Type()).Elem()
	fresh.Set(v)
	replace(fresh, with)
	return fresh
}

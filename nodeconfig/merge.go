package nodeconfig

import (
	"encoding/json"
	"maps"
	"reflect"
)

// Merge makes one config of several, such as one for all nodes, one for a pool and one for a node. A later one goes
// before an earlier one: a map gets the entries of both, by their keys, and everything else that a later config says
// stands for the whole of what an earlier one said, lists too. The configs are not changed, and share nothing with the
// result; that of one config is a copy of it. What may be a credential in the kubelet's configuration and other data that
// is passed on is a [Secret] in the result. Merge before [Default], which fills in what was not said.
//
// A config in Go does not know the difference between a false, a 0 or an "" that its author wrote and one that nobody
// wrote: in a field that is no pointer, these keep what an earlier config says. A nil list, map or pointer says nothing
// either; a list that is empty and not nil takes away the items of an earlier one. Documents do know the difference, and
// Read of package node merges them as they are written.
func Merge(configs ...*NodeConfig) *NodeConfig {
	merged := new(NodeConfig)
	for _, c := range configs {
		if c != nil {
			mergeFields(reflect.ValueOf(merged).Elem(), reflect.ValueOf(c).Elem())
		}
	}
	seal(merged)
	return merged
}

// mergeFields merges a struct into another one.
func mergeFields(into, from reflect.Value) {
	for i := range from.NumField() {
		// A struct says what is in it, so it is looked at once, and not once more for each struct that it is in.
		if f := from.Field(i); f.Kind() == reflect.Struct && f.Type() != secretType {
			mergeFields(into.Field(i), f)
		} else if !f.IsZero() {
			mergeValue(into.Field(i), f)
		}
	}
}

// mergeValue merges a value that says something, were it its zero value, into what there is. Nothing of it is shared.
func mergeValue(into, from reflect.Value) {
	switch from.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		if from.IsNil() {
			return
		}
	}
	switch from.Kind() {
	case reflect.Struct:
		if from.Type() != secretType {
			mergeFields(into, from)
			return
		}
		into.Set(from) // what is behind its pointer never changes
	case reflect.Pointer:
		if into.IsNil() {
			into.Set(reflect.New(from.Type().Elem()))
		}
		mergeValue(into.Elem(), from.Elem())
	case reflect.Map:
		if into.IsNil() {
			into.Set(reflect.MakeMapWithSize(from.Type(), from.Len()))
		}
		switch from := from.Interface().(type) {
		case map[string]string:
			maps.Copy(into.Interface().(map[string]string), from)
			return
		case map[string]Secret:
			maps.Copy(into.Interface().(map[string]Secret), from)
			return
		case map[string]any:
			mergeData(into.Interface().(map[string]any), from)
			return
		}
		key, value := reflect.New(from.Type().Key()).Elem(), reflect.New(from.Type().Elem()).Elem()
		for entries := from.MapRange(); entries.Next(); {
			key.SetIterKey(entries)
			value.SetIterValue(entries)
			if isPlain(value) {
				into.SetMapIndex(key, value)
				continue
			}
			merged := reflect.New(value.Type()).Elem()
			if earlier := into.MapIndex(key); earlier.IsValid() {
				merged.Set(earlier)
			}
			mergeValue(merged, value)
			into.SetMapIndex(key, merged)
		}
	case reflect.Slice:
		if from.Len() == 0 {
			into.Set(reflect.MakeSlice(from.Type(), 0, 0))
			return
		}
		into.SetZero()
		into.Grow(from.Len())
		into.SetLen(from.Len())
		for i := range from.Len() {
			mergeValue(into.Index(i), from.Index(i))
		}
	case reflect.Interface:
		into.Set(reflect.ValueOf(mergedAny(into.Interface(), from.Interface())))
	default:
		into.Set(from)
	}
}

// isPlain reports whether nothing of a value can change behind it, so that it is copied as it is.
func isPlain(v reflect.Value) bool {
	if v.Kind() == reflect.Interface && !v.IsNil() {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer, reflect.Map, reflect.Slice:
		return false
	case reflect.Struct:
		return v.Type() == secretType
	}
	return true
}

// mergeData merges data that is passed on as it is, such as the kubelet's configuration, into data that nobody else has.
func mergeData(into, from map[string]any) {
	for name, later := range from {
		earlier, had := into[name]
		if later == nil {
			if !had {
				into[name] = nil
			}
			continue
		}
		if one, ok := earlier.(map[string]any); ok && one != nil {
			if other, ok := later.(map[string]any); ok {
				mergeData(one, other)
				continue
			}
		}
		into[name] = mergedAny(earlier, later)
	}
}

// mergedAny is one value of data merged into another one that there was; nil for none.
func mergedAny(earlier, later any) any {
	if copied, ok := copyAny(later); ok {
		return copied
	}
	was, from := reflect.ValueOf(earlier), reflect.ValueOf(later)
	merged := reflect.New(from.Type()).Elem()
	if was.Kind() == reflect.Map && from.Kind() == reflect.Map {
		mergeValue(merged, was)
	}
	mergeValue(merged, from)
	return merged.Interface()
}

// copyAny copies a value as a document has them, with all that is in it. It reports whether it knows the value.
func copyAny(v any) (copied any, ok bool) {
	switch v := v.(type) {
	case string, bool, json.Number, Secret:
		return v, true
	case map[string]any:
		if v == nil {
			return v, true
		}
		all := make(map[string]any, len(v))
		for key, item := range v {
			if all[key], ok = copyAny(item); !ok {
				return nil, false
			}
		}
		return all, true
	case []any:
		if v == nil {
			return v, true
		}
		all := make([]any, len(v))
		for i, item := range v {
			if all[i], ok = copyAny(item); !ok {
				return nil, false
			}
		}
		return all, true
	}
	return nil, false
}

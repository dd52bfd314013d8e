package document

import (
	"encoding/json"
	"maps"
	"reflect"
)

// Overlay merges one struct over another one of its type: a map gets the entries of both, by key, and every other value that is
// set, including a list, replaces the earlier one. A zero field and a nil are unset. The two share nothing afterwards. It is
// [Merge] for Go values. A struct without exported fields is one value.
func Overlay[T any](into, from *T) {
	overlayFields(reflect.ValueOf(into).Elem(), reflect.ValueOf(from).Elem())
}

// overlayFields is [Overlay] of two structs.
func overlayFields(into, from reflect.Value) {
	for i := range from.NumField() {
		// A struct is visited once, and not again for each struct that contains it.
		if f := from.Field(i); f.Kind() == reflect.Struct && !isOpaque(f) {
			overlayFields(into.Field(i), f)
		} else if !f.IsZero() {
			overlayValue(into.Field(i), f)
		}
	}
}

// isOpaque reports whether a struct is one value, because only its own package can read its fields.
func isOpaque(v reflect.Value) bool { return v.NumField() > 0 && !v.Field(0).CanInterface() }

// overlayValue replaces the earlier value by one that is set, even if it is the zero value.
func overlayValue(into, from reflect.Value) {
	switch from.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		if from.IsNil() {
			return
		}
	}
	switch from.Kind() {
	case reflect.Struct:
		if !isOpaque(from) {
			overlayFields(into, from)
			return
		}
		into.Set(from)
	case reflect.Pointer:
		if into.IsNil() {
			into.Set(reflect.New(from.Type().Elem()))
		}
		overlayValue(into.Elem(), from.Elem())
	case reflect.Map:
		overlayMap(into, from)
	case reflect.Slice:
		into.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
		if from.Len() > 0 && isPlain(from.Index(0)) && from.Type().Elem().Kind() != reflect.Interface {
			reflect.Copy(into, from)
			return
		}
		for i := range from.Len() {
			overlayValue(into.Index(i), from.Index(i))
		}
	case reflect.Interface:
		into.Set(reflect.ValueOf(overlaidAny(into.Interface(), from.Interface())))
	default:
		into.Set(from)
	}
}

// overlayMap merges the entries of a map into another one.
func overlayMap(into, from reflect.Value) {
	if into.IsNil() {
		into.Set(reflect.MakeMapWithSize(from.Type(), from.Len()))
	}
	switch from := from.Interface().(type) {
	case map[string]string:
		maps.Copy(into.Interface().(map[string]string), from)
		return
	case map[string]any:
		overlayData(into.Interface().(map[string]any), from)
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
		overlayValue(merged, value)
		into.SetMapIndex(key, merged)
	}
}

// isPlain reports whether a value contains no reference, so that it can be copied by assignment.
func isPlain(v reflect.Value) bool {
	if v.Kind() == reflect.Interface && !v.IsNil() {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer, reflect.Map, reflect.Slice:
		return false
	case reflect.Struct:
		return isOpaque(v)
	}
	return true
}

// overlayData merges free data, such as the kubelet's configuration, into data that no other code shares.
func overlayData(into, from map[string]any) {
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
				overlayData(one, other)
				continue
			}
		}
		into[name] = overlaidAny(earlier, later)
	}
}

// overlaidAny returns one value of data merged over another one. earlier may be nil.
func overlaidAny(earlier, later any) any {
	if copied, ok := copyAny(later); ok {
		return copied
	}
	was, from := reflect.ValueOf(earlier), reflect.ValueOf(later)
	merged := reflect.New(from.Type()).Elem()
	if was.Kind() == reflect.Map && from.Kind() == reflect.Map {
		overlayValue(merged, was)
	}
	overlayValue(merged, from)
	return merged.Interface()
}

// copyAny copies a value of free data deeply. It reports whether it knows the value's type.
func copyAny(v any) (copied any, ok bool) {
	switch v := v.(type) {
	case string, bool, json.Number:
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

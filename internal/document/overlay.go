package document

import (
	"encoding/json"
	"maps"
	"reflect"
)

// Overlay puts what one struct says over what another one of its type says: a map gets the entries of both, by their keys, and every
// other value that says something stands for the whole of the earlier one, lists too. A field that is zero says nothing, and neither does
// a nil. Nothing is shared afterwards. It is [Merge] for values of Go. A struct without exported fields is one value.
func Overlay[T any](into, from *T) {
	overlayFields(reflect.ValueOf(into).Elem(), reflect.ValueOf(from).Elem())
}

// overlayFields is [Overlay] of two structs.
func overlayFields(into, from reflect.Value) {
	for i := range from.NumField() {
		// A struct says what is in it, so it is looked at once, and not once more for each struct that it is in.
		if f := from.Field(i); f.Kind() == reflect.Struct && !isOpaque(f) {
			overlayFields(into.Field(i), f)
		} else if !f.IsZero() {
			overlayValue(into.Field(i), f)
		}
	}
}

// isOpaque reports whether a struct is one value: only its own package can look into it.
func isOpaque(v reflect.Value) bool { return v.NumField() > 0 && !v.Field(0).CanInterface() }

// overlayValue puts a value that says something, were it its zero value, over what there is.
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

// overlayMap puts the entries of a map into another one.
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

// isPlain reports whether nothing of a value can change behind it, so that it is copied as it is.
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

// overlayData puts data as a document has it, such as the kubelet's configuration, into data that no other code has.
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

// overlaidAny is one value of data over another one; nil for none.
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

// copyAny copies a value as a document has them, with all that is in it. It reports whether it knows the value.
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

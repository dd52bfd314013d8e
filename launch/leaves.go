package launch

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

var (
	secretType = reflect.TypeFor[nodeconfig.Secret]()
	flagType   = reflect.TypeFor[[]nodeconfig.Flag]()
)

// walk calls visit for each value of a document that is said and has none below it, in the order of the paths. A list is one
// value: a stronger layer's stands for the whole of it.
func walk(d *Document, visit func(path string, v reflect.Value)) {
	walkValue("$", reflect.ValueOf(d).Elem(), visit)
}

func walkValue(path string, v reflect.Value, visit func(string, reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			if v.Kind() == reflect.Pointer && isScalar(v.Elem()) {
				visit(path, v.Elem()) // a pointer that is set says something, also if that is zero
				return
			}
			walkValue(path, v.Elem(), visit)
		}
	case reflect.Struct:
		if v.Type() == secretType {
			if !v.IsZero() {
				visit(path, v)
			}
			return
		}
		for i := range v.NumField() {
			if names := document.JSONNames(v.Type().Field(i)); len(names) > 0 && !v.Field(i).IsZero() {
				walkValue(document.FieldPath(path, names[0]), v.Field(i), visit)
			}
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			entry := v.MapIndex(key)
			if at := document.FieldPath(path, key.String()); isScalar(entry) {
				visit(at, entry)
			} else {
				walkValue(at, entry, visit)
			}
		}
	case reflect.Slice:
		if !v.IsNil() {
			visit(path, v)
		}
	default:
		visit(path, v)
	}
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

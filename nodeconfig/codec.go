package nodeconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/document"
)

// Encode writes the config as a document, with its secrets. It is the only function that does, and the result is as secret as the
// config. The document is canonical JSON: names sorted, empty values omitted, no spaces. Two configs with the same meaning have the
// same bytes, and [FromTree] reads them back. (json.Marshal fails for a config that contains a secret.)
func Encode(c *NodeConfig) []byte {
	return appendElement(make([]byte, 0, 16<<10), reflect.ValueOf(c).Elem())
}

// Digest identifies the config: the SHA-256 of its canonical form, in hexadecimal. It is the name of the config's generation.
func Digest(c *NodeConfig) string {
	sum := sha256.Sum256(Encode(c))
	return hex.EncodeToString(sum[:])
}

// canonicalField is a struct field, in the order of the canonical form.
type canonicalField struct {
	name  string
	index int
	// quoted is the name in the canonical form, with its colon.
	quoted string
	// texts reports whether the field may contain a string. words are the field's allowed values, if it is an enumeration.
	texts bool
	words []string
}

var canonicalFields sync.Map // reflect.Type -> []canonicalField

func fieldsOf(t reflect.Type) []canonicalField {
	if cached, ok := canonicalFields.Load(t); ok {
		return cached.([]canonicalField)
	}
	var fields []canonicalField
	for i := range t.NumField() {
		if names := document.JSONNames(t.Field(i)); len(names) > 0 {
			quoted := append(document.AppendString(nil, names[0]), ':')
			fields = append(fields, canonicalField{names[0], i, string(quoted), mayHoldText(t.Field(i).Type), WordsOf(t.Field(i))})
		}
	}
	sort.SliceStable(fields, func(i, j int) bool { return fields[i].name < fields[j].name })
	canonicalFields.Store(t, fields)
	return fields
}

// WordsOf returns a field's allowed values, from its tag. It returns nil if the field is not an enumeration.
func WordsOf(f reflect.StructField) []string {
	if words := f.Tag.Get("words"); words != "" {
		return strings.Split(words, ",")
	}
	return nil
}

// mayHoldText reports whether values of a type may contain a string.
func mayHoldText(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64:
		return false
	case reflect.Pointer:
		return mayHoldText(t.Elem())
	}
	return true
}

var (
	secretType   = reflect.TypeFor[Secret]()
	durationType = reflect.TypeFor[Duration]()
	numberType   = reflect.TypeFor[json.Number]()
)

// appendCanonical appends v. If v is empty, written is false and dst is unchanged.
func appendCanonical(dst []byte, v reflect.Value) (_ []byte, written bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return dst, false
		}
		// A pointer that is set has a value, even "false".
		if out, ok := appendCanonical(dst, v.Elem()); ok {
			return out, true
		}
		return appendZero(dst, v.Elem()), true
	case reflect.Interface:
		return appendData(dst, v.Interface()), true
	case reflect.Struct:
		if v.Type() == secretType {
			return appendText(dst, v.Interface().(Secret).Reveal())
		}
		return appendStruct(dst, v)
	case reflect.Map:
		return appendMap(dst, v)
	case reflect.Slice:
		return appendList(dst, v)
	case reflect.String:
		if v.Type() == numberType {
			return append(dst, v.String()...), true
		}
		return appendText(dst, v.String())
	}
	if v.IsZero() {
		return dst, false
	}
	return appendZero(dst, v), true
}

// appendZero appends a scalar as it is, or the empty form of a composite.
func appendZero(dst []byte, v reflect.Value) []byte {
	switch v.Type() {
	case secretType:
		return append(dst, `""`...)
	case durationType:
		return document.AppendString(dst, Duration(v.Int()).String())
	}
	switch v.Kind() {
	case reflect.Bool:
		return strconv.AppendBool(dst, v.Bool())
	case reflect.Int, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(dst, v.Int(), 10)
	case reflect.Float64:
		return strconv.AppendFloat(dst, v.Float(), 'g', -1, 64)
	case reflect.String:
		return append(dst, `""`...)
	case reflect.Slice:
		return append(dst, "[]"...)
	case reflect.Map, reflect.Struct:
		return append(dst, "{}"...)
	}
	panic(fmt.Sprintf("nodeconfig: no canonical form for %s", v.Type()))
}

func appendText(dst []byte, s string) ([]byte, bool) {
	if s == "" {
		return dst, false
	}
	return document.AppendString(dst, s), true
}

func appendStruct(dst []byte, v reflect.Value) ([]byte, bool) {
	start := len(dst)
	dst = append(dst, '{')
	for _, f := range fieldsOf(v.Type()) {
		mark := len(dst)
		if mark > start+1 {
			dst = append(dst, ',')
		}
		dst = append(dst, f.quoted...)
		out, ok := appendCanonical(dst, v.Field(f.index))
		if !ok {
			dst = dst[:mark]
			continue
		}
		dst = out
	}
	if len(dst) == start+1 {
		return dst[:start], false
	}
	return append(dst, '}'), true
}

func appendMap(dst []byte, v reflect.Value) ([]byte, bool) {
	if v.Len() == 0 {
		return dst, false
	}
	switch m := v.Interface().(type) {
	case map[string]string:
		return appendEntries(dst, m, document.AppendString), true
	case map[string]any:
		return appendEntries(dst, m, appendData), true
	}
	values := make(map[string]reflect.Value, v.Len())
	for iter := v.MapRange(); iter.Next(); {
		values[iter.Key().String()] = iter.Value()
	}
	return appendEntries(dst, values, appendElement), true
}

func appendEntries[V any](dst []byte, m map[string]V, value func([]byte, V) []byte) []byte {
	dst = append(dst, '{')
	for i, name := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(document.AppendString(dst, name), ':')
		dst = value(dst, m[name])
	}
	return append(dst, '}')
}

// appendData is appendElement for free data.
func appendData(dst []byte, data any) []byte {
	switch data := data.(type) {
	case nil:
		return append(dst, "null"...)
	case string:
		return document.AppendString(dst, data)
	case bool:
		return strconv.AppendBool(dst, data)
	case map[string]any:
		return appendEntries(dst, data, appendData)
	}
	return appendElement(dst, reflect.ValueOf(data))
}

func appendList(dst []byte, v reflect.Value) ([]byte, bool) {
	if v.Len() == 0 {
		return dst, false
	}
	dst = append(dst, '[')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendElement(dst, v.Index(i))
	}
	return append(dst, ']'), true
}

// appendElement appends a value that counts even if it is empty: an element of a map or list, and the whole document.
func appendElement(dst []byte, v reflect.Value) []byte {
	if out, ok := appendCanonical(dst, v); ok {
		return out
	}
	return appendZero(dst, v)
}

// FromTree reads a native document. Unknown fields and values of the wrong type are reported and affect only themselves. The
// returned config has all the rest and is never nil. FromTree neither sets defaults nor validates.
func FromTree(tree *document.Node) (*NodeConfig, []Problem) {
	var (
		config   NodeConfig
		problems []Problem
	)
	document.Decode(tree, &config, document.Options{
		Names: document.JSONNames,
		Report: func(f document.Fault) {
			problems = append(problems, ProblemOf(f, Vital(f.Path)))
		},
	})
	seal(&config)
	return &config, problems
}

package document

import (
	"encoding"
	"fmt"
	"reflect"
	"sync"
)

// as is how a value of a type is decoded.
type as uint8

const (
	asText as = iota // by its UnmarshalText
	asPointer
	asStruct
	asMap
	asList
	asAny
	asEnum
	asString
	asBool
	asInteger
	asNumber
)

// codec is Decode's description of a type. It is computed once and cached.
type codec struct {
	as as
	t  reflect.Type
	// elem is the type of a pointer's target, or of an item or entry.
	elem *codec
	// fields are a struct's fields, by all their names.
	fields map[string]knownField
}

// knownField is a struct field in the document's terms.
type knownField struct {
	index int
	name  string // canonical
	codec *codec
}

// is reports whether it is the field with an index.
func (f knownField) is(index int) bool { return f.codec != nil && f.index == index }

// codecs are those of whole documents. The key includes the naming rule and the enumerations, because dialects name the same kind
// of struct differently.
var codecs sync.Map

type codecKey struct {
	t           reflect.Type
	names, enum uintptr
}

func (o *Options) codecOf(t reflect.Type) *codec {
	key := codecKey{t, reflect.ValueOf(o.Names).Pointer(), reflect.ValueOf(o.Enum).Pointer()}
	if cached, ok := codecs.Load(key); ok {
		return cached.(*codec)
	}
	c := o.makeCodec(t, make(map[reflect.Type]*codec))
	codecs.Store(key, c)
	return c
}

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

func (o *Options) makeCodec(t reflect.Type, made map[reflect.Type]*codec) *codec {
	if c, ok := made[t]; ok {
		return c
	}
	c := &codec{t: t}
	made[t] = c
	kind := t.Kind()
	switch {
	case reflect.PointerTo(t).Implements(textUnmarshaler):
		c.as = asText
	case kind == reflect.Pointer:
		c.as, c.elem = asPointer, o.makeCodec(t.Elem(), made)
	case kind == reflect.Struct:
		c.as, c.fields = asStruct, o.fieldsOf(t, made)
	case kind == reflect.Map:
		c.as, c.elem = asMap, o.makeCodec(t.Elem(), made)
	case kind == reflect.Slice:
		c.as, c.elem = asList, o.makeCodec(t.Elem(), made)
	case kind == reflect.Interface:
		c.as = asAny
	case o.isEnum(t):
		c.as = asEnum
	case kind == reflect.String:
		c.as = asString
	case kind == reflect.Bool:
		c.as = asBool
	case kind == reflect.Int || kind == reflect.Int32 || kind == reflect.Int64:
		c.as = asInteger
	case kind == reflect.Float64:
		c.as = asNumber
	default:
		panic(fmt.Sprintf("document: no rule to decode into %s", t))
	}
	return c
}

func (o *Options) isEnum(t reflect.Type) bool {
	if o.Enum == nil {
		return false
	}
	_, _, is := o.Enum(t, "")
	return is
}

// fieldsOf returns the fields of a struct by their names.
func (o *Options) fieldsOf(t reflect.Type, made map[reflect.Type]*codec) map[string]knownField {
	fields := make(map[string]knownField)
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		names := o.Names(f)
		if len(names) == 0 {
			continue
		}
		c := o.makeCodec(f.Type, made)
		for _, name := range names {
			fields[name] = knownField{i, names[0], c}
		}
	}
	return fields
}

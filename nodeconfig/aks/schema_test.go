package aks

import (
	"fmt"
	"reflect"
	"regexp"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	aksnodeconfigv1 "github.com/slipway-dev/slipway/api/aksnodeconfig/v1"
	"github.com/slipway-dev/slipway/internal/aksnodeconfig"
	"github.com/slipway-dev/slipway/internal/document"
)

// Config is the contract's top message in protobuf.
type Config = aksnodeconfigv1.Configuration

// asMessage converts the read contract to a message: proto.Equal compares it with the one of protobuf's own reader.
func asMessage(config *aksnodeconfig.Configuration) *Config {
	m := new(Config)
	fillFrom(m.ProtoReflect(), reflect.ValueOf(config).Elem())
	return m
}

// fillFrom sets the message's fields that are set in a struct, which has the same fields in the same order.
func fillFrom(m protoreflect.Message, from reflect.Value) {
	for i := range from.NumField() {
		field, v := m.Descriptor().Fields().Get(i), from.Field(i)
		if v.IsZero() {
			continue
		}
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		switch {
		case field.IsMap():
			entries := m.Mutable(field).Map()
			for iter := v.MapRange(); iter.Next(); {
				key := protoreflect.ValueOfString(iter.Key().String()).MapKey()
				if field.MapValue().Message() != nil {
					fillFrom(entries.Mutable(key).Message(), iter.Value())
				} else {
					entries.Set(key, protoreflect.ValueOf(iter.Value().Interface()))
				}
			}
		case field.IsList():
			for j := range v.Len() {
				m.Mutable(field).List().Append(protoreflect.ValueOf(v.Index(j).Interface()))
			}
		case field.Message() != nil:
			fillFrom(m.Mutable(field).Message(), v)
		case field.Enum() != nil:
			m.Set(field, protoreflect.ValueOfEnum(protoreflect.EnumNumber(v.Int())))
		default:
			m.Set(field, protoreflect.ValueOf(v.Interface()))
		}
	}
}

// contract is the descriptor of the contract's top message.
var contract = (*Config)(nil).ProtoReflect().Descriptor()

// filler makes messages with everything set, by reflection, so that a new field is tested automatically. Scalars differ from each
// other as far as their type allows.
type filler struct{ n int }

func (f *filler) scalar(field protoreflect.FieldDescriptor) protoreflect.Value {
	f.n++
	switch field.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(f.n))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(float64(f.n) + 0.5)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(1)
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(fmt.Sprint("text-", f.n))
	}
	panic("no value for " + field.FullName())
}

// fill sets all fields of a message, at any depth, with two elements in each list and map.
func (f *filler) fill(m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		switch field := fields.Get(i); {
		case field.IsMap():
			entries := m.Mutable(field).Map()
			for range 2 {
				f.n++
				key := protoreflect.ValueOfString(fmt.Sprint("k", f.n)).MapKey()
				if field.MapValue().Message() != nil {
					f.fill(entries.Mutable(key).Message())
				} else {
					entries.Set(key, f.scalar(field.MapValue()))
				}
			}
		case field.IsList():
			list := m.Mutable(field).List()
			list.Append(f.scalar(field))
			list.Append(f.scalar(field))
		case field.Message() != nil:
			f.fill(m.Mutable(field).Message())
		default:
			m.Set(field, f.scalar(field))
		}
	}
}

// fullMessage is a message with everything set. As a node it makes no sense.
func fullMessage() *Config {
	config := new(Config)
	new(filler).fill(config.ProtoReflect())
	config.Version = "v1"
	return config
}

// asDocument writes a message as a document, as AKS does.
func asDocument(t testing.TB, m proto.Message) *document.Node {
	t.Helper()
	data, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	n, err := document.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// respelled is a document with the names of fields in the spelling of name.
func respelled(n *document.Node, message protoreflect.MessageDescriptor, name func(protoreflect.FieldDescriptor) string) *document.Node {
	out := &document.Node{Kind: n.Kind, Text: n.Text, Items: n.Items}
	for _, f := range n.Fields {
		field := message.Fields().ByTextName(f.Name)
		if field == nil {
			field = message.Fields().ByJSONName(f.Name)
		}
		value := &f.Value
		switch {
		case field == nil:
			out.Fields = append(out.Fields, f)
			continue
		case field.IsMap() && field.MapValue().Message() != nil:
			entries := &document.Node{Kind: document.Map}
			for _, entry := range value.Fields {
				entries.Fields = append(entries.Fields, document.Field{Name: entry.Name, Value: *respelled(&entry.Value, field.MapValue().Message(), name)})
			}
			value = entries
		case field.Message() != nil && !field.IsMap():
			value = respelled(value, field.Message(), name)
		}
		out.Fields = append(out.Fields, document.Field{Name: name(field), Value: *value})
	}
	return out
}

// each visits every field of a message and of those below, parents first, with its path. A map's values are below the key "k".
func each(message protoreflect.MessageDescriptor, at string, visit func(path string, field protoreflect.FieldDescriptor)) {
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		path := document.FieldPath(at, string(field.Name()))
		visit(path, field)
		switch {
		case field.IsMap() && field.MapValue().Message() != nil:
			each(field.MapValue().Message(), path+".k", visit)
		case field.Message() != nil && !field.IsMap():
			each(field.Message(), path, visit)
		}
	}
}

// madeKey matches a key that a filler makes, in a path.
var madeKey = regexp.MustCompile(`\.k[0-9]+(\.|$)`)

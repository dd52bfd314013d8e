package aksnodeconfig_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/slipway-dev/slipway/api/aksnodeconfig/protos"
	aksnodeconfigv1 "github.com/slipway-dev/slipway/api/aksnodeconfig/v1"
	"github.com/slipway-dev/slipway/internal/aksnodeconfig"
)

// TestSameContract: the structs have the fields of the protobuf types, with their numbers, names, types and presence, and the
// enumerations have the same values. Only in the kubelet's configuration they have more presence.
func TestSameContract(t *testing.T) {
	c := comparison{t: t, tracked: (*aksnodeconfigv1.KubeletConfigFileConfig)(nil).ProtoReflect().Descriptor(), seen: make(map[string]bool)}
	c.message((*aksnodeconfigv1.Configuration)(nil).ProtoReflect().Descriptor(), reflect.TypeFor[aksnodeconfig.Configuration](), false)
	if len(c.seen) != 40 || c.fields != 258 {
		t.Errorf("%d messages and enumerations with %d fields are compared, want 40 with 258", len(c.seen), c.fields)
	}
}

type comparison struct {
	t       *testing.T
	tracked protoreflect.MessageDescriptor
	seen    map[string]bool
	fields  int
}

func (c *comparison) message(want protoreflect.MessageDescriptor, got reflect.Type, tracked bool) {
	if got.Name() != string(want.Name()) {
		c.t.Fatalf("%s is a %s", want.FullName(), got)
	}
	if c.seen[got.Name()] {
		return
	}
	c.seen[got.Name()] = true
	tracked = tracked || want == c.tracked
	if got.NumField() != want.Fields().Len() {
		c.t.Errorf("%s has %d fields, want %d", got, got.NumField(), want.Fields().Len())
	}
	for i := range want.Fields().Len() {
		c.fields++
		c.field(want.Fields().Get(i), got.Field(i), tracked)
	}
}

func (c *comparison) field(want protoreflect.FieldDescriptor, got reflect.StructField, tracked bool) {
	names := []string{string(want.Name())}
	if want.JSONName() != names[0] {
		names = append(names, want.JSONName())
	}
	var number int
	if _, err := fmt.Sscanf(got.Tag.Get("aks"), "%d,", &number); err != nil || number != int(want.Number()) || !slices.Equal(aksnodeconfig.FieldNames(got), names) {
		c.t.Errorf("%s: the tag is %q", want.FullName(), got.Tag)
	}
	kind, single := got.Type.Kind(), got.Type
	value := want
	switch {
	case want.IsMap():
		if kind != reflect.Map || got.Type.Key().Kind() != reflect.String || want.MapKey().Kind() != protoreflect.StringKind {
			c.t.Fatalf("%s is a %s", want.FullName(), got.Type)
		}
		single, value = got.Type.Elem(), want.MapValue()
	case want.IsList():
		if kind != reflect.Slice {
			c.t.Fatalf("%s is a %s", want.FullName(), got.Type)
		}
		single = got.Type.Elem()
	case (want.HasPresence() || tracked) != (kind == reflect.Pointer):
		c.t.Errorf("%s is a %s", want.FullName(), got.Type)
	case kind == reflect.Pointer:
		single = got.Type.Elem()
	}
	switch value.Kind() {
	case protoreflect.MessageKind:
		c.message(value.Message(), single, tracked)
	case protoreflect.EnumKind:
		c.enum(value.Enum(), single)
	default:
		kinds := map[protoreflect.Kind]reflect.Kind{
			protoreflect.BoolKind: reflect.Bool, protoreflect.Int32Kind: reflect.Int32, protoreflect.DoubleKind: reflect.Float64, protoreflect.StringKind: reflect.String,
		}
		if protos.Wide(value) {
			kinds[protoreflect.Int32Kind] = reflect.Int64
		}
		if single.Kind() != kinds[value.Kind()] || single.Name() != single.Kind().String() {
			c.t.Errorf("%s is a %s", want.FullName(), got.Type)
		}
	}
}

func (c *comparison) enum(want protoreflect.EnumDescriptor, got reflect.Type) {
	if c.seen[got.Name()] = true; got.Name() != string(want.Name()) {
		c.t.Fatalf("%s is a %s", want.FullName(), got)
	}
	for i := range want.Values().Len() {
		v := want.Values().Get(i)
		for _, name := range []string{string(v.Name()), fmt.Sprint(v.Number())} {
			if value, known, ok := aksnodeconfig.EnumValue(got, name); value != int64(v.Number()) || !known || !ok {
				c.t.Errorf("%s %s is %d, want %d", got, name, value, v.Number())
			}
		}
	}
	for _, name := range []string{"", "0x1", "+1", "01", "-1", "1.0", fmt.Sprint(want.Values().Len())} {
		if value, known, ok := aksnodeconfig.EnumValue(got, name); known || !ok {
			c.t.Errorf("%s takes %q for %d", got, name, value)
		}
	}
}

// TestNoEnum: a type that is not an enumeration has no values.
func TestNoEnum(t *testing.T) {
	for _, typ := range []reflect.Type{reflect.TypeFor[string](), reflect.TypeFor[int32](), reflect.TypeFor[aksnodeconfig.Configuration]()} {
		if _, _, ok := aksnodeconfig.EnumValue(typ, "0"); ok {
			t.Errorf("%s is an enumeration", typ)
		}
	}
}

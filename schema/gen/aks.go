package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile/linker"
	"github.com/invopop/jsonschema"
	"github.com/slipway-dev/slipway/api/aksnodeconfig/protos"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// topMessage is the contract's top message.
const topMessage = "aksnodeconfig.v1.Configuration"

// secrets are fields that may contain a password although their comment does not say so: a proxy's URL.
var secrets = []protoreflect.FullName{
	"aksnodeconfig.v1.HttpProxyConfig.http_proxy",
	"aksnodeconfig.v1.HttpProxyConfig.https_proxy",
}

// aksSchema describes the contract that the .proto files in dir define.
func aksSchema(ctx context.Context, dir string) (*jsonschema.Schema, error) {
	files, err := protos.Compile(ctx, dir)
	if err != nil {
		return nil, err
	}
	top, err := files.AsResolver().FindDescriptorByName(topMessage)
	if err != nil {
		return nil, err
	}
	w := &protoWalk{files: files, defs: make(jsonschema.Definitions)}
	s := w.message(top.(protoreflect.MessageDescriptor))
	if w.err != nil {
		return nil, w.err
	}
	s.Version = jsonschema.Version
	s.ID = "https://slipway.dev/schema/v1/aks.json"
	s.Title = "aksnodeconfig.v1 Configuration"
	s.Extras = nil
	s.Type = "object" // a document is not null
	s.Required = []string{"version"}
	s.Definitions = w.defs
	delete(s.Definitions, string(top.Name()))
	version, _ := s.Properties.Get("version")
	version.Enum = []any{"v1", "v0"}
	version.Extras["type"] = "string"
	return s, nil
}

// protoWalk converts messages to definitions as it meets them.
type protoWalk struct {
	files linker.Files
	defs  jsonschema.Definitions
	err   error
}

// comment is a descriptor's leading comment.
func (w *protoWalk) comment(d protoreflect.Descriptor) string {
	return oneLine(d.ParentFile().SourceLocations().ByDescriptor(d).LeadingComments)
}

// message defines a message: each field under its proto name and, if it differs, under its JSON name.
func (w *protoWalk) message(m protoreflect.MessageDescriptor) *jsonschema.Schema {
	name := string(m.Name())
	if def, ok := w.defs[name]; ok {
		return def
	}
	def := nullable(&jsonschema.Schema{Description: w.comment(m), Properties: jsonschema.NewProperties()}, "object")
	w.defs[name] = def
	pointer := "#/$defs/" + name
	if m.FullName() == topMessage {
		pointer = "#"
	}
	var aliases [][2]string
	for i := range m.Fields().Len() {
		field := m.Fields().Get(i)
		def.Properties.Set(string(field.Name()), w.field(field))
		if alias := field.JSONName(); alias != string(field.Name()) {
			aliases = append(aliases, [2]string{alias, pointer + "/properties/" + string(field.Name())})
		}
	}
	for _, alias := range aliases {
		def.Properties.Set(alias[0], &jsonschema.Schema{Ref: alias[1]})
	}
	return def
}

// field describes a field by its type and its comment.
func (w *protoWalk) field(f protoreflect.FieldDescriptor) *jsonschema.Schema {
	var s *jsonschema.Schema
	switch {
	case f.IsMap():
		s = nullable(&jsonschema.Schema{AdditionalProperties: w.single(f.MapValue())}, "object")
	case f.IsList():
		s = nullable(&jsonschema.Schema{Items: w.single(f)}, "array")
	default:
		s = w.single(f)
	}
	s.Description = w.comment(f)
	s.WriteOnly = strings.Contains(s.Description, "Secret.") || slices.Contains(secrets, f.FullName())
	return s
}

// single describes one value of a field's type.
func (w *protoWalk) single(f protoreflect.FieldDescriptor) *jsonschema.Schema {
	switch f.Kind() {
	case protoreflect.MessageKind:
		w.message(f.Message())
		return &jsonschema.Schema{Ref: "#/$defs/" + string(f.Message().Name())}
	case protoreflect.EnumKind:
		return enum(f.Enum())
	case protoreflect.StringKind:
		return nullable(&jsonschema.Schema{}, "string")
	case protoreflect.BoolKind:
		return nullable(&jsonschema.Schema{}, "boolean")
	case protoreflect.Int32Kind:
		if protos.Wide(f) {
			return integer(64)
		}
		return integer(32)
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return number()
	}
	w.err = fmt.Errorf("%s: no schema for a field of kind %s", f.FullName(), f.Kind())
	return new(jsonschema.Schema)
}

// enum is a value by its name or its number. AKS's own decoder ignores a number in quotes (protojson), and so does ours.
func enum(e protoreflect.EnumDescriptor) *jsonschema.Schema {
	var names, numbers []any
	for i := range e.Values().Len() {
		value := e.Values().Get(i)
		names = append(names, string(value.Name()))
		numbers = append(numbers, int(value.Number()))
	}
	return &jsonschema.Schema{Enum: append(slices.Concat(names, numbers), nil)}
}

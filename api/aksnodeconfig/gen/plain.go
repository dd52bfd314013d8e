package main

import (
	"bytes"
	"fmt"
	"go/format"
	"path"
	"strings"

	"github.com/slipway-dev/slipway/api/aksnodeconfig/protos"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/pluginpb"
)

// plainPackage is the package of the plain structs.
const plainPackage = "aksnodeconfig"

// passedOn is the message with another program's configuration: the kubelet's. Each of its fields is a pointer, a list or a map,
// and nil if a document does not have it: the kubelet has its own defaults, so an explicit false differs from an unset field,
// though protobuf cannot carry the difference for every field.
const passedOn = "aksnodeconfig.v1.KubeletConfigFileConfig"

// plainStructs returns a file of plain structs for each file of a request, by base name. They have the shape of protobuf's own,
// except for passedOn.
func plainStructs(req *pluginpb.CodeGeneratorRequest) (map[string][]byte, error) {
	plugin, err := protogen.Options{}.New(req)
	if err != nil {
		return nil, err
	}
	tracked := make(map[protoreflect.FullName]bool)
	for _, file := range plugin.Files {
		for _, message := range file.Messages {
			if message.Desc.FullName() == passedOn {
				track(message, tracked)
			}
		}
	}
	made := make(map[string][]byte)
	for _, file := range plugin.Files {
		if !file.Generate {
			continue
		}
		var out bytes.Buffer
		fmt.Fprintf(&out, "// Code generated from %s. DO NOT EDIT.\n\npackage %s\n", file.Desc.Path(), plainPackage)
		for _, enum := range file.Enums {
			if err := plainEnum(&out, enum); err != nil {
				return nil, err
			}
		}
		for _, message := range file.Messages {
			if err := plainMessage(&out, message, tracked[message.Desc.FullName()]); err != nil {
				return nil, err
			}
		}
		source, err := format.Source(out.Bytes())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.Desc.Path(), err)
		}
		made[strings.TrimSuffix(path.Base(file.Desc.Path()), ".proto")+plainSuffix] = source
	}
	return made, nil
}

// track marks a message and the messages in it.
func track(message *protogen.Message, tracked map[protoreflect.FullName]bool) {
	tracked[message.Desc.FullName()] = true
	for _, field := range message.Fields {
		if field.Message != nil && !field.Desc.IsMap() {
			track(field.Message, tracked)
		}
	}
}

// plainEnum writes an enumeration. Its values count from 0, so their names can be a list.
func plainEnum(out *bytes.Buffer, enum *protogen.Enum) error {
	name := enum.GoIdent.GoName
	fmt.Fprintf(out, "\n%stype %s int32\n\nconst (\n", enum.Comments.Leading, name)
	for i, value := range enum.Values {
		if int(value.Desc.Number()) != i {
			return fmt.Errorf("%s is %d, want %d: the values count from 0", value.Desc.FullName(), value.Desc.Number(), i)
		}
		fmt.Fprintf(out, "%s%s %s = %d\n", value.Comments.Leading, value.GoIdent.GoName, name, i)
	}
	fmt.Fprintf(out, ")\n\nvar namesOf%s = [...]string{\n", name)
	for _, value := range enum.Values {
		fmt.Fprintf(out, "%q,\n", value.Desc.Name())
	}
	fmt.Fprintf(out, "}\n\n// Names are the names of the values, by their numbers.\nfunc (%s) Names() []string { return namesOf%s[:] }\n", name, name)
	return nil
}

// plainMessage writes a message. The tag of a field has its number, its name, and its JSON name if it differs. If the message is
// tracked, no field is a plain value.
func plainMessage(out *bytes.Buffer, message *protogen.Message, tracked bool) error {
	fmt.Fprintf(out, "\n%stype %s struct {\n", message.Comments.Leading, message.GoIdent.GoName)
	for _, field := range message.Fields {
		goType, err := plainType(field, tracked)
		if err != nil {
			return err
		}
		tag := fmt.Sprintf("%d,%s", field.Desc.Number(), field.Desc.Name())
		if json := field.Desc.JSONName(); json != string(field.Desc.Name()) {
			tag += "," + json
		}
		fmt.Fprintf(out, "%s%s %s `aks:%q`\n", field.Comments.Leading, field.GoName, goType, tag)
	}
	out.WriteString("}\n")
	return nil
}

// plainType is the Go type of a field.
func plainType(field *protogen.Field, tracked bool) (string, error) {
	switch {
	case field.Desc.IsMap():
		key, value := field.Message.Fields[0], field.Message.Fields[1]
		if key.Desc.Kind() != protoreflect.StringKind {
			return "", fmt.Errorf("%s: no rule for a map of such keys", field.Desc.FullName())
		}
		single, err := plainSingle(value)
		return "map[string]" + single, err
	case field.Desc.IsList():
		single, err := plainSingle(field)
		return "[]" + single, err
	}
	single, err := plainSingle(field)
	if tracked || field.Desc.HasPresence() {
		single = "*" + single
	}
	return single, err
}

// plainSingle is the Go type of one value of a field.
func plainSingle(field *protogen.Field) (string, error) {
	switch field.Desc.Kind() {
	case protoreflect.BoolKind:
		return "bool", nil
	case protoreflect.Int32Kind:
		if protos.Wide(field.Desc) {
			return "int64", nil
		}
		return "int32", nil
	case protoreflect.DoubleKind:
		return "float64", nil
	case protoreflect.StringKind:
		return "string", nil
	case protoreflect.EnumKind:
		return field.Enum.GoIdent.GoName, nil
	case protoreflect.MessageKind:
		return field.Message.GoIdent.GoName, nil
	}
	return "", fmt.Errorf("%s: no rule for a field of kind %s", field.Desc.FullName(), field.Desc.Kind())
}

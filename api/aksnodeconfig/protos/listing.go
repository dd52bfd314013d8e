package protos

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Listing is a table of the declarations in .proto files: one line for each field, enumeration value, and reserved number or name.
// It is sorted by message and number. It does not depend on comments, files and the order of declarations.
func Listing(files []protoreflect.FileDescriptor) []byte {
	var rows []line
	for _, file := range files {
		for i := range file.Messages().Len() {
			rows = append(rows, message(file.Messages().Get(i))...)
		}
		for i := range file.Enums().Len() {
			enum := file.Enums().Get(i)
			for j := range enum.Values().Len() {
				value := enum.Values().Get(j)
				rows = append(rows, line{enum.Name(), int(value.Number()), string(value.Name()), "", "value", ""})
			}
		}
	}
	slices.SortFunc(rows, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.of, b.of), cmp.Compare(a.number, b.number), cmp.Compare(a.name, b.name))
	})
	var text strings.Builder
	text.WriteString("of\tnumber\tname\tjson\ttype\tpresence\n")
	for _, row := range rows {
		number := strconv.Itoa(row.number)
		if row.number == nameOnly {
			number = "-"
		}
		fmt.Fprintf(&text, "%s\t%s\t%s\t%s\t%s\t%s\n",
			row.of, number, cmp.Or(row.name, "-"), cmp.Or(row.json, "-"), row.kind, cmp.Or(row.presence, "-"))
	}
	return []byte(text.String())
}

// line is a line of a listing.
type line struct {
	of     protoreflect.Name
	number int
	name   string
	// json is a field's JSON name.
	json string
	// kind is a field's type, or "value" or "reserved".
	kind     string
	presence string
}

// nameOnly is the number of a reserved name, which comes after all others.
const nameOnly = int(^uint(0) >> 1)

// message returns a message's part of a listing.
func message(m protoreflect.MessageDescriptor) (rows []line) {
	for i := range m.Messages().Len() {
		if inner := m.Messages().Get(i); !inner.IsMapEntry() {
			rows = append(rows, message(inner)...)
		}
	}
	for i := range m.Fields().Len() {
		field := m.Fields().Get(i)
		presence := "implicit"
		if field.HasOptionalKeyword() {
			presence = "optional"
		} else if choice := field.ContainingOneof(); choice != nil {
			presence = "oneof " + string(choice.Name())
		}
		rows = append(rows, line{m.Name(), int(field.Number()), string(field.Name()), field.JSONName(), typeName(field), presence})
	}
	for i := range m.ReservedRanges().Len() {
		numbers := m.ReservedRanges().Get(i)
		for n := numbers[0]; n < numbers[1]; n++ {
			rows = append(rows, line{m.Name(), int(n), "", "", "reserved", ""})
		}
	}
	for i := range m.ReservedNames().Len() {
		rows = append(rows, line{m.Name(), nameOnly, string(m.ReservedNames().Get(i)), "", "reserved", ""})
	}
	return rows
}

// typeName spells the type of a field.
func typeName(field protoreflect.FieldDescriptor) string {
	if field.IsMap() {
		return fmt.Sprintf("map<%s,%s>", typeName(field.MapKey()), typeName(field.MapValue()))
	}
	name := field.Kind().String()
	switch field.Kind() {
	case protoreflect.EnumKind:
		name = "enum " + string(field.Enum().Name())
	case protoreflect.MessageKind:
		name = string(field.Message().Name())
	}
	if field.IsList() {
		return "repeated " + name
	}
	return name
}

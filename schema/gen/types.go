package main

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// nullable makes a schema accept values of a type, and null: for the decoders, null is the same as
// an omitted field.
func nullable(s *jsonschema.Schema, types ...string) *jsonschema.Schema {
	s.Type = ""
	if s.Extras == nil {
		s.Extras = make(map[string]any)
	}
	s.Extras["type"] = append(types, "null")
	return s
}

// integer is a whole number, or a string with one, as protobuf's JSON allows.
func integer(bits int) *jsonschema.Schema {
	s := nullable(&jsonschema.Schema{Pattern: `^[-+]?[0-9]+$`}, "integer", "string")
	if bits < 64 {
		limit := int64(1) << (bits - 1)
		s.Minimum = json.Number(strconv.FormatInt(-limit, 10))
		s.Maximum = json.Number(strconv.FormatInt(limit-1, 10))
	}
	return s
}

// number is a number, or a string with one.
func number() *jsonschema.Schema {
	return nullable(&jsonschema.Schema{Pattern: `^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`}, "number", "string")
}

// oneLine joins the lines of a comment.
func oneLine(comment string) string { return strings.Join(strings.Fields(comment), " ") }

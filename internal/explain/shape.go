package explain

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/schema"
)

// shape is the part of a JSON Schema that describes possible values.
type shape struct {
	Ref         string            `json:"$ref"`
	Defs        map[string]*shape `json:"$defs"`
	Description string            `json:"description"`
	Types       typeNames         `json:"type"`
	Enum        []any             `json:"enum"`
	Pattern     string            `json:"pattern"`
	WriteOnly   bool              `json:"writeOnly"`
	Properties  map[string]*shape `json:"properties"`
	Additional  otherFields       `json:"additionalProperties"`
	Items       *shape            `json:"items"`
}

// typeNames is the keyword type: one name, or a list of names.
type typeNames []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *typeNames) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		*t = make(typeNames, 1)
		return json.Unmarshal(data, &(*t)[0])
	}
	return json.Unmarshal(data, (*[]string)(t))
}

// otherFields is the keyword additionalProperties: a schema, or false.
type otherFields struct{ *shape }

// UnmarshalJSON implements json.Unmarshaler.
func (o *otherFields) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("{")) {
		return json.Unmarshal(data, &o.shape)
	}
	return nil
}

// anything is the shape of data that passes through.
var anything = new(shape)

// isStruct reports whether a value has a fixed set of fields.
func (s *shape) isStruct() bool { return len(s.Properties) > 0 }

// isMap reports whether a value has fields that its author names.
func (s *shape) isMap() bool { return s.Additional.shape != nil }

// isFree reports whether a value is data that passes through.
func (s *shape) isFree() bool {
	return !s.isStruct() && !s.isMap() && s.Items == nil && len(s.Enum) == 0 &&
		(len(s.Types) == 0 || slices.Contains(s.Types, "object"))
}

// takes reports whether a value may be of a type.
func (s *shape) takes(typeName string) bool { return slices.Contains(s.Types, typeName) }

// catalog is the whole schema of a dialect.
type catalog struct {
	dialect string
	root    *shape
}

// loadCatalog loads the schema of a dialect, once.
func loadCatalog(dialect string) *catalog { return catalogs[dialect]() }

var catalogs = func() map[string]func() *catalog {
	loaders := make(map[string]func() *catalog)
	for _, name := range dialect.Names() {
		loaders[name] = sync.OnceValue(func() *catalog {
			data, _ := schema.Get(name)
			c := &catalog{name, new(shape)}
			if err := json.Unmarshal(data, c.root); err != nil {
				panic("a schema of this program's own cannot be read: " + err.Error())
			}
			return c
		})
	}
	return loaders
}()

// follow resolves a reference; the reference's description has priority.
func (c *catalog) follow(s *shape) *shape {
	if s == nil || s.Ref == "" {
		return s
	}
	at, rest := c.root, strings.TrimPrefix(s.Ref, "#/")
	for rest != "" {
		var keyword, name string
		keyword, rest, _ = strings.Cut(rest, "/")
		name, rest, _ = strings.Cut(rest, "/")
		if keyword == "$defs" {
			at = at.Defs[name]
		} else {
			at = at.Properties[name]
		}
	}
	found := *c.follow(at)
	if s.Description != "" {
		found.Description = s.Description
	}
	return &found
}

// property returns a struct's field by one of its names, with its main name.
func (c *catalog) property(s *shape, name string) (*shape, string, bool) {
	found, ok := s.Properties[name]
	if !ok {
		return nil, "", false
	}
	if _, first, alias := strings.Cut(found.Ref, "/properties/"); alias {
		name = first
	}
	return c.follow(found), name, true
}

// names returns the main names of a struct's fields, sorted.
func (c *catalog) names(s *shape) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if _, first, _ := c.property(s, name); first == name {
			names = append(names, name)
		}
	}
	return names
}

// paths returns the paths of all fields, including nested ones.
func (c *catalog) paths() []string {
	var all []string
	var walk func(s *shape, at string)
	walk = func(s *shape, at string) {
		for _, name := range c.names(s) {
			below, _, _ := c.property(s, name)
			path := document.FieldPath(at, name)
			all = append(all, path)
			walk(below, path)
		}
	}
	walk(c.root, "$")
	return all
}

// redact returns a value without secrets, and without any string where the schema expects none, because that may be a
// misplaced secret.
func (c *catalog) redact(s *shape, n *document.Node) *document.Node {
	hidden := &document.Node{Kind: document.String, Text: nodeconfig.Redacted}
	s = c.follow(s)
	switch {
	case n == nil || n.Kind == document.Null:
		return n
	case s == nil || s.WriteOnly:
		return hidden
	case s.isFree():
		return n
	}
	switch n.Kind {
	case document.Map:
		if !s.isStruct() && !s.isMap() {
			return hidden
		}
		shown := document.Node{Kind: document.Map}
		for _, f := range n.Fields {
			below := s.Additional.shape
			if s.isStruct() {
				below, _, _ = c.property(s, f.Name)
			}
			shown.Fields = append(shown.Fields, document.Field{Name: f.Name, Value: *c.redact(below, &f.Value)})
		}
		return &shown
	case document.List:
		if s.Items == nil {
			return hidden
		}
		shown := document.Node{Kind: document.List}
		for i := range n.Items {
			shown.Items = append(shown.Items, *c.redact(s.Items, &n.Items[i]))
		}
		return &shown
	case document.String:
		if !s.fitsString(n.Text) {
			return hidden
		}
	}
	return n
}

// takesInWords describes the possible values: "integer", "list of string", "none, azure or kubenet". It is empty if any
// value is possible.
func (c *catalog) takesInWords(s *shape) string {
	s = c.follow(s)
	switch {
	case len(s.Enum) > 0:
		var names []string
		for _, value := range enumerated(s) {
			names = append(names, value.Text)
		}
		return cli.List(names, "or")
	case s.Items != nil:
		return "list" + c.severalInWords(s.Items)
	case s.isMap():
		return "map" + c.severalInWords(s.Additional.shape)
	case s.isStruct(), s.isFree() && len(s.Types) > 0:
		return "map"
	case len(s.Types) > 0:
		return s.Types[0]
	}
	return ""
}

// severalInWords describes the items of a list or map: " of strings".
func (c *catalog) severalInWords(s *shape) string {
	one := c.takesInWords(s)
	switch {
	case one == "":
		return ""
	case len(c.follow(s).Enum) > 0:
		return " of " + one
	}
	kind, rest, _ := strings.Cut(one, " ")
	return strings.TrimRight(" of "+kind+"s "+rest, " ")
}

// fitsString reports whether a string is a possible value.
func (s *shape) fitsString(text string) bool {
	if len(s.Enum) > 0 {
		return slices.Contains(s.Enum, any(text))
	}
	return s.takes("string") && (s.Pattern == "" || regexp.MustCompile(s.Pattern).MatchString(text))
}

package main

import (
	"path/filepath"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/slipway-dev/slipway/internal/anatomy"
)

// timelineSchema describes a boot's timeline, as "slipway anatomy -o json" prints it; dir is the directory of package anatomy's sources,
// for the comments. A later version may add fields.
func timelineSchema(dir string) (*jsonschema.Schema, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r := &jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, AllowAdditionalProperties: true}
	if err := r.AddGoComments("", dir, jsonschema.WithFullComment()); err != nil {
		return nil, err
	}
	r.LookupComment = func(t reflect.Type, field string) string {
		key := filepath.ToSlash(dir) + strings.TrimPrefix(t.PkgPath(), reflect.TypeFor[anatomy.Timeline]().PkgPath()) + "." + t.Name()
		if field != "" {
			key += "." + field
		}
		return oneLine(r.CommentMap[key])
	}
	s := r.Reflect(new(anatomy.Timeline))
	s.ID = "https://slipway.dev/schema/v1/timeline.json"
	s.Title = anatomy.APIVersion + " " + anatomy.Kind
	for name, value := range map[string]string{"apiVersion": anatomy.APIVersion, "kind": anatomy.Kind} {
		property, _ := s.Properties.Get(name)
		property.Enum = []any{value}
	}
	return s, nil
}

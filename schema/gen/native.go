package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/nodeconfig/eksctl"
)

// enums are the fields with a closed set of values, by type and field, except those whose values are in a tag. A test checks that
// the other enumerations of package nodeconfig are here.
var enums = map[string][]any{
	"NodeConfig.apiVersion":     {nodeconfig.APIVersion},
	"NodeConfig.kind":           {nodeconfig.Kind},
	"ClusterConfig.apiVersion":  {eksctl.APIVersion},
	"ClusterConfig.kind":        {eksctl.Kind},
	"Capacity.rule":             {nodeconfig.RuleEKS},
	"Taint.effect":              {"NoSchedule", "PreferNoSchedule", "NoExecute"},
	"RegistryHost.capabilities": {"pull", "resolve"},
	"Network.ipFamilies":        {"IPv4", "IPv6"},
	"Components.layout":         families(),
}

func families() (names []any) {
	for _, name := range profile.Names() {
		names = append(names, name)
	}
	return names
}

// durationPattern matches the input of time.ParseDuration, without a negative sign.
const durationPattern = `^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`

// ofOldClusterConfigs adds the forms of older ClusterConfigs.
func ofOldClusterConfigs(s *jsonschema.Schema) {
	group := s.Definitions["NodeGroup"].Properties
	for _, name := range []string{"kubeletExtraConfig", "overrideBootstrapCommand"} { // they may contain credentials
		group.Value(name).WriteOnly = true
	}
	// Taints are a map in older documents.
	taints := group.Value("taints")
	group.Set("taints", &jsonschema.Schema{Description: taints.Description, AnyOf: []*jsonschema.Schema{
		taints, nullable(&jsonschema.Schema{AdditionalProperties: nullable(&jsonschema.Schema{}, "string")}, "object"),
	}})
}

// reflected reflects the Go types of a dialect's document; dir is the directory of nodeconfig's sources, for the comments. Only a
// native document may not have other fields.
func reflected(dir string, d *dialect.Dialect) (*jsonschema.Schema, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	words := maps.Clone(enums)
	r := &jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, AllowAdditionalProperties: d.Name != dialect.Native}
	if err := r.AddGoComments("", dir, jsonschema.WithFullComment()); err != nil {
		return nil, err
	}
	r.LookupComment = func(t reflect.Type, field string) string {
		key := filepath.ToSlash(dir) + strings.TrimPrefix(t.PkgPath(), reflect.TypeFor[nodeconfig.NodeConfig]().PkgPath()) + "." + t.Name()
		if field == "" {
			return oneLine(r.CommentMap[key])
		}
		f, found := t.FieldByName(field)
		for _, word := range nodeconfig.WordsOf(f) {
			of := t.Name() + "." + document.JSONNames(f)[0]
			if !slices.Contains(words[of], any(word)) {
				words[of] = append(words[of], word)
			}
		}
		comment := oneLine(r.CommentMap[key+"."+field])
		if rest, ok := strings.CutPrefix(comment, field+" "); ok {
			if found { // readers of the schema know the JSON name
				comment = document.JSONNames(f)[0] + " " + rest
			}
		}
		return comment
	}
	r.Mapper = func(t reflect.Type) *jsonschema.Schema {
		switch t {
		case reflect.TypeFor[nodeconfig.Secret]():
			return nullable(&jsonschema.Schema{WriteOnly: true}, "string")
		case reflect.TypeFor[nodeconfig.Duration]():
			return nullable(&jsonschema.Schema{Pattern: durationPattern}, "string")
		}
		switch t.Kind() {
		case reflect.String:
			return nullable(&jsonschema.Schema{}, "string")
		case reflect.Bool:
			return nullable(&jsonschema.Schema{}, "boolean")
		case reflect.Int32, reflect.Int64:
			return integer(t.Bits())
		case reflect.Float64:
			return number()
		}
		return nil
	}
	s := r.Reflect(d.Document)
	name := reflect.TypeOf(d.Document).Elem().Name()
	s.ID, s.Title = jsonschema.ID("https://slipway.dev/schema/v1/"+d.Name+".json"), name
	if err := finish(name, true, s, words); err != nil {
		return nil, err
	}
	s.Extras = nil
	s.Type = "object" // a document is not null
	for name, def := range s.Definitions {
		if err := finish(name, false, def, words); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// finish makes the composites of a type nullable and sets the enumerations of its fields. A top type is that of a document.
func finish(name string, top bool, s *jsonschema.Schema, words map[string][]any) error {
	nullable(s, "object")
	if s.Properties == nil {
		return fmt.Errorf("type %s has no fields", name)
	}
	for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
		field := pair.Value
		composite(field)
		values, closed := words[name+"."+pair.Key]
		switch {
		case closed && field.Items != nil:
			field.Items.Enum = append(values[:len(values):len(values)], nil)
		case closed && top: // the document's own version and kind
			field.Const = values[0]
			field.Extras["type"] = "string"
		case closed:
			field.Enum = append(values[:len(values):len(values)], nil)
		}
	}
	return nil
}

// composite makes lists and maps nullable, at every depth.
func composite(s *jsonschema.Schema) {
	switch s.Type {
	case "array":
		nullable(s, "array")
		composite(s.Items)
	case "object":
		nullable(s, "object")
		if s.AdditionalProperties != nil {
			composite(s.AdditionalProperties)
		}
	}
}

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
	"github.com/slipway-dev/slipway/internal/image/kind"
	"github.com/slipway-dev/slipway/internal/image/lock"
	"github.com/slipway-dev/slipway/internal/image/spec"
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

// imageEnums are those of the documents of a node image.
var imageEnums = map[string][]any{
	"Document.apiVersion":     {spec.APIVersion},
	"Document.kind":           {spec.Kind},
	"Document.architectures":  words(spec.Architectures),
	"Lock.apiVersion":         {lock.APIVersion},
	"Lock.kind":               {lock.Kind},
	"Component.kind":          words(kind.Names()),
	"Component.architectures": words(spec.Architectures),
	"Artifact.architecture":   words(spec.Architectures),
}

func families() []any { return words(profile.Names()) }

func words(texts []string) (all []any) {
	for _, text := range texts {
		all = append(all, text)
	}
	return all
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

// described is a document whose Go types are its description.
type described struct {
	// name is the schema's name, and document a pointer to the type.
	name     string
	document any
	// dir is the directory of the types' sources, for the comments, and pkg the import path of that directory.
	dir, pkg string
	// closed reports that the document may not have other fields.
	closed bool
	// values are the fields with a closed set of values, by type and field.
	values map[string][]any
}

// ofDialect describes a dialect's document; dir is the directory of nodeconfig's sources. Only a native document may not have other
// fields.
func ofDialect(dir string, d *dialect.Dialect) described {
	return described{d.Name, d.Document, dir, reflect.TypeFor[nodeconfig.NodeConfig]().PkgPath(), d.Name == dialect.Native, enums}
}

// reflected reflects the Go types of a document.
func reflected(d described) (*jsonschema.Schema, error) {
	dir, err := filepath.Abs(d.dir)
	if err != nil {
		return nil, err
	}
	values := maps.Clone(d.values)
	r := &jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, AllowAdditionalProperties: !d.closed}
	if err := r.AddGoComments("", dir, jsonschema.WithFullComment()); err != nil {
		return nil, err
	}
	r.LookupComment = func(t reflect.Type, field string) string {
		key := filepath.ToSlash(dir) + strings.TrimPrefix(t.PkgPath(), d.pkg) + "." + t.Name()
		if field == "" {
			return oneLine(r.CommentMap[key])
		}
		f, found := t.FieldByName(field)
		for _, word := range nodeconfig.WordsOf(f) {
			of := t.Name() + "." + document.JSONNames(f)[0]
			if !slices.Contains(values[of], any(word)) {
				values[of] = append(values[of], word)
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
	s := r.Reflect(d.document)
	name := reflect.TypeOf(d.document).Elem().Name()
	s.ID, s.Title = jsonschema.ID("https://slipway.dev/schema/v1/"+d.name+".json"), name
	if err := finish(name, true, s, values); err != nil {
		return nil, err
	}
	s.Extras = nil
	s.Type = "object" // a document is not null
	for name, def := range s.Definitions {
		if err := finish(name, false, def, values); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// finish makes the composites of a type nullable and sets the enumerations of its fields. A top type is that of a document.
func finish(name string, top bool, s *jsonschema.Schema, closed map[string][]any) error {
	nullable(s, "object")
	if s.Properties == nil {
		return fmt.Errorf("type %s has no fields", name)
	}
	for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
		field := pair.Value
		composite(field)
		values, isClosed := closed[name+"."+pair.Key]
		switch {
		case isClosed && field.Items != nil:
			field.Items.Enum = append(values[:len(values):len(values)], nil)
		case isClosed && top: // the document's own version and kind
			field.Const = values[0]
			field.Extras["type"] = "string"
		case isClosed:
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

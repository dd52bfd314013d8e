package stability

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"

	reflected "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/slipway-dev/slipway/schema"
	"github.com/slipway-dev/slipway/status"
)

// schemaRules are for documents that Slipway reads: an earlier document must stay valid.
var schemaRules = map[string]rule{
	"type": narrowed, "enum": narrowed, "const": narrowed, "pattern": narrowed, "minimum": raised, "maximum": lowered,
	"required": added, "closed": added, "spelling": lost,
}

// resultRules are for documents that Slipway writes: a reader must find what it found before.
var resultRules = map[string]rule{"type": widened, "required": lost}

// raised reports whether a minimum is new or greater.
func raised(old, current []string) bool {
	return len(current) > 0 && (len(old) == 0 || number(current).Cmp(number(old)) > 0)
}

// lowered reports whether a maximum is new or less.
func lowered(old, current []string) bool {
	return len(current) > 0 && (len(old) == 0 || number(current).Cmp(number(old)) < 0)
}

// number is a limit. Where alternatives have several, it is the first.
func number(words []string) *big.Rat {
	n, ok := new(big.Rat).SetString(words[0])
	if !ok {
		return new(big.Rat)
	}
	return n
}

// results are the documents that Slipway writes and no version of it reads, and those without a schema of their own.
var results = map[string]func() ([]byte, error){
	schema.Timeline: func() ([]byte, error) {
		data, _ := schema.Get(schema.Timeline)
		return data, nil
	},
	"status.json":    func() ([]byte, error) { return schemaOf(&status.Status{}) },
	"provision.json": func() ([]byte, error) { return schemaOf(&status.CSEStatus{}) },
}

func schemaOf(document any) ([]byte, error) {
	return json.Marshal((&reflected.Reflector{Anonymous: true, AllowAdditionalProperties: true}).Reflect(document))
}

// currentSchemas are the fields of the documents that Slipway reads.
func currentSchemas(root string) (facts, error) {
	paths, err := filepath.Glob(filepath.Join(root, "schema", "*.json"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no schemas in %s: %w", root, err)
	}
	all := make(facts)
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		if results[name] != nil {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if err := flatten(all, name, data); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// currentResults are the fields of the documents that Slipway writes.
func currentResults() (facts, error) {
	all := make(facts)
	for name, get := range results {
		data, err := get()
		if err != nil {
			return nil, fmt.Errorf("make the schema of %s: %w", name, err)
		}
		if err := flatten(all, name, data); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// flatten adds the fields of a schema, each with its path. Definitions have no name there, so they may be renamed.
func flatten(into facts, name string, data []byte) error {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("read the schema %s: %w", name, err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(name, document); err != nil {
		return fmt.Errorf("read the schema %s: %w", name, err)
	}
	compiled, err := compiler.Compile(name)
	if err != nil {
		return fmt.Errorf("read the schema %s: %w", name, err)
	}
	f := flattener{into: into}
	f.field(name+" $", compiled, false)
	return nil
}

type flattener struct {
	into facts
	// within are the definitions around a field. A schema may contain itself.
	within []*jsonschema.Schema
}

func (f *flattener) field(name string, s *jsonschema.Schema, required bool) {
	of := f.into[name]
	if of == nil {
		of = make(attributes)
		f.into[name] = of
	}
	if required {
		of["required"] = []string{"yes"}
	}
	f.describe(name, s, of)
}

func (f *flattener) describe(name string, s *jsonschema.Schema, of attributes) {
	if slices.Contains(f.within, s) {
		return
	}
	f.within = append(f.within, s)
	defer func() { f.within = f.within[:len(f.within)-1] }()
	limits(s, of)
	for _, other := range append(slices.Clone(s.AnyOf), s.Ref) {
		if other != nil {
			f.describe(name, other, of)
		}
	}
	for _, spellings := range properties(s) {
		key := spellings[len(spellings)-1]
		f.field(name+"."+key, s.Properties[key], slices.Contains(s.Required, key))
		if len(spellings) > 1 {
			f.into[name+"."+key]["spelling"] = spellings
		}
	}
	if s.Items2020 != nil {
		f.field(name+"[]", s.Items2020, false)
	}
	switch others := s.AdditionalProperties.(type) {
	case *jsonschema.Schema:
		f.field(name+".*", others, false)
	case bool:
		if !others {
			of["closed"] = []string{"yes"}
		}
	}
}

// properties are the names of an object's fields. AKS's contract has each in two spellings, such as cluster_config and clusterConfig: with a
// line for each, the record would be four times as long.
func properties(s *jsonschema.Schema) [][]string {
	same := make(map[string][]string)
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		plain := strings.ToLower(strings.ReplaceAll(key, "_", ""))
		same[plain] = append(same[plain], key)
	}
	return slices.Collect(maps.Values(same))
}

// limits adds what a schema says of a value.
func limits(s *jsonschema.Schema, of attributes) {
	add := func(attribute string, words ...string) {
		all := append(of[attribute], words...)
		slices.Sort(all)
		of[attribute] = slices.Compact(all)
	}
	if s.Types != nil {
		add("type", s.Types.ToStrings()...)
	}
	if s.Enum != nil {
		for _, value := range s.Enum.Values {
			if value == nil {
				value = "null"
			}
			add("enum", fmt.Sprint(value))
		}
	}
	if s.Const != nil {
		add("const", fmt.Sprint(*s.Const))
	}
	if s.Pattern != nil {
		add("pattern", s.Pattern.String())
	}
	if s.Minimum != nil {
		add("minimum", s.Minimum.RatString())
	}
	if s.Maximum != nil {
		add("maximum", s.Maximum.RatString())
	}
}

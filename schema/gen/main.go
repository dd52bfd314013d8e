// Command gen writes the JSON Schemas of the contracts from the sources that define them: the native one from the Go types of
// package nodeconfig and their comments, AKS's from its .proto files and their comments, and the others from the Go types of their
// packages below nodeconfig.
//
//	go run ./schema/gen [-dir DIR] [-check]
//
// With -check it writes nothing; it fails and names every stale schema. go generate calls it, from package schema; the test beside
// it generates in memory.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/slipway-dev/slipway/internal/image/lock"
	"github.com/slipway-dev/slipway/internal/image/spec"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/schema"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("gen: ")
	dir := flag.String("dir", ".", "directory of package schema")
	check := flag.Bool("check", false, "write nothing, fail if a schema is not up to date")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("unexpected argument %q", flag.Arg(0))
	}
	if err := run(context.Background(), *dir, *check); err != nil {
		log.Fatal(err)
	}
}

// run updates the schemas in dir or, if check is set, reports how they differ.
func run(ctx context.Context, dir string, check bool) error {
	schemas, err := generate(ctx, filepath.Join(dir, ".."))
	if err != nil {
		return err
	}
	var stale []error
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		path := filepath.Join(dir, name)
		if !check {
			if err := os.WriteFile(path, schemas[name], 0o644); err != nil {
				return fmt.Errorf("write schema: %w", err)
			}
			continue
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, schemas[name]) {
			stale = append(stale, fmt.Errorf("%s is stale; run go generate ./schema", path))
		}
	}
	return errors.Join(stale...)
}

// generate returns the schemas by file name; root is the module's directory.
func generate(ctx context.Context, root string) (map[string][]byte, error) {
	schemas := make(map[string][]byte)
	for _, d := range dialect.All() {
		s, err := schemaOf(ctx, root, d)
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", d.Name, err)
		}
		if schemas[d.Name+".json"], err = encode(s); err != nil {
			return nil, fmt.Errorf("schema of %s: %w", d.Name, err)
		}
	}
	for name, document := range map[string]any{schema.ImageComponents: new(spec.Document), schema.ImageLock: new(lock.Lock)} {
		pkg := strings.TrimSuffix(reflect.TypeFor[spec.Document]().PkgPath(), "/spec")
		s, err := reflected(described{name, document, filepath.Join(root, "internal", "image"), pkg, true, imageEnums})
		if err == nil {
			schemas[name+".json"], err = encode(s)
		}
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", name, err)
		}
	}
	timeline, err := timelineSchema(filepath.Join(root, "internal", "anatomy"))
	if err == nil {
		schemas[schema.Timeline+".json"], err = encode(timeline)
	}
	if err != nil {
		return nil, fmt.Errorf("schema of a timeline: %w", err)
	}
	return schemas, nil
}

// schemaOf describes the documents of a dialect: those of AKS from its .proto files, all others from Go types.
func schemaOf(ctx context.Context, root string, d *dialect.Dialect) (*jsonschema.Schema, error) {
	if d.Name == dialect.AKS {
		return aksSchema(ctx, filepath.Join(root, "api", "aksnodeconfig", "v1"))
	}
	s, err := reflected(ofDialect(filepath.Join(root, "nodeconfig"), d))
	if err == nil && d.Name == dialect.EKSCTL {
		ofOldClusterConfigs(s)
	}
	return s, err
}

// shortList matches an indented list of up to four scalars.
var shortList = regexp.MustCompile(`\[\n\s+(("[^"\n]*"|[0-9]+|null)(,\n\s+)?){1,4}\n\s+\]`)

// encode writes a schema for people: indented, with short lists on one line.
func encode(schema *jsonschema.Schema) ([]byte, error) {
	compact, err := schema.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, compact, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return shortList.ReplaceAllFunc(out.Bytes(), func(list []byte) []byte {
		return []byte("[" + oneLine(strings.Trim(string(list), "[]")) + "]")
	}), nil
}

// Command gen writes the JSON Schemas of the contracts from the sources that define them: the
// native one from the Go types of package nodeconfig and their comments, eksctl's and kubeadm's from those of nodeconfig/eksctl and
// nodeconfig/kubeadm, AKS's from its .proto files and theirs.
//
//	go run ./schema/gen [-dir DIR] [-check]
//
// With -check nothing is written; the command fails and names every schema that is stale. It is
// called by go generate, from package schema; the test beside it generates in memory.
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
	"regexp"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
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

// run brings the schemas in dir up to date or, if check is set, reports how they are not.
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
	native, err := nativeSchema(filepath.Join(root, "nodeconfig"))
	if err != nil {
		return nil, fmt.Errorf("native schema: %w", err)
	}
	eksctl, err := eksctlSchema(filepath.Join(root, "nodeconfig"))
	if err != nil {
		return nil, fmt.Errorf("eksctl schema: %w", err)
	}
	aks, err := aksSchema(ctx, filepath.Join(root, "api", "aksnodeconfig", "v1"))
	if err != nil {
		return nil, fmt.Errorf("AKS schema: %w", err)
	}
	kubeadm, err := kubeadmSchema(filepath.Join(root, "nodeconfig"))
	if err != nil {
		return nil, fmt.Errorf("kubeadm schema: %w", err)
	}
	schemas := make(map[string][]byte)
	for name, schema := range map[string]*jsonschema.Schema{"native.json": native, "aks.json": aks, "eksctl.json": eksctl, "kubeadm.json": kubeadm} {
		if schemas[name], err = encode(schema); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return schemas, nil
}

// shortList is an indented list of up to four scalars.
var shortList = regexp.MustCompile(`\[\n\s+(("[^"\n]*"|[0-9]+|null)(,\n\s+)?){1,4}\n\s+\]`)

// encode writes a schema as people read it: indented, short lists on one line.
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

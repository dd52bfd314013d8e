// Command gen writes the table of EC2's interfaces, interfaces.txt, from the table in EKS's network plug-in. That table is not
// exported, so gen reads its source. "go generate ./capacity" calls it.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// module has the table, in this file and this variable.
const (
	module   = "github.com/aws/amazon-vpc-cni-k8s@v1.23.2"
	file     = "pkg/vpc/vpc_ip_resource_limit.go"
	variable = "instanceNetworkingLimits"
)

func main() {
	table, err := table()
	if err == nil {
		err = os.WriteFile("interfaces.txt", []byte(table), 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// table returns a line for each list of sizes, with the families that have it: ",m5,m5a,:large=3x10,xlarge=4x15,".
func table() (string, error) {
	out, err := exec.Command("go", "mod", "download", "-json", module).Output()
	if err != nil {
		return "", fmt.Errorf("download %s: %w", module, err)
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal(out, &downloaded); err != nil {
		return "", err
	}
	limits, err := read(filepath.Join(downloaded.Dir, file))
	if err != nil {
		return "", err
	}
	sizes := make(map[string][]string)
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		family, size, found := strings.Cut(name, ".")
		if !found {
			return "", fmt.Errorf("instance type %q has no size", name)
		}
		sizes[family] = append(sizes[family], size+"="+limits[name])
	}
	families := make(map[string][]string)
	for _, family := range slices.Sorted(maps.Keys(sizes)) {
		list := strings.Join(sizes[family], ",")
		families[list] = append(families[list], family)
	}
	var lines []string
	for list, names := range families {
		lines = append(lines, ","+strings.Join(names, ",")+",:"+list+",\n")
	}
	slices.Sort(lines)
	return strings.Join(lines, ""), nil
}

// read returns "ENIs x addresses" of each instance type.
func read(path string) (map[string]string, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return nil, err
	}
	limits := make(map[string]string)
	for _, declaration := range parsed.Decls {
		general, ok := declaration.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range general.Specs {
			value, ok := spec.(*ast.ValueSpec)
			if !ok || value.Names[0].Name != variable {
				continue
			}
			for _, element := range value.Values[0].(*ast.CompositeLit).Elts {
				pair := element.(*ast.KeyValueExpr)
				name, err := strconv.Unquote(pair.Key.(*ast.BasicLit).Value)
				if err != nil {
					return nil, err
				}
				fields := fieldsOf(pair.Value.(*ast.CompositeLit))
				limits[name] = fields["ENILimit"] + "x" + fields["IPv4Limit"]
			}
		}
	}
	if len(limits) == 0 {
		return nil, fmt.Errorf("%s has no %s", path, variable)
	}
	return limits, nil
}

// fieldsOf are the numeric fields of a literal.
func fieldsOf(literal *ast.CompositeLit) map[string]string {
	fields := make(map[string]string)
	for _, element := range literal.Elts {
		pair := element.(*ast.KeyValueExpr)
		if number, ok := pair.Value.(*ast.BasicLit); ok {
			fields[pair.Key.(*ast.Ident).Name] = number.Value
		}
	}
	return fields
}

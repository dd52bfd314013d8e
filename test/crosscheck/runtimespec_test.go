//go:build crosscheck

package crosscheck

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

const runtimeSpecPath = "$.runtime.containerd.baseRuntimeSpec"

// containing is the smallest contract with a specification, with its problems.
func containing(t *testing.T, spec map[string]any) (*nodeconfig.NodeConfig, []nodeconfig.Problem) {
	t.Helper()
	text, err := os.ReadFile("../../examples/native/minimal.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := document.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	c, problems := nodeconfig.FromTree(tree)
	c.Runtime.Containerd.BaseRuntimeSpec = spec
	nodeconfig.Default(c)
	return c, append(problems, nodeconfig.Repair(c)...)
}

// TestDefaultRuntimeSpec compares the specification over which a contract's is merged with those that both versions of containerd
// generate.
func TestDefaultRuntimeSpec(t *testing.T) {
	c, problems := containing(t, map[string]any{"ociVersion": "1.1.0"})
	planned, others := plan.New(c, facts.Facts{})
	if problems = nodeconfig.Fatal(append(problems, others...)); len(problems) > 0 {
		t.Fatal(problems)
	}
	ours := make(map[string]any)
	for i := range planned.Resources {
		if f, ok := planned.Resources[i].Spec.(*resource.File); ok && f.Path == "/etc/containerd/base-runtime-spec.json" {
			if err := json.Unmarshal(f.Content, &ours); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(ours) == 0 {
		t.Fatal("no specification is planned")
	}
	for module, program := range map[string]string{"containerd1": "github.com/containerd/containerd/cmd/ctr", "containerd": "github.com/containerd/containerd/v2/cmd/ctr"} {
		printed, err := exec.Command("go", "run", "-C", "../e2e/modules/"+module, program, "oci", "spec").Output()
		if err != nil {
			t.Fatalf("%s: %v", module, err)
		}
		theirs := make(map[string]any)
		if err := json.Unmarshal(printed, &theirs); err != nil {
			t.Fatalf("%s: %v\n%s", module, err, printed)
		}
		// The planner's source has the reasons for what ours omits.
		delete(theirs["process"].(map[string]any), "rlimits")
		delete(theirs["linux"].(map[string]any), "cgroupsPath")
		theirs["ociVersion"] = ours["ociVersion"]
		masked := ours["linux"].(map[string]any)["maskedPaths"]
		for _, path := range theirs["linux"].(map[string]any)["maskedPaths"].([]any) {
			if !slices.Contains(masked.([]any), path) && !strings.HasPrefix(path.(string), "/sys/devices/system/cpu/") {
				t.Errorf("%s masks %s", module, path)
			}
		}
		theirs["linux"].(map[string]any)["maskedPaths"] = masked
		if !reflect.DeepEqual(ours, theirs) {
			t.Errorf("%s generates\n%v\nand the default here is\n%v", module, theirs, ours)
		}
	}
}

// TestRuntimeSpecTypes compares the validation of a specification with the types into which both versions of containerd decode it:
// each field accepts a value of its type, and a value of another type is a problem of that field.
func TestRuntimeSpecTypes(t *testing.T) {
	for _, module := range containerds {
		dir, err := exec.Command("go", "list", "-C", "../e2e/modules/"+module, "-m", "-f", "{{.Dir}}", "github.com/opencontainers/runtime-spec").Output()
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "specs-go", "config.go"), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		types := make(specTypes)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				types[spec.Name.Name] = spec.Type
			}
			return true
		})
		fields := 0
		types.walk(t, runtimeSpecPath, types["Spec"], func(path string, value any) any { return value }, &fields)
		if fields < 150 {
			t.Errorf("%s: only %d fields", module, fields)
		}
	}
}

// specTypes are the types of a Go file.
type specTypes map[string]ast.Expr

// values are right and wrong ones for Go's types.
var values = map[string]struct{ right, wrong []any }{
	"string": {[]any{"/x"}, []any{json.Number("1"), true, []any{}}},
	"bool":   {[]any{true}, []any{"true", json.Number("1")}},
	"uint":   {[]any{json.Number(strconv.FormatUint(math.MaxUint64, 10))}, []any{json.Number("-1"), json.Number("1.5"), "1"}},
	"uint64": {[]any{json.Number(strconv.FormatUint(math.MaxUint64, 10))}, []any{json.Number("-1"), json.Number("18446744073709551616")}},
	"uint32": {[]any{json.Number("4294967295")}, []any{json.Number("4294967296"), "1"}},
	"uint16": {[]any{json.Number("65535")}, []any{json.Number("65536")}},
	"int":    {[]any{json.Number("-5")}, []any{json.Number("1e3"), "1"}},
	"int64":  {[]any{json.Number("-9223372036854775808")}, []any{json.Number("9223372036854775808")}},
	"int32":  {[]any{json.Number("-2147483648")}, []any{json.Number("2147483648")}},
	"[]":     {nil, []any{"x", map[string]any{}}},
	"map[]":  {nil, []any{"x", []any{}}},
	"struct": {nil, []any{"x", []any{}, true}},
}

// walk tries values of a type at a path, where put puts them, and those of all types within.
func (s specTypes) walk(t *testing.T, path string, of ast.Expr, put func(path string, value any) any, fields *int) {
	kind := ""
	switch of := of.(type) {
	case *ast.StarExpr:
		s.walk(t, path, of.X, put, fields)
		return
	case *ast.SelectorExpr: // os.FileMode
		kind = "uint32"
	case *ast.Ident:
		if s[of.Name] != nil {
			s.walk(t, path, s[of.Name], put, fields)
			return
		}
		kind = of.Name
	case *ast.ArrayType:
		kind = "[]"
		s.walk(t, path+"[0]", of.Elt, func(_ string, value any) any { return put(path, []any{value}) }, fields)
	case *ast.MapType:
		kind = "map[]"
		s.walk(t, path+".a", of.Value, func(_ string, value any) any { return put(path, map[string]any{"a": value}) }, fields)
	case *ast.StructType:
		kind = "struct"
		for _, field := range of.Fields.List {
			tag := reflect.StructTag("")
			if field.Tag != nil {
				text, err := strconv.Unquote(field.Tag.Value)
				if err != nil {
					t.Fatal(err)
				}
				tag = reflect.StructTag(text)
			}
			if platforms := tag.Get("platform"); platforms != "" && !strings.Contains(platforms, "linux") {
				continue
			}
			name, _, _ := strings.Cut(tag.Get("json"), ",")
			if name == "" { // its fields belong to the outer struct
				s.walk(t, path, field.Type, put, fields)
				continue
			}
			s.walk(t, path+"."+name, field.Type, func(_ string, value any) any { return put(path, map[string]any{name: value}) }, fields)
		}
	}
	tried, known := values[kind]
	if !known {
		t.Fatalf("%s has the type %s", path, kind)
	}
	*fields++
	for right, all := range map[bool][]any{true: tried.right, false: tried.wrong} {
		for _, value := range all {
			if right && path == runtimeSpecPath+".ociVersion" {
				value = "1.0.2"
			}
			spec, isMap := put(path, value).(map[string]any)
			if !isMap {
				continue // it is the whole, which the decoder has checked
			}
			if !right && nodeconfig.IsSecretPlace(path) {
				continue // every single value there is a string
			}
			_, problems := containing(t, spec)
			found := slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool { return p.Path == path && p.Fatal })
			if found == right {
				t.Errorf("%s: of %v the problems are %v", path, value, problems)
			}
		}
	}
}

package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// table is what all releases have: each line with the minors that have it.
type table struct {
	minors               []string
	fields, gates, flags map[string][]string
}

func newTable() *table {
	return &table{fields: make(map[string][]string), gates: make(map[string][]string), flags: make(map[string][]string)}
}

func (t *table) read(s *source, minor string) error {
	t.minors = append(t.minors, minor)
	add := func(to map[string][]string, line string) {
		if have := to[line]; len(have) == 0 || have[len(have)-1] != minor {
			to[line] = append(have, minor)
		}
	}
	f := &fields{source: s, seen: make(map[string]bool), add: func(line string) { add(t.fields, line) }}
	if _, err := f.structOf("k8s.io/kubelet/config/v1beta1", "KubeletConfiguration"); err != nil {
		return err
	}
	gates, err := s.gates()
	if err != nil {
		return err
	}
	for _, gate := range gates {
		add(t.gates, gate)
	}
	flags, err := s.flags()
	if err != nil {
		return err
	}
	for name, kind := range flags {
		add(t.flags, name+" "+kind)
	}
	return nil
}

// bytes writes the table. A line that not all releases have ends in the minors that do.
func (t *table) bytes() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "minors %s %s\n", t.minors[0], t.minors[len(t.minors)-1])
	for _, section := range []struct {
		name  string
		lines map[string][]string
	}{{"fields", t.fields}, {"gates", t.gates}, {"flags", t.flags}} {
		fmt.Fprintf(&b, "[%s]\n", section.name)
		for _, line := range slices.Sorted(maps.Keys(section.lines)) {
			b.WriteString(line + t.span(section.lines[line]) + "\n")
		}
	}
	return b.Bytes()
}

// span is the range of the minors that have a line. A gap in it is filled: what came back was never refused
// by the releases that matter.
func (t *table) span(minors []string) string {
	first, last := minors[0], minors[len(minors)-1]
	if first == t.minors[0] {
		first = ""
	}
	if last == t.minors[len(t.minors)-1] {
		last = ""
	}
	if first == "" && last == "" {
		return ""
	}
	return " " + first + "-" + last
}

// fields walks a configuration's types.
type fields struct {
	source *source
	seen   map[string]bool
	add    func(line string)
}

// special are types that write themselves in JSON, or that are known without their source.
var special = map[string]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":        "d",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":            "s",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":        "q",
	"k8s.io/apimachinery/pkg/api/resource.QuantityValue":   "q",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":      "x",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":         "x",
	"k8s.io/component-base/logs/api/v1.TimeOrMetaDuration": "x", // a duration, or nanoseconds
	"time.Duration": "l",
}

// basic are Go's types, by the JSON that they are read from.
var basic = map[string]string{
	"string": "s", "bool": "b", "float64": "f", "float32": "f",
	"int32": "i", "int": "l", "int64": "l", "uint": "u", "uint16": "u", "uint32": "u", "uint64": "u",
}

// structOf writes the lines of a type's fields and returns the type's name in the table.
func (f *fields) structOf(importPath, name string) (string, error) {
	if f.seen[name] {
		return "." + name, nil
	}
	f.seen[name] = true
	p, err := f.source.load(importPath)
	if err != nil {
		return "", err
	}
	if p == nil {
		return "", fmt.Errorf("there is no package %s", importPath)
	}
	declared, ok := p.types[name].expr.(*ast.StructType)
	if !ok {
		return "", fmt.Errorf("%s.%s is no struct", importPath, name)
	}
	return "." + name, f.fieldsOf(p, p.types[name].file, declared, name)
}

func (f *fields) fieldsOf(p *pkg, file *ast.File, declared *ast.StructType, owner string) error {
	for _, field := range declared.Fields.List {
		tag := ""
		if field.Tag != nil {
			tag = reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json")
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "-" {
			continue
		}
		if name == "" && (strings.Contains(options, "inline") || len(field.Names) == 0) {
			inner, in, at, err := f.resolve(p, file, field.Type)
			if err != nil {
				return err
			}
			if s, ok := inner.(*ast.StructType); ok {
				if err := f.fieldsOf(in, at, s, owner); err != nil {
					return err
				}
			}
			continue
		}
		kind, err := f.kind(p, file, field.Type)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", owner, name, err)
		}
		f.add(owner + " " + name + " " + kind)
	}
	return nil
}

// resolve follows a name to the type that it stands for.
func (f *fields) resolve(p *pkg, file *ast.File, e ast.Expr) (ast.Expr, *pkg, *ast.File, error) {
	switch e := e.(type) {
	case *ast.Ident:
		if t, ok := p.types[e.Name]; ok {
			return t.expr, p, t.file, nil
		}
	case *ast.SelectorExpr:
		path := imported(file, e.X.(*ast.Ident).Name)
		other, err := f.source.load(path)
		if err != nil || other == nil {
			return nil, nil, nil, fmt.Errorf("there is no package %s: %v", path, err)
		}
		t := other.types[e.Sel.Name]
		return t.expr, other, t.file, nil
	}
	return e, p, file, nil
}

// kind is how the table writes a type.
func (f *fields) kind(p *pkg, file *ast.File, e ast.Expr) (string, error) {
	switch e := e.(type) {
	case *ast.StarExpr:
		return f.kind(p, file, e.X)
	case *ast.ArrayType:
		if of, ok := e.Elt.(*ast.Ident); ok && of.Name == "byte" {
			return "s", nil
		}
		of, err := f.kind(p, file, e.Elt)
		return "[]" + of, err
	case *ast.MapType:
		of, err := f.kind(p, file, e.Value)
		return "{}" + of, err
	case *ast.Ident, *ast.SelectorExpr:
		return f.named(p, file, e)
	}
	return "", fmt.Errorf("has a type that is not known: %T", e)
}

func (f *fields) named(p *pkg, file *ast.File, e ast.Expr) (string, error) {
	full, name := "", ""
	switch e := e.(type) {
	case *ast.Ident:
		if kind, ok := basic[e.Name]; ok {
			return kind, nil
		}
		full, name = p.path, e.Name
	case *ast.SelectorExpr:
		full, name = imported(file, e.X.(*ast.Ident).Name), e.Sel.Name
	}
	if kind, ok := special[full+"."+name]; ok {
		return kind, nil
	}
	inner, in, at, err := f.resolve(p, file, e)
	if err != nil {
		return "", err
	}
	if _, ok := inner.(*ast.StructType); ok {
		return f.structOf(in.path, name)
	}
	if inner == nil {
		return "", fmt.Errorf("there is no %s.%s", full, name)
	}
	return f.kind(in, at, inner)
}

// gatePackages are where the feature gates are declared that a kubelet knows. Some of their gates are another
// component's, and a kubelet takes those too: all are registered in one table.
var gatePackages = []string{
	"k8s.io/kubernetes/pkg/features", "k8s.io/apiserver/pkg/features", "k8s.io/apiextensions-apiserver/pkg/features",
	"k8s.io/client-go/features", "k8s.io/component-base",
}

// gates are the names of the feature gates.
func (s *source) gates() ([]string, error) {
	all := []string{"AllAlpha", "AllBeta"}
	for _, root := range gatePackages {
		dir := s.directory(root)
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return nil // a release without the package
			}
			if d.Name() == "testdata" || d.Name() == "featuregate" {
				return filepath.SkipDir
			}
			rest, _ := filepath.Rel(dir, path)
			p, err := s.load(strings.TrimSuffix(root+"/"+filepath.ToSlash(rest), "/."))
			if err != nil || p == nil {
				return err
			}
			all = append(all, s.gatesOf(p)...)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// gatesOf are the gates that a package declares, and those that it registers of others.
func (s *source) gatesOf(p *pkg) []string {
	var found []string
	add := func(file *ast.File, e ast.Expr) {
		if text, ok := s.text(p, file, e); ok {
			found = append(found, text)
		} else if of, ok := e.(*ast.SelectorExpr); ok {
			found = append(found, of.Sel.Name) // of a module that is not read; a gate is named like its constant
		}
	}
	for _, file := range p.files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if strings.HasSuffix(typeName(n.Type), "Feature") {
					for _, value := range n.Values {
						add(file, value)
					}
				}
			case *ast.CompositeLit:
				if of, ok := n.Type.(*ast.MapType); ok && strings.HasSuffix(typeName(of.Key), "Feature") {
					for _, e := range n.Elts {
						if pair, ok := e.(*ast.KeyValueExpr); ok {
							add(file, pair.Key)
						}
					}
				}
			}
			return true
		})
	}
	return found
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// flagPackages are where the kubelet's flags are registered.
var flagPackages = []string{
	"k8s.io/kubernetes/cmd/kubelet/app/options", "k8s.io/kubernetes/pkg/kubelet/config",
	"k8s.io/component-base/logs", "k8s.io/component-base/logs/api/v1", "k8s.io/component-base/logs/klogflags",
	"k8s.io/component-base/version/verflag",
}

// klogFlags are those of k8s.io/klog, which kubelets before 1.26 had all of (Kubernetes 1.26: only v and
// vmodule are kept).
var klogFlags = map[string]string{
	"add-dir-header": "b", "alsologtostderr": "b", "log-backtrace-at": "s", "log-dir": "s", "log-file": "s", "log-file-max-size": "i",
	"logtostderr": "b", "one-output": "b", "skip-headers": "b", "skip-log-headers": "b", "stderrthreshold": "s",
}

// otherFlags are those that every release has, and that are registered with names which are not written down.
var otherFlags = map[string]string{
	"help": "b", "version": "s", "v": "i", "vmodule": "s",
	"housekeeping-interval": "d", // github.com/google/cadvisor
}

// registers is a method of a flag set that registers a flag, by the type of its value.
var registers = regexp.MustCompile(`^(Bool|String|Int|Int32|Int64|Uint|Uint32|Uint64|Duration|Float32|Float64|StringSlice|StringArray|StringToString|)(Var)?P?$`)

// flagKinds are the kinds of values, by the methods' names. What the flag itself parses is a text here.
var flagKinds = map[string]string{
	"Bool": "b", "Duration": "d", "Float32": "f", "Float64": "f", "Int": "l", "Int32": "i", "Int64": "l", "Uint": "u", "Uint32": "u", "Uint64": "u",
	"String": "s", "StringSlice": "s", "StringArray": "s", "StringToString": "s", "": "s",
}

// flags are the names of the kubelet's flags, by the kind of their values.
func (s *source) flags() (map[string]string, error) {
	all := make(map[string]string)
	for _, path := range flagPackages {
		p, err := s.load(path)
		if err != nil {
			return nil, err
		}
		if p == nil {
			continue
		}
		for _, file := range p.files {
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					if name, kind := s.flag(p, file, call); name != "" {
						all[strings.ReplaceAll(name, "_", "-")] = kind
					}
				}
				return true
			})
		}
	}
	if klog, err := s.load("k8s.io/component-base/logs/klogflags"); err == nil && klog == nil {
		maps.Copy(all, klogFlags)
	}
	maps.Copy(all, otherFlags)
	return all, nil
}

// flag is the flag that a call registers, and the kind of its value.
func (s *source) flag(p *pkg, file *ast.File, call *ast.CallExpr) (name, kind string) {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		if strings.HasPrefix(strings.ToLower(fun.Name), "register") || strings.HasPrefix(fun.Name, "pflagRegister") {
			name, _ = s.text(p, file, at(call.Args, 2))
		}
		return name, "s"
	case *ast.SelectorExpr:
		parts := registers.FindStringSubmatch(fun.Sel.Name)
		if parts == nil || parts[1] == "" && parts[2] == "" || len(call.Args) < 3 {
			return "", ""
		}
		where := 0
		if parts[2] != "" {
			where = 1
		}
		name, _ = s.text(p, file, call.Args[where])
		return name, flagKinds[parts[1]]
	}
	return "", ""
}

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
	"strconv"
	"strings"
)

// table is the lines of all releases, each with the minors that have it.
type table struct {
	minors                         []string
	fields, gates, requires, flags map[string][]string
}

func newTable() *table {
	return &table{fields: make(map[string][]string), gates: make(map[string][]string), requires: make(map[string][]string), flags: make(map[string][]string)}
}

func (t *table) read(s *source, minor string) error {
	t.minors = append(t.minors, minor)
	add := func(to map[string][]string, line string) {
		if have := to[line]; len(have) == 0 || have[len(have)-1] != minor {
			to[line] = append(have, minor)
		}
	}
	f := &fields{source: s, seen: make(map[string]bool), named: make(map[string][2]string), add: func(line string) { add(t.fields, line) }}
	if _, err := f.structOf("k8s.io/kubelet/config/v1beta1", "KubeletConfiguration"); err != nil {
		return err
	}
	const provider = "k8s.io/kubelet/config/v1" // since Kubernetes 1.26
	if p, err := s.load(provider); err != nil || p != nil {
		if _, err := f.structOf(provider, "CredentialProviderConfig"); err != nil {
			return err
		}
	}
	gates, err := s.gates(minor)
	if err != nil {
		return err
	}
	for name, state := range gates.states {
		add(t.gates, name+" "+state)
	}
	for _, pair := range gates.requires {
		add(t.requires, pair)
	}
	flags, err := s.flags(f)
	if err != nil {
		return err
	}
	for name, kind := range flags {
		add(t.flags, name+" "+kind)
	}
	return nil
}

// bytes writes the table. A line that not all releases have ends with the minors that do. The state of a feature gate may come
// back: then it has a line for each time.
func (t *table) bytes() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "minors %s %s\n", t.minors[0], t.minors[len(t.minors)-1])
	for _, section := range []struct {
		name  string
		lines map[string][]string
	}{{"fields", t.fields}, {"gates", t.gates}, {"requires", t.requires}, {"flags", t.flags}} {
		fmt.Fprintf(&b, "[%s]\n", section.name)
		for _, line := range slices.Sorted(maps.Keys(section.lines)) {
			minors := section.lines[line]
			for section.name == "gates" {
				n := 1
				for at := slices.Index(t.minors, minors[0]); n < len(minors) && minors[n] == t.minors[at+n]; {
					n++
				}
				if n == len(minors) {
					break
				}
				b.WriteString(line + t.span(minors[:n]) + "\n")
				minors = minors[n:]
			}
			b.WriteString(line + t.span(minors) + "\n")
		}
	}
	return b.Bytes()
}

// span is the range of the minors that have a line. It fills gaps, because a name that came back was never refused by the releases
// that matter.
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
	// named are the JSON names and the kinds of fields, by the Go names of their struct and of the field.
	named map[string][2]string
	add   func(line string)
}

// path returns the JSON path of a field, by the Go names that lead to it, or "".
func (f *fields) path(owner string, names []string) string {
	var path []string
	for _, name := range names {
		field, ok := f.named[owner+"."+name]
		if !ok {
			break // the names below belong to the value, such as the Duration of a metav1.Duration
		}
		path = append(path, field[0])
		owner = strings.TrimPrefix(field[1], ".")
	}
	return strings.Join(path, ".")
}

// special are types with their own JSON encoding, or types that are known without their source.
var special = map[string]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":        "d",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":            "t",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":        "q",
	"k8s.io/apimachinery/pkg/api/resource.QuantityValue":   "q",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":      "x",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":         "x",
	"k8s.io/component-base/logs/api/v1.TimeOrMetaDuration": "x", // a duration, or nanoseconds
	"time.Duration": "l",
}

// basic are Go's types, with their JSON kinds.
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
		if len(field.Names) > 0 {
			f.named[owner+"."+field.Names[0].Name] = [2]string{name, kind}
		}
	}
	return nil
}

// resolve returns the type that a name refers to.
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

// kind returns the table's notation for a type.
func (f *fields) kind(p *pkg, file *ast.File, e ast.Expr) (string, error) {
	switch e := e.(type) {
	case *ast.StarExpr:
		kind, err := f.kind(p, file, e.X)
		if kind == "d" {
			kind = "D" // unlike one that is not a pointer, it accepts null
		}
		return kind, err
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
		return f.nameKind(p, file, e)
	}
	return "", fmt.Errorf("has a type that is not known: %T", e)
}

func (f *fields) nameKind(p *pkg, file *ast.File, e ast.Expr) (string, error) {
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

// gatePackages declare the feature gates that a kubelet knows. Some of their gates belong to another component, and a kubelet
// accepts those, too, because all are registered in one table.
var gatePackages = []string{
	"k8s.io/kubernetes/pkg/features", "k8s.io/apiserver/pkg/features", "k8s.io/apiextensions-apiserver/pkg/features",
	"k8s.io/client-go/features", "k8s.io/component-base",
}

// gates are the feature gates of a release: the state of each, and "A B" for each gate A that requires B.
type gates struct {
	states   map[string]string
	requires []string
}

// gates reads the feature gates of a minor.
func (s *source) gates(minor string) (*gates, error) {
	all := &gates{states: map[string]string{"AllAlpha": "a-", "AllBeta": "b-"}}
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
			return s.gatesOf(p, minor, all)
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// gatesOf reads the gates that a package registers, its own and those of other packages.
func (s *source) gatesOf(p *pkg, minor string, all *gates) (err error) {
	for _, file := range p.files {
		name := func(e ast.Expr) string {
			if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 1 { // a conversion of another package's type
				e = call.Args[0]
			}
			if text, ok := s.text(p, file, e); ok {
				return text
			}
			if of, ok := e.(*ast.SelectorExpr); ok {
				return of.Sel.Name // from a module that is not read; a gate has the name of its constant
			}
			return ""
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			of, ok := literal.Type.(*ast.MapType)
			if !ok || !strings.HasSuffix(typeName(of.Key), "Feature") {
				return true
			}
			for _, e := range literal.Elts {
				pair, ok := e.(*ast.KeyValueExpr)
				if !ok {
					continue
				}
				value, ok := pair.Value.(*ast.CompositeLit)
				gate := name(pair.Key)
				if !ok || gate == "" {
					continue
				}
				if _, isList := of.Value.(*ast.ArrayType); isList {
					for _, other := range value.Elts {
						all.requires = append(all.requires, gate+" "+name(other))
					}
					continue
				}
				state := stateOf(value, minor)
				if other, twice := all.states[gate]; twice && other != state {
					err = fmt.Errorf("the feature gate %s is %s and %s", gate, other, state)
				}
				all.states[gate] = state
			}
			return true
		})
	}
	return err
}

// stateOf returns a gate's state in a minor: its stage (p if it cannot be set yet, a for alpha, b for beta, g for generally
// available, d for deprecated), + or - for the default, and ! if it is locked.
func stateOf(spec *ast.CompositeLit, minor string) string {
	state, newest := "p-", -1
	for _, e := range spec.Elts {
		if one, ok := e.(*ast.CompositeLit); ok { // by version, component-base's VersionedSpecs
			if since := sinceMinor(one); since >= newest && since <= atoi(minor) {
				state, newest = stateOf(one, minor), since
			}
			continue
		}
		state = "g-"
	}
	if newest >= 0 || state == "p-" {
		return state
	}
	stage, value, lock := "g", "-", ""
	for _, e := range spec.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		of := typeName(pair.Value)
		switch typeName(pair.Key) {
		case "PreRelease":
			stage = strings.ToLower(of[:1])
		case "Default":
			if of == "true" {
				value = "+"
			}
		case "LockToDefault":
			if of == "true" {
				lock = "!"
			}
		}
	}
	return stage + value + lock
}

// sinceMinor returns the first minor to which a specification applies. With MinCompatibilityVersion it is the next one, because a
// kubelet is compatible with the minor before its own.
func sinceMinor(spec *ast.CompositeLit) int {
	since := 0
	for _, e := range spec.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok || !strings.HasSuffix(typeName(pair.Key), "Version") {
			continue
		}
		call, ok := pair.Value.(*ast.CallExpr)
		if !ok {
			continue
		}
		version, ok := literal(at(call.Args, 0))
		if number, isNumber := at(call.Args, 1).(*ast.BasicLit); isNumber && !ok {
			version = "1." + number.Value // MajorMinor
		}
		minor := atoi(strings.TrimPrefix(version, "1."))
		if typeName(pair.Key) == "MinCompatibilityVersion" {
			minor++
		}
		since = max(since, minor)
	}
	return since
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
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

// flagPackages register the kubelet's flags.
var flagPackages = []string{
	"k8s.io/kubernetes/cmd/kubelet/app/options", "k8s.io/kubernetes/pkg/kubelet/config",
	"k8s.io/component-base/logs", "k8s.io/component-base/logs/api/v1", "k8s.io/component-base/logs/klogflags",
	"k8s.io/component-base/version/verflag",
}

// klogFlags are those of k8s.io/klog. Kubelets before 1.26 had all of them; since then only v and vmodule remain.
var klogFlags = map[string]string{
	"add-dir-header": "b", "alsologtostderr": "b", "log-backtrace-at": "s", "log-dir": "s", "log-file": "s", "log-file-max-size": "i",
	"logtostderr": "b", "one-output": "b", "skip-headers": "b", "skip-log-headers": "b", "stderrthreshold": "s",
}

// otherFlags are flags of every release whose registered names are not literals.
var otherFlags = map[string]string{
	"help": "b", "version": "s", "v": "n logging.verbosity", "vmodule": "vmodule logging.vmodule",
	"housekeeping-interval": "d", // github.com/google/cadvisor
}

// registeredKinds are the kinds of flags that are registered only by name, and are not strings (github.com/google/cadvisor).
var registeredKinds = map[string]string{
	"application_metrics_count_limit": "l", "enable_load_reader": "b", "global_housekeeping_interval": "d", "log_cadvisor_usage": "b",
	"storage_driver_buffer_duration": "d", "storage_driver_secure": "b",
}

// registers matches a flag set's methods that register a flag, by the type of its value.
var registers = regexp.MustCompile(`^(Bool|String|Int|Int32|Int64|Uint|Uint32|Uint64|Duration|Float32|Float64|StringSlice|StringArray|StringToString|)(Var)?P?$`)

// flagKinds are the kinds of values, by the methods' names. A flag with its own parser is a string here.
var flagKinds = map[string]string{
	"Bool": "b", "Duration": "d", "Float32": "f", "Float64": "f", "Int": "l", "Int32": "i", "Int64": "l", "Uint": "u", "Uint32": "u", "Uint64": "u",
	"String": "s", "StringSlice": "[]", "StringArray": "s", "StringToString": "s", "": "s",
}

// flagTypes are the kinds of types with their own parser (k8s.io/component-base cli/flag, k8s.io/kubernetes pkg/util/flag).
var flagTypes = map[string]string{
	"NewMapStringBool": "{}=", "NewMapStringString": "{}=", "NewMapStringStringNoSplit": "{}1", "NewLangleSeparatedMapStringString": "{}<",
	"InfoBufferSize": "q", "NewColonSeparatedMultimapStringString": "{}:", "IPVar": "ip", "RegisterWithTaintsVar": "taints", "ReservedMemoryVar": "memory",
}

// flags returns the names of the kubelet's flags, with the kind of their values and the field that they set.
func (s *source) flags(f *fields) (map[string]string, error) {
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
					if name, kind := s.flag(p, file, call, f); name != "" {
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

// flag returns the flag that a call registers, and the kind of its value.
func (s *source) flag(p *pkg, file *ast.File, call *ast.CallExpr, f *fields) (name, kind string) {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		if strings.HasPrefix(strings.ToLower(fun.Name), "register") || strings.HasPrefix(fun.Name, "pflagRegister") {
			name, _ = s.text(p, file, at(call.Args, 2))
		}
		if kind, ok := registeredKinds[name]; ok {
			return name, kind
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
		kind = flagKinds[parts[1]]
		if where == 0 {
			return name, kind
		}
		ast.Inspect(call.Args[0], func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if ok && flagTypes[typeName(e)] != "" {
				kind = flagTypes[typeName(e)]
			}
			return true
		})
		if field := fieldOf(p, call.Args[0], f); field != "" {
			kind += " " + field
		}
		return name, kind
	}
	return "", ""
}

// fieldOf returns the path of the configuration's field that a flag sets by a variable, or "".
func fieldOf(p *pkg, variable ast.Expr, f *fields) (field string) {
	ast.Inspect(variable, func(n ast.Node) bool {
		var names []string
		e, _ := n.(ast.Expr)
		for {
			of, ok := e.(*ast.SelectorExpr)
			if !ok {
				break
			}
			names, e = append([]string{of.Sel.Name}, names...), of.X
		}
		if root, ok := e.(*ast.Ident); !ok || root.Name != "c" || len(names) == 0 {
			return true
		}
		if strings.HasSuffix(p.path, "/logs/api/v1") {
			field = "logging." + f.path("LoggingConfiguration", names)
		} else {
			field = f.path("KubeletConfiguration", names)
		}
		return false
	})
	return strings.TrimSuffix(field, "logging.")
}

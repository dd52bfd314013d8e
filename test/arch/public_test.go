package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// public are the packages for other projects.
var public = []string{
	"api/aksnodeconfig/nodeconfigutils", "api/aksnodeconfig/v1", "components", "exitcode", "launch", "launch/azure",
	"launch/bootstraptoken", "launch/report", "node", "nodeconfig", "status", "userdata",
}

// ofTypes are the public packages with mostly types, one for each part of a contract: their lists are long.
var ofTypes = []string{"api/aksnodeconfig/v1", "nodeconfig"}

// maxDocLines limits the `go doc` of a package to a screen.
const maxDocLines = 52

// decoders are functions of package nodeconfig that the readers of dialects share: their arguments are internal, so users cannot
// call them.
var decoders = []string{"nodeconfig.FromTree", "nodeconfig.ProblemOf"}

// TestPublicPackages checks what a user of a public package relies on: its doc fits a screen, it has an example, and no signature
// has a type that the user cannot name.
func TestPublicPackages(t *testing.T) {
	for _, name := range public {
		if !slices.Contains(ofTypes, name) {
			cmd := exec.Command("go", "doc", "./"+name)
			cmd.Dir = "../.."
			out, err := cmd.Output()
			if lines := strings.Count(string(out), "\n"); err != nil || lines > maxDocLines {
				t.Errorf("go doc of %s has %d lines, want at most %d (%v)", name, lines, maxDocLines, err)
			}
		}
		files, err := filepath.Glob(filepath.Join("../..", name, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no files: %v", name, err)
		}
		examples := 0
		for _, path := range files {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(path, "_test.go") {
				examples += countExamples(file)
				continue
			}
			for _, found := range internalTypes(file) {
				if !slices.Contains(decoders, name+"."+found) {
					t.Errorf("%s.%s has a type of an internal package", name, found)
				}
			}
		}
		if examples == 0 && name != "api/aksnodeconfig/v1" { // it has only data; nodeconfigutils shows it
			t.Errorf("%s has no example", name)
		}
	}
}

func countExamples(file *ast.File) int {
	n := 0
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Example") {
			n++
		}
	}
	return n
}

// internalTypes returns the exported names of a file that use a type of an internal package: in the parameters and results of
// functions and methods, and in the exported fields of structs.
func internalTypes(file *ast.File) []string {
	hidden := make(map[string]bool)
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		if strings.Contains(path, "/internal/") {
			hidden[filepath.Base(path)] = true
			if spec.Name != nil {
				hidden[spec.Name.Name] = true
			}
		}
	}
	has := func(n ast.Node) (found bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				x, ok := s.X.(*ast.Ident)
				found = found || ok && hidden[x.Name]
			}
			return true
		})
		return found
	}
	var names []string
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d.Recv))) && has(d.Type) {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok && s.Name.IsExported() && slices.ContainsFunc(visible(s.Type), has) {
					names = append(names, s.Name.Name)
				}
			}
		}
	}
	return names
}

// receiver is the type name of a method's receiver.
func receiver(list *ast.FieldList) string {
	of := list.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	name, _ := of.(*ast.Ident)
	if name == nil {
		return ""
	}
	return name.Name
}

// visible are the parts of a type that other packages can see: the exported fields of a struct.
func visible(t ast.Expr) []ast.Node {
	s, ok := t.(*ast.StructType)
	if !ok {
		return []ast.Node{t}
	}
	var fields []ast.Node
	for _, f := range s.Fields.List {
		if len(f.Names) == 0 || slices.ContainsFunc(f.Names, func(n *ast.Ident) bool { return n.IsExported() }) {
			fields = append(fields, f.Type)
		}
	}
	return fields
}

// TestNoReasonIsRead: programs use a problem's kind. A reason is for people, and its words may change.
func TestNoReasonIsRead(t *testing.T) {
	isReason := func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		return ok && s.Sel.Name == "Reason"
	}
	for _, path := range sources(t) {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(filepath.ToSlash(path), "/test/") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			reads := false
			switch n := n.(type) {
			case *ast.BinaryExpr: // a test for emptiness is allowed
				text, isText := n.Y.(*ast.BasicLit)
				reads = isReason(n.X) && isText && text.Kind == token.STRING && text.Value != `""`
			case *ast.SwitchStmt:
				reads = n.Tag != nil && isReason(n.Tag)
			case *ast.CallExpr:
				f, ok := n.Fun.(*ast.SelectorExpr)
				asks := ok && slices.ContainsFunc([]string{"Contains", "Has", "Equal", "Cut", "Index", "Match", "Find", "Split"}, func(verb string) bool {
					return strings.HasPrefix(f.Sel.Name, verb)
				})
				reads = asks && slices.ContainsFunc(n.Args, func(a ast.Expr) bool { return isReason(a) })
			}
			if reads {
				t.Errorf("%s: a reason's text decides something; ask for the problem's kind", set.Position(n.Pos()))
			}
			return true
		})
	}
}

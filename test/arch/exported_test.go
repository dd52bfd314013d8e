package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// library are methods that the standard library, or another library, calls by an interface.
var library = map[string]bool{
	"String": true, "GoString": true, "Format": true, "LogValue": true, "Error": true, "Unwrap": true, "Is": true, "IsZero": true,
	"MarshalText": true, "UnmarshalText": true, "MarshalJSON": true, "UnmarshalJSON": true, "MarshalYAML": true,
	"Read": true, "Write": true, "Close": true, "Set": true, "Type": true, "RoundTrip": true, "Len": true, "Less": true, "Swap": true,
}

// tables are functions that only tests call: they return all rows of a product's table, and the tests try each.
var tables = map[string]string{
	"internal/distro.All":    "the table of distributions, which the tests try row by row",
	"internal/distro.IDs":    "the names that no other package may have: a test of the house looks for them",
	"nodeconfig.SecretFlags": "test/contracts puts a canary in each, so that no test forgets a new one",
}

// name is a name in a package. For a method, the package is empty.
type name struct{ pkg, name string }

// uses are the names that declarations use.
type uses map[name]bool

// An exported name that no program needs is not an API: a command, an adapter, another package or an Example must use it. A name
// that only a test uses must go, or move into the test.
func TestExportedNamesAreUsed(t *testing.T) {
	exported, used := make(map[token.Position][]name), make(uses)
	files := token.NewFileSet()
	err := filepath.WalkDir("../..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := d.Name(); d.IsDir() && (base == "testdata" || base == "out" || strings.HasPrefix(base, ".") && len(base) > 2) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(files, file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel("../..", filepath.Dir(file))
		if err != nil {
			return err
		}
		isTest := strings.HasSuffix(file, "_test.go")
		of := filepath.ToSlash(dir)
		if strings.HasPrefix(of, "test/") && !strings.HasPrefix(of, "test/e2e/") {
			return nil
		}
		for _, decl := range parsed.Decls {
			if f, ok := decl.(*ast.FuncDecl); isTest && (!ok || !strings.HasPrefix(f.Name.Name, "Example")) {
				continue
			}
			collect(decl, parsed, module+of, used)
		}
		if !isTest && !ast.IsGenerated(parsed) && parsed.Name.Name != "main" && !isOutside(of) && !strings.HasPrefix(of, "adapters/") && !strings.HasPrefix(of, "api/") {
			declared(parsed, module+of, func(of []name, at token.Pos) { exported[files.Position(at)] = of })
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(exported) < 500 {
		t.Fatalf("only %d exported names are found", len(exported))
	}
	for at, names := range exported {
		isTable := tables[strings.TrimPrefix(names[0].pkg, module)+"."+names[0].name] != ""
		switch isUsed := slices.ContainsFunc(names, func(n name) bool { return used[n] }); {
		case isUsed && isTable:
			t.Errorf("%s: a program uses %s; remove it from tables", at, names[0].name)
		case !isUsed && !isTable:
			t.Errorf("%s: no command, adapter or Example uses %s; remove it", at, names[0].name)
		}
	}
}

// declared calls add with the exported names of a file. Constants in one declaration are a closed set, of which a program needs
// only some.
func declared(file *ast.File, pkg string, add func(names []name, at token.Pos)) {
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if of := (name{pkg, d.Name.Name}); d.Name.IsExported() && (d.Recv == nil || !library[of.name]) {
				if d.Recv != nil {
					of.pkg = ""
				}
				add([]name{of}, d.Pos())
			}
		case *ast.GenDecl:
			var constants []name
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						add([]name{{pkg, s.Name.Name}}, s.Pos())
					}
				case *ast.ValueSpec:
					for _, id := range s.Names {
						if of := (name{pkg, id.Name}); id.IsExported() && d.Tok == token.CONST {
							constants = append(constants, of)
						} else if id.IsExported() {
							add([]name{of}, id.Pos())
						}
					}
				}
			}
			if constants != nil {
				add(constants, d.Pos())
			}
		}
	}
}

// collect adds the names that a declaration uses. It does not use its own name, nor the type of its receiver.
func collect(decl ast.Decl, file *ast.File, pkg string, into uses) {
	imports := make(map[string]string)
	for _, i := range file.Imports {
		at := strings.Trim(i.Path.Value, `"`)
		local := path.Base(at)
		if i.Name != nil {
			local = i.Name.Name
		}
		imports[local] = at
	}
	own := make(map[*ast.Ident]bool) // the names that it declares
	self := ""
	switch d := decl.(type) {
	case *ast.FuncDecl:
		own[d.Name] = true
		if d.Recv == nil {
			self = d.Name.Name
			break
		}
		bare := *d
		bare.Recv, decl = nil, &bare
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				own[s.Name] = true
			case *ast.ValueSpec:
				for _, id := range s.Names {
					own[id] = true
				}
			}
		}
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && imports[x.Name] != "" {
				into[name{imports[x.Name], n.Sel.Name}] = true
				return false
			}
			into[name{"", n.Sel.Name}], own[n.Sel] = true, true
		case *ast.Field:
			for _, id := range n.Names {
				own[id] = true
			}
		case *ast.CompositeLit:
			for _, id := range fieldsOf(n) {
				own[id] = true
			}
		case *ast.InterfaceType: // its methods are called by it
			for _, m := range n.Methods.List {
				for _, id := range m.Names {
					into[name{"", id.Name}] = true
				}
			}
		case *ast.Ident:
			if !own[n] && n.Name != self {
				into[name{pkg, n.Name}] = true
			}
		}
		return true
	})
}

// fieldsOf are the names of fields in a composite literal, and in literals within it that omit their type.
func fieldsOf(lit *ast.CompositeLit) (fields []*ast.Ident) {
	within := lit.Type
	switch t := lit.Type.(type) {
	case *ast.ArrayType:
		within = t.Elt
	case *ast.MapType:
		within = t.Value
	}
	_, isMap := within.(*ast.MapType)
	for _, e := range lit.Elts {
		pair, isPair := e.(*ast.KeyValueExpr)
		if isPair {
			e = pair.Value
			if id, ok := pair.Key.(*ast.Ident); ok && within == lit.Type && !isMap {
				fields = append(fields, id)
			}
		}
		if inner, ok := e.(*ast.CompositeLit); ok && inner.Type == nil && within != lit.Type {
			fields = append(fields, fieldsOf(&ast.CompositeLit{Type: within, Elts: inner.Elts})...)
		}
	}
	return fields
}

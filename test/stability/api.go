package stability

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/exp/apidiff"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"
)

const module = "github.com/slipway-dev/slipway/"

// api is the exported API of the module's packages, each as a stub, by the package's path in the module.
type api map[string][]byte

// loaded are the packages that are imported, by their paths.
type loaded map[string]*types.Package

// Import implements types.Importer.
func (l loaded) Import(path string) (*types.Package, error) {
	if pkg := l[path]; pkg != nil {
		return pkg, nil
	}
	return nil, fmt.Errorf("package %s is not loaded", path)
}

// load loads the types of packages, and of all that they import.
func load(root string, patterns ...string) (loaded, error) {
	roots, err := packages.Load(&packages.Config{Mode: packages.LoadTypes | packages.NeedDeps, Dir: root}, patterns...)
	if err != nil {
		return nil, fmt.Errorf("load the packages of %s: %w", root, err)
	}
	all := make(loaded)
	packages.Visit(roots, nil, func(p *packages.Package) {
		for _, problem := range p.Errors {
			err = fmt.Errorf("load %s: %w", p.PkgPath, problem)
		}
		all[p.PkgPath] = p.Types
	})
	return all, err
}

// isPublic reports whether other modules can import a package of the module.
func isPublic(p *packages.Package) bool {
	path, ours := strings.CutPrefix(p.PkgPath, module)
	return ours && p.Name != "main" && !strings.HasPrefix(path, "test/") && !slices.Contains(strings.Split(path, "/"), "internal")
}

// public are the paths of the packages that other modules can import.
func public(root string) ([]string, error) {
	all, err := packages.Load(&packages.Config{Mode: packages.NeedName, Dir: root}, "./...")
	if err != nil {
		return nil, fmt.Errorf("list the packages of %s: %w", root, err)
	}
	var paths []string
	for _, p := range all {
		if isPublic(p) {
			paths = append(paths, p.PkgPath)
		}
	}
	return paths, nil
}

// currentAPI is the API of a checkout.
func currentAPI(root string) (api, error) {
	paths, err := public(root)
	if err != nil {
		return nil, err
	}
	pkgs, err := load(root, paths...)
	if err != nil {
		return nil, err
	}
	a := make(api)
	for _, path := range paths {
		if a[strings.TrimPrefix(path, module)], err = stub(pkgs[path]); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// format is one file with all packages.
func (a api) format() []byte {
	var all txtar.Archive
	for _, name := range slices.Sorted(maps.Keys(a)) {
		all.Files = append(all.Files, txtar.File{Name: name, Data: a[name]})
	}
	return txtar.Format(&all)
}

func parseAPI(data []byte) api {
	a := make(api)
	for _, f := range txtar.Parse(data).Files {
		a[f.Name] = f.Data
	}
	return a
}

// checker makes the types of an API's packages from their stubs.
type checker struct {
	files map[string]*ast.File
	set   *token.FileSet
	// others are the packages that the stubs import from elsewhere.
	others, done loaded
}

// check returns the types of the packages of APIs, by their full paths. What they import from elsewhere is that of root, a checkout.
func check(root string, apis ...api) ([]loaded, error) {
	imports := make(map[string]bool)
	var checkers []*checker
	for _, a := range apis {
		c := &checker{files: make(map[string]*ast.File), set: token.NewFileSet(), done: make(loaded)}
		if err := c.parse(a, imports); err != nil {
			return nil, err
		}
		checkers = append(checkers, c)
	}
	others, err := load(root, slices.Sorted(maps.Keys(imports))...)
	if err != nil {
		return nil, err
	}
	var all []loaded
	for _, c := range checkers {
		c.others = others
		for path := range c.files {
			if _, err := c.Import(path); err != nil {
				return nil, err
			}
		}
		all = append(all, c.done)
	}
	return all, nil
}

// parse parses the stubs, and adds what they import from elsewhere.
func (c *checker) parse(a api, imports map[string]bool) error {
	for name, source := range a {
		file, err := parser.ParseFile(c.set, name, source, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parse the API of %s: %w", name, err)
		}
		c.files[module+name] = file
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return fmt.Errorf("parse the API of %s: %w", name, err)
			}
			if a[strings.TrimPrefix(path, module)] == nil {
				imports[path] = true
			}
		}
	}
	return nil
}

// Import implements types.Importer: packages of the API, and others.
func (c *checker) Import(path string) (*types.Package, error) {
	file := c.files[path]
	if file == nil {
		return c.others.Import(path)
	}
	if pkg := c.done[path]; pkg != nil {
		return pkg, nil
	}
	pkg, err := (&types.Config{Importer: c, IgnoreFuncBodies: true}).Check(path, c.set, []*ast.File{file}, nil)
	if err != nil {
		return nil, fmt.Errorf("check the API of %s: %w", path, err)
	}
	c.done[path] = pkg
	return pkg, nil
}

// compareAPI compares with apidiff, which knows what the compiler of a user would refuse.
func compareAPI(root string, old, current api) ([]Break, error) {
	both, err := check(root, old, current)
	if err != nil {
		return nil, err
	}
	olds, currents := both[0], both[1]
	var breaks []Break
	for _, path := range slices.Sorted(maps.Keys(olds)) {
		name := strings.TrimPrefix(path, module)
		if currents[path] == nil {
			breaks = append(breaks, Break{"api " + name, "the package is removed"})
			continue
		}
		for _, change := range apidiff.Changes(olds[path], currents[path]).Changes {
			if !change.Compatible {
				object, what, _ := strings.Cut(change.Message, ": ")
				breaks = append(breaks, Break{"api " + name + "." + object, what})
			}
		}
	}
	return breaks, nil
}

package arch

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// planner is a package of the planner, type-checked: the files with concerns, and what each file uses of the others.
type planner struct {
	path    string
	imports []string
	// files are all files, without tests; concerns are those that declare a concern.
	files, concerns []string
	// uses are the names that a file uses from another one, without those in the list of concerns.
	uses map[[2]string][]string
}

// planners are the packages of internal/plan. The compiler has checked their imports, so the types come from its export data.
func planners(t *testing.T) []planner {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}\t{{.Dir}}", "./internal/plan/...")
	cmd.Dir, cmd.Stderr = "../..", os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports, dirs := make(map[string]string), make(map[string]string)
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		exports[fields[0]] = fields[1]
		if name := strings.TrimPrefix(fields[0], module); name == "internal/plan" || strings.HasPrefix(name, "internal/plan/") {
			dirs[fields[0]] = fields[2]
		}
	}
	set := token.NewFileSet()
	from := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var all []planner
	for path, dir := range dirs {
		all = append(all, checkPlanner(t, set, types.Config{Importer: from}, path, dir))
	}
	return all
}

func checkPlanner(t *testing.T, set *token.FileSet, config types.Config, path, dir string) planner {
	t.Helper()
	sources, err := filepath.Glob(dir + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var parsed []*ast.File
	p := planner{path: path, uses: make(map[[2]string][]string)}
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, source, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed, p.files = append(parsed, file), append(p.files, filepath.Base(source))
	}
	info := &types.Info{Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object)}
	pkg, err := config.Check(path, set, parsed, info)
	if err != nil {
		t.Fatal(err)
	}
	for _, imported := range pkg.Imports() {
		p.imports = append(p.imports, imported.Path())
	}
	in := func(at token.Pos) string { return filepath.Base(set.Position(at).Filename) }
	isConcern := func(o types.Object) bool {
		named, ok := o.Type().(*types.Named)
		return ok && o.Parent() == pkg.Scope() && strings.EqualFold(named.Obj().Name(), "concern")
	}
	for _, o := range info.Defs {
		if v, ok := o.(*types.Var); ok && isConcern(v) {
			p.concerns = append(p.concerns, in(v.Pos()))
		}
	}
	for id, o := range info.Uses {
		user, owner := in(id.Pos()), ""
		if f, ok := o.(*types.Func); ok {
			o = f.Origin()
		}
		if o.Pkg() == pkg && o.Pos().IsValid() {
			owner = in(o.Pos())
		}
		v, isVar := o.(*types.Var)
		isOwn := o.Parent() == pkg.Scope() || !isVar && o.Parent() == nil // a declaration of the package, or a method
		if owner == "" || owner == user || !isOwn || isVar && isConcern(v) && !slices.Contains(p.concerns, user) {
			continue
		}
		if edge := [2]string{user, owner}; !slices.Contains(p.uses[edge], o.Name()) {
			p.uses[edge] = append(p.uses[edge], o.Name())
		}
	}
	return p
}

// A concern decides from the input, which includes earlier decisions. It calls no function of another concern, and no other code
// calls its functions: shared functions are in files, or in packages, that are not concerns. So no two files depend on each other.
func TestConcernsAreApart(t *testing.T) {
	all := planners(t)
	concerns := 0
	for _, p := range all {
		concerns += len(p.concerns)
		for edge, names := range p.uses {
			if slices.Contains(p.concerns, edge[1]) {
				t.Errorf("%s: %s uses %v, which %s has beside a concern; move it to a file without one", p.path, edge[0], names, edge[1])
			}
		}
		if files := circle(p); len(files) > 0 {
			t.Errorf("%s: these files need each other: %v", p.path, files)
		}
		for _, other := range all {
			if len(p.concerns) > 0 && len(other.concerns) > 0 && slices.Contains(p.imports, other.path) {
				t.Errorf("%s imports %s, and both have concerns", p.path, other.path)
			}
		}
	}
	if concerns < 50 {
		t.Errorf("only %d concerns are found", concerns)
	}
}

// circle are the files of a package that depend on each other, and those between them: it removes, one by one, the files that
// depend on no other, and those on which no other depends.
func circle(p planner) []string {
	left := slices.Clone(p.files)
	for gone := true; gone; {
		before := len(left)
		for _, end := range []int{0, 1} {
			left = slices.DeleteFunc(left, func(file string) bool {
				for edge := range p.uses {
					if edge[end] == file && slices.Contains(left, edge[1-end]) {
						return false
					}
				}
				return true
			})
		}
		gone = len(left) < before
	}
	return left
}

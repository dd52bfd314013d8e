package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/distro"
)

// releases are the files that may read a machine's os-release(5), with the reason.
var releases = map[string]string{
	"internal/plan/system/deniedmodules.go": "a kernel belongs to a version",
	"internal/plan/concern/machine.go":      "names the machine's system in a problem, and finds its row",
	"internal/plan/azure/customcloud.go":    "a copy of an archive has a directory for each version",
	"internal/plan/kubelet/source.go":       "a registry has an artifact for each system, by its name",
	"cmd/slipway-node/facts.go":             "prints it",
}

// namesByItself is the file that names distributions for another program: mkosi installs them, and no node decides by it.
const namesByItself = "internal/image/mkosi/tables.go"

// TestOneTableOfDistributions: only internal/distro decides by the ID of a distribution.
func TestOneTableOfDistributions(t *testing.T) {
	ids, used := distro.IDs(), make(map[string]bool)
	for _, source := range sources(t) {
		name := filepath.ToSlash(strings.TrimPrefix(source, "../../"))
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "test/") || name == namesByItself || strings.HasPrefix(name, "internal/distro/") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, source, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && slices.Contains(ids, text) {
					t.Errorf("%s: %q is the ID of a distribution: what differs between distributions is a cell of internal/distro", set.Position(n.Pos()), text)
				}
			case *ast.SelectorExpr:
				of, ok := n.X.(*ast.SelectorExpr)
				if !ok || of.Sel.Name != "OS" || !slices.Contains([]string{"ID", "VersionID", "VariantID", "IDLike"}, n.Sel.Name) {
					return true
				}
				if used[name] = true; releases[name] == "" {
					t.Errorf("%s: OS.%s: what differs between distributions is a cell of internal/distro", set.Position(n.Pos()), n.Sel.Name)
				}
			}
			return true
		})
	}
	for name := range releases {
		if !used[name] {
			t.Errorf("%s needs no exception", name)
		}
	}
}

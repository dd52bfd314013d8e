package nodeconfig

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// The comments of the contract are its reference: the schema and `slipway explain` show them.
func TestEveryFieldIsExplained(t *testing.T) {
	files, err := filepath.Glob("types*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.StructType)
			if !ok {
				return true
			}
			for _, field := range s.Fields.List {
				name := field.Names[0].Name
				if comment := field.Doc.Text(); !strings.HasPrefix(comment, name+" ") {
					t.Errorf("%s: %s has no comment that begins with its name: %q", path, name, comment)
				}
			}
			return true
		})
	}
}

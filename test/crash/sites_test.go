package crash

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hostSources are the files of the packages that change a host.
var hostSources = []string{
	"../../internal/failpoint/*.go", "../../internal/host/*.go", "../../internal/probe/*.go", "../../internal/rootfs/*.go",
	"../../internal/systemd/*.go",
}

// mutating are the calls that change the host, by their last name, and hooks the functions that they must go through.
var (
	mutating = []string{
		"Unlinkat", "Renameat", "Renameat2", "Linkat", "Symlinkat", "Mkdirat", "Mknodat", "Fchmodat", "Fchownat", "Ftruncate", "Fallocate",
		"Chmod", "Chown", "Lchown", "Truncate", "Mkdir", "MkdirAll", "WriteFile", "WriteString", "Rename", "RemoveAll",
		"Symlink", "Link", "Listen", "Write", "Enqueue", "UnitFile", "Mount", "Unmount", "Syscall", "Sendto",
	}
	hooks = []string{"mutate", "Pass"}
)

// unhooked are the calls that do not change the host.
var unhooked = map[string]string{
	"directory.go:MkdirAll": "the directory that is to be the host's root is not yet part of a host",
	"examination.go:Link":   "the target of a link, which is read",
	"failpoint.go:Write":    "half of a write that a failpoint fails",
	"localdns.go:Write":     "a question to a DNS server",
	"lease.go:Truncate":     "a time, not a file",
	"proxy.go:Write":        "a request to a proxy",
	"clusterinfo.go:Write":  "what is signed, and no file",
	"store.go:Write":        "a digest, and no file",
}

// With the build tag failpoint each mutation of the host can fail: every one goes through a hook.
func TestEveryMutationHasAFailpoint(t *testing.T) {
	var paths []string
	for _, pattern := range hostSources {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal("no sources:", pattern, err)
		}
		paths = append(paths, files...)
	}
	seen := 0
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		visit(file, false, func(call *ast.CallExpr, name string, hooked bool) {
			seen++
			if _, allowed := unhooked[filepath.Base(path)+":"+name]; !hooked && !allowed {
				t.Errorf("%s: %s changes the host, and goes through neither mutate nor Pass", set.Position(call.Pos()), name)
			}
		})
	}
	if seen < 10 {
		t.Errorf("only %d mutations are found", seen)
	}
}

// visit calls f for each call that changes the host, and reports to it whether the call is within a hook.
func visit(n ast.Node, hooked bool, f func(call *ast.CallExpr, name string, hooked bool)) {
	ast.Inspect(n, func(at ast.Node) bool {
		call, ok := at.(*ast.CallExpr)
		if !ok || at == n {
			return true
		}
		name := ""
		switch fun := call.Fun.(type) {
		case *ast.Ident:
			name = fun.Name
		case *ast.SelectorExpr:
			name = fun.Sel.Name
		}
		if slices.Contains(mutating, name) {
			f(call, name, hooked)
		}
		visit(call, hooked || slices.Contains(hooks, name), f)
		return false
	})
}

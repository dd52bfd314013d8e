package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	maxFileLines     = 600
	maxFunctionLines = 80
	// maxFolderFiles limits the files of a folder, so that its listing is a table of contents. Tests do not count, because they are
	// beside the tested code.
	maxFolderFiles = 30
)

// sources are the Go files of the repository.
func sources(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == ".cache" || d.Name() == "out" || d.Name() == "bin") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestSizes(t *testing.T) {
	folders := make(map[string]int)
	for _, path := range sources(t) {
		if !strings.HasSuffix(path, "_test.go") {
			folders[filepath.Dir(path)]++
		}
		if strings.HasSuffix(path, ".pb.go") {
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if lines := bytes.Count(content, []byte("\n")); lines > maxFileLines {
			t.Errorf("%s has %d lines, want at most %d: split it by subject", path, lines, maxFileLines)
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, content, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				if lines := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1; lines > maxFunctionLines {
					t.Errorf("%s: %s has %d lines, want at most %d", path, f.Name.Name, lines, maxFunctionLines)
				}
			}
		}
	}
	for path, files := range folders {
		if files > maxFolderFiles {
			t.Errorf("%s has %d files, want at most %d: split it by subject", path, files, maxFolderFiles)
		}
	}
}

// unwanted are calls and marks that only tests may have.
var unwanted = []struct {
	pattern *regexp.Regexp
	reason  string
	except  string
}{
	{regexp.MustCompile(`\bos\.Exit\(`), "only a command's main ends the process", "/cmd/"},
	{regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`), "what is left belongs into the changelog or is done", ""},
	{regexp.MustCompile(`context\.TODO\(`), "a context comes from the caller", ""},
	{regexp.MustCompile(`"(/usr)?/bin/sh"`), "no shell on the node", ""},
}

func TestUnwantedCode(t *testing.T) {
	for _, path := range sources(t) {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".pb.go") {
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range unwanted {
			if at := u.pattern.FindIndex(content); at != nil && (u.except == "" || !strings.Contains(filepath.ToSlash(path), u.except)) {
				line := 1 + bytes.Count(content[:at[0]], []byte("\n"))
				t.Errorf("%s:%d: %s", path, line, u.reason)
			}
		}
	}
}

// Each transport states its versions of HTTP, and with HTTP/2 over TLS it detects by pings that a server is gone. No code uses
// net/http's own client, which has no limits and uses the environment's proxy.
func TestTransportsStateTheirProtocols(t *testing.T) {
	for _, path := range sources(t) {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "../../test/") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		var http2 bool
		keys := map[string]bool{"HTTP2": true} // those of the file's transports, if it has any
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if s, ok := n.Type.(*ast.SelectorExpr); ok && s.Sel.Name == "Transport" {
					keys = make(map[string]bool)
					for _, e := range n.Elts {
						if pair, ok := e.(*ast.KeyValueExpr); ok {
							keys[fmt.Sprint(pair.Key)] = true
						}
					}
					if !keys["Protocols"] {
						t.Errorf("%s: a transport without Protocols", set.Position(n.Pos()))
					}
				}
			case *ast.SelectorExpr:
				http2 = http2 || n.Sel.Name == "SetHTTP2"
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "http" && slices.Contains([]string{"DefaultTransport", "DefaultClient", "Get", "Post", "PostForm", "Head"}, n.Sel.Name) {
					t.Errorf("%s: http.%s", set.Position(n.Pos()), n.Sel.Name)
				}
			}
			return true
		})
		if http2 && !keys["HTTP2"] {
			t.Errorf("%s: a transport with HTTP/2 and without its ping timeout", path)
		}
	}
}

// The node's binary contains no cloud or Kubernetes SDK ([TestNoSDK] has the only exception), and few modules: docs/dependencies.md
// must have a reason for every module of either binary.
func TestDependenciesAreArgued(t *testing.T) {
	argued, err := os.ReadFile("../../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, binary := range []string{"cmd/slipway", "cmd/slipway-node"} {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./"+binary)
		cmd.Dir = "../.."
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for path := range strings.FieldsSeq(string(out)) {
			if !bytes.Contains(argued, []byte("`"+path+"`")) {
				t.Errorf("%s depends on %s, which docs/dependencies.md does not argue for", binary, path)
			}
			if path == "google.golang.org/protobuf" {
				t.Errorf("%s depends on %s: a contract is read into plain structs (internal/aksnodeconfig)", binary, path)
			}
			if strings.HasPrefix(path, "k8s.io/") || strings.Contains(path, "azure-sdk") {
				t.Errorf("%s depends on %s: no cloud or Kubernetes SDK on the node", binary, path)
			}
		}
	}
}

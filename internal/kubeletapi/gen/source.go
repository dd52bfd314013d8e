package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// source is the source of one release.
type source struct {
	modules  map[string]string // directories by import path
	packages map[string]*pkg
}

// pkg is a package's declarations in its files for Linux.
type pkg struct {
	path  string
	files []*ast.File
	types map[string]typeOf
	// texts are the string constants.
	texts map[string]string
}

// typeOf is a type's declaration, with the file whose imports it uses.
type typeOf struct {
	expr ast.Expr
	file *ast.File
}

// load parses a package. It returns nil if the release does not have it.
func (s *source) load(importPath string) (*pkg, error) {
	if p, ok := s.packages[importPath]; ok {
		return p, nil
	}
	dir := s.directory(importPath)
	entries, err := os.ReadDir(dir)
	if dir == "" || err != nil {
		s.packages[importPath] = nil
		return nil, nil
	}
	p := &pkg{path: importPath, types: make(map[string]typeOf), texts: make(map[string]string)}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_windows.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, file)
		p.declare(file)
	}
	s.packages[importPath] = p
	return p, nil
}

func (p *pkg) declare(file *ast.File) {
	for _, decl := range file.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range general.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				p.types[spec.Name.Name] = typeOf{spec.Type, file}
			case *ast.ValueSpec:
				for i, name := range spec.Names {
					if text, ok := literal(at(spec.Values, i)); ok && general.Tok == token.CONST {
						p.texts[name.Name] = text
					}
				}
			}
		}
	}
}

func at(list []ast.Expr, i int) ast.Expr {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// literal returns the value of a string literal.
func literal(e ast.Expr) (string, bool) {
	basic, ok := e.(*ast.BasicLit)
	if !ok || basic.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(basic.Value)
	return text, err == nil
}

// text returns the value of a string literal or constant, of this package or of another.
func (s *source) text(p *pkg, file *ast.File, e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return literal(e)
	case *ast.Ident:
		text, ok := p.texts[e.Name]
		return text, ok
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			if other, err := s.load(imported(file, x.Name)); err == nil && other != nil {
				text, ok := other.texts[e.Sel.Name]
				return text, ok
			}
		}
	}
	return "", false
}

// imported returns the path of the package that a file imports under a name.
func imported(file *ast.File, name string) string {
	for _, i := range file.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue
		}
		if i.Name != nil && i.Name.Name == name || i.Name == nil && path[strings.LastIndexByte(path, '/')+1:] == name {
			return path
		}
	}
	return ""
}

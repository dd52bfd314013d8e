package stability

import (
	"bytes"
	"fmt"
	"go/constant"
	"go/format"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// stub returns what other modules can use of a package, as Go source: declarations without comments, function bodies, field tags and
// unexported fields. A reviewer can read its diff, and each version of Go can compile it. Export data can do neither: its format changes.
func stub(pkg *types.Package) ([]byte, error) {
	s := &stubber{pkg: pkg, imports: make(map[string]string), written: make(map[string]bool)}
	for _, name := range pkg.Scope().Names() {
		if pkg.Scope().Lookup(name).Exported() {
			s.object(name)
		}
	}
	for len(s.mentioned) > 0 {
		name := s.mentioned[0]
		s.mentioned = s.mentioned[1:]
		s.object(name)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "package %s\n\n", pkg.Name())
	for _, path := range slices.Sorted(maps.Keys(s.imports)) {
		fmt.Fprintf(&out, "import %s %q\n", s.imports[path], path)
	}
	out.Write(s.body.Bytes())
	text, err := format.Source(out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("write the API of %s: %w", pkg.Path(), err)
	}
	return text, nil
}

type stubber struct {
	pkg     *types.Package
	body    bytes.Buffer
	imports map[string]string // names by path
	written map[string]bool
	// mentioned are unexported types that a declaration has. They can have exported fields and methods.
	mentioned []string
}

// object writes the declaration of a name. It leaves out what has a type of an internal package, because no other module can use that.
func (s *stubber) object(name string) {
	obj := s.pkg.Scope().Lookup(name)
	if s.written[name] || !isType(obj) && internal(obj.Type()) {
		return
	}
	s.written[name] = true
	switch obj := obj.(type) {
	case *types.Const:
		s.constant(obj)
	case *types.Var:
		fmt.Fprintf(&s.body, "\nvar %s %s\n", obj.Name(), s.text(obj.Type()))
	case *types.Func:
		fmt.Fprintf(&s.body, "\nfunc %s%s\n", obj.Name(), s.signature(obj))
	case *types.TypeName:
		s.typeName(obj)
	}
}

func internal(t types.Type) bool { return strings.Contains(t.String(), "/internal/") }

func isType(obj types.Object) bool {
	_, ok := obj.(*types.TypeName)
	return ok
}

func (s *stubber) constant(c *types.Const) {
	of := ""
	if basic, ok := c.Type().(*types.Basic); !ok || basic.Info()&types.IsUntyped == 0 {
		of = " " + s.text(c.Type())
	}
	value := c.Val().ExactString()
	if c.Val().Kind() == constant.Float {
		value = c.Val().String() // an exact one can be a fraction of integers, which is another constant
	}
	fmt.Fprintf(&s.body, "\nconst %s%s = %s\n", c.Name(), of, value)
}

func (s *stubber) typeName(obj *types.TypeName) {
	if alias, ok := obj.Type().(*types.Alias); ok {
		fmt.Fprintf(&s.body, "\ntype %s = %s\n", obj.Name(), s.text(alias.Rhs()))
		return
	}
	named := obj.Type().(*types.Named)
	fmt.Fprintf(&s.body, "\ntype %s %s\n", obj.Name(), s.underlying(named.Underlying()))
	methods := slices.SortedFunc(named.Methods(), func(a, b *types.Func) int { return strings.Compare(a.Name(), b.Name()) })
	for _, m := range methods {
		if !m.Exported() || internal(m.Signature()) {
			continue
		}
		star := ""
		if _, pointer := m.Signature().Recv().Type().(*types.Pointer); pointer {
			star = "*"
		}
		fmt.Fprintf(&s.body, "func (%s%s) %s%s\n", star, obj.Name(), m.Name(), s.signature(m))
	}
}

// underlying writes structs and interfaces with a line for each field and method.
func (s *stubber) underlying(t types.Type) string {
	switch t := t.(type) {
	case *types.Struct:
		return s.fields(t)
	case *types.Interface:
		var lines []string
		for m := range t.ExplicitMethods() {
			lines = append(lines, m.Name()+s.signature(m))
		}
		for embedded := range t.EmbeddedTypes() {
			lines = append(lines, s.text(embedded))
		}
		return "interface {\n" + strings.Join(lines, "\n") + "\n}"
	}
	return s.text(t)
}

// fields writes the fields that a user sees. If the unexported ones make the struct incomparable, one of no name does.
func (s *stubber) fields(t *types.Struct) string {
	var lines []string
	var seen []*types.Var
	for f := range t.Fields() {
		switch {
		case f.Embedded():
			lines = append(lines, s.text(f.Type()))
		case f.Exported():
			lines = append(lines, f.Name()+" "+s.text(f.Type()))
		default:
			continue
		}
		seen = append(seen, f)
	}
	if !types.Comparable(t) && types.Comparable(types.NewStruct(seen, nil)) {
		lines = append(lines, "_ func()")
	}
	return "struct {\n" + strings.Join(lines, "\n") + "\n}"
}

func (s *stubber) signature(f *types.Func) string {
	return strings.TrimPrefix(s.text(f.Signature()), "func")
}

var words = regexp.MustCompile(`\w+`)

// text writes a type, and notes the packages and the unexported types that it needs.
func (s *stubber) text(t types.Type) string {
	text := types.TypeString(t, func(other *types.Package) string {
		if other == s.pkg {
			return ""
		}
		s.imports[other.Path()] = other.Name()
		return other.Name()
	})
	for _, word := range words.FindAllString(text, -1) {
		if obj := s.pkg.Scope().Lookup(word); obj != nil && isType(obj) && !obj.Exported() {
			s.mentioned = append(s.mentioned, word)
		}
	}
	return text
}

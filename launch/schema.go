package launch

import (
	"reflect"
	"slices"
	"sync"

	"github.com/slipway-dev/slipway/internal/document"
)

// schemaPaths are the paths of a [Document] that follow from its types: those of values, and those of maps, whose entries may have any
// name.
type schemaPaths struct{ values, maps []string }

// schema are the paths, which do not change while a program runs.
var schema = sync.OnceValue(func() *schemaPaths {
	s := new(schemaPaths)
	s.add(reflect.TypeFor[Document](), "$")
	return s
})

func (s *schemaPaths) add(t reflect.Type, path string) {
	switch {
	case t.Kind() == reflect.Pointer:
		s.add(t.Elem(), path)
	case t.Kind() == reflect.Map:
		s.maps = append(s.maps, path)
	case t.Kind() == reflect.Struct && t != secretType:
		for i, name := range namesOf(t) {
			if name != "" {
				s.add(t.Field(i).Type, document.FieldPath(path, name))
			}
		}
	default:
		s.values = append(s.values, path)
	}
}

// familiar are the paths that are known of a template, also where it has no value: of the types, of the cloud's tables, and of its layers.
func (t *Template) familiar() []string {
	paths := append(t.said(ranks), schema().values...)
	if t.base != nil {
		for _, f := range t.base.fields {
			paths = append(paths, f.Path)
		}
		for _, r := range t.base.rules {
			paths = append(paths, r.Sets...)
		}
	}
	return paths
}

// said are the paths that layers of some sources set.
func (t *Template) said(sources []Source) []string {
	paths := make([]string, 0, usualValues)
	if t.base == nil {
		return paths
	}
	w := newWalker(func(path []byte, _ reflect.Value) { paths = append(paths, string(path)) })
	for _, l := range ranked(append(slices.Clip(t.base.layers), t.own)) {
		if slices.Contains(sources, l.Source) {
			w.at(l.Document, "$")
		}
	}
	return paths
}

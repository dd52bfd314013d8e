package launch

import (
	"reflect"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// speller gives the texts of a document their canonical spellings.
type speller struct{ path []byte }

// spell gives the texts of a document, which no other code has, their canonical spellings ([fieldRows]).
func (d *Document) spell() {
	s := speller{make([]byte, 0, 256)}
	s.path = append(s.path, '$')
	s.value(reflect.ValueOf(d).Elem())
}

// value spells what is at the path. It can be set.
func (s *speller) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			s.value(v.Elem())
		}
	case reflect.Struct:
		if v.Type() == secretType {
			return
		}
		for i, name := range document.NamesOf(v.Type()) {
			if name != "" && !v.Field(i).IsZero() {
				s.below(name, func() { s.value(v.Field(i)) })
			}
		}
	case reflect.Map:
		if data, ok := v.Interface().(map[string]any); ok {
			s.data(data)
			return
		}
		if m := fieldAt(s.path).means; v.Type().Elem().Kind() == reflect.String && (m == nil || m.canonical == nil) {
			return // such as labels, of which there are many
		}
		for _, key := range v.MapKeys() {
			fresh := reflect.New(v.Type().Elem()).Elem()
			fresh.Set(v.MapIndex(key))
			s.below(key.String(), func() { s.value(fresh) })
			v.SetMapIndex(key, fresh)
		}
	case reflect.Slice:
		s.list(v)
	case reflect.String:
		if m := fieldAt(s.path).means; m != nil && m.canonical != nil {
			v.SetString(m.canonical(v.String()))
		}
	}
}

// data spells a document within the document, and returns it.
func (s *speller) data(v any) any {
	switch v := v.(type) {
	case string:
		if m := fieldAt(s.path).means; m != nil {
			return m.spelled(v)
		}
	case map[string]any:
		for name, value := range v {
			s.below(name, func() { v[name] = s.data(value) })
		}
	case []any:
		for i := range v {
			v[i] = s.data(v[i])
		}
		if fieldAt(s.path).set {
			slices.SortFunc(v, func(a, b any) int { return strings.Compare(wordOf(a), wordOf(b)) })
			return slices.CompactFunc(v, func(a, b any) bool { return wordOf(a) == wordOf(b) })
		}
	}
	return v
}

// list spells the items of a list, which have its path. A set has each of its texts once.
func (s *speller) list(v reflect.Value) {
	if parts, ok := v.Interface().(UserParts); ok {
		for i := range parts {
			if strings.HasPrefix(string(parts[i].Content), "#!") {
				parts[i].Content = []byte(oneLineFeed(string(parts[i].Content)))
			}
		}
		return
	}
	for i := range v.Len() {
		s.value(v.Index(i))
	}
	if texts, ok := v.Interface().([]string); ok && fieldAt(s.path).set {
		v.Set(reflect.ValueOf(inOrder(texts)))
	}
}

func wordOf(v any) string {
	text, _ := v.(string)
	return text
}

// below is at what has a name while it calls visit.
func (s *speller) below(name string, visit func()) {
	above := len(s.path)
	s.path = document.AppendField(s.path, name)
	visit()
	s.path = s.path[:above]
}

// usualValues are as many as a launch usually has.
const usualValues = 192

// comparedValue is a value as it is compared, and the value and its path for people.
type comparedValue struct{ same, shown, path string }

// compared are the values of a document by their paths, in one spelling each, and without those that are what the field is where no source
// says it.
func compared(d *Document) map[string]comparedValue {
	all := make(map[string]comparedValue, usualValues)
	treeOf(d).Walk("$", func(at []byte, n *document.Node) {
		row, c := fieldAt(at), comparedValue{shown: textOf(n), path: string(at)}
		c.same = row.same(n)
		key := c.path
		if row.path == tagsPath {
			key = strings.ToLower(key) // Azure compares the names of tags without case
		}
		if row.standard == "" || c.same != row.standard {
			all[key] = c
		}
	})
	return all
}

// same is the spelling by which a value is compared.
func (r *fieldRow) same(n *document.Node) string {
	switch {
	case r.means != nil && n.Kind == document.String:
		return r.means.same(n.Text)
	case r.means != nil && n.Kind == document.List:
		items := make([]string, len(n.Items))
		for i := range items {
			items[i] = r.means.same(textOf(&n.Items[i]))
		}
		if r.set {
			items = inOrder(items)
		}
		return listText(items)
	}
	return textOf(n)
}

// tagsPath is the path of the machine's tags.
const tagsPath = "$.machine.tags"

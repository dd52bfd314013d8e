package launch

import (
	"reflect"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// spell gives the texts of a document their canonical spellings ([fieldRows]). No other code has the document.
func (d *Document) spell() {
	spell(append(make([]byte, 0, 256), '$'), reflect.ValueOf(d).Elem())
}

// spell spells the value at a path. The items of a list have the path of the list.
func spell(path []byte, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			spell(path, v.Elem())
		}
	case reflect.Struct:
		if v.Type() == secretType {
			return
		}
		for i, name := range document.NamesOf(v.Type()) {
			if name != "" && !v.Field(i).IsZero() {
				spell(document.AppendField(path, name), v.Field(i))
			}
		}
	case reflect.Map:
		if data, ok := v.Interface().(map[string]any); ok {
			spellData(path, data)
			return
		}
		if m := fieldAt(path).means; v.Type().Elem().Kind() == reflect.String && (m == nil || m.canonical == nil) {
			return // such as labels, of which there are many
		}
		for _, key := range v.MapKeys() {
			entry := reflect.New(v.Type().Elem()).Elem()
			entry.Set(v.MapIndex(key))
			spell(document.AppendField(path, key.String()), entry)
			v.SetMapIndex(key, entry)
		}
	case reflect.Slice:
		if parts, ok := v.Interface().(UserParts); ok {
			parts.spell()
			return
		}
		for i := range v.Len() {
			spell(path, v.Index(i))
		}
		if texts, ok := v.Interface().([]string); ok && fieldAt(path).set {
			v.Set(reflect.ValueOf(inOrder(texts)))
		}
	case reflect.String:
		if m := fieldAt(path).means; m != nil && m.canonical != nil {
			v.SetString(m.canonical(v.String()))
		}
	}
}

// spell ends each script with one line feed.
func (p UserParts) spell() {
	for i := range p {
		if strings.HasPrefix(string(p[i].Content), "#!") {
			p[i].Content = []byte(oneLineFeed(string(p[i].Content)))
		}
	}
}

// spellData spells the data at a path, such as the kubelet's configuration, and returns it.
func spellData(path []byte, v any) any {
	switch v := v.(type) {
	case string:
		if m := fieldAt(path).means; m != nil {
			return m.spelled(v)
		}
	case map[string]any:
		for name, value := range v {
			v[name] = spellData(document.AppendField(path, name), value)
		}
	case []any:
		for i := range v {
			v[i] = spellData(path, v[i])
		}
		if fieldAt(path).set {
			slices.SortFunc(v, func(a, b any) int { return strings.Compare(wordOf(a), wordOf(b)) })
			return slices.CompactFunc(v, func(a, b any) bool { return wordOf(a) == wordOf(b) })
		}
	}
	return v
}

func wordOf(v any) string {
	text, _ := v.(string)
	return text
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

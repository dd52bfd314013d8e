package launch

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// What the tests of the clouds' tables need.
var (
	Merged = merge
	Of     = launchOf
)

// MaxRecord is how long a record is at most.
const MaxRecord = maxRecord

// SourcesOf are the sources that may set a field.
func SourcesOf(fields map[string][]Source, path string) []Source {
	sources, _ := rowAt(fields, path)
	return sources
}

// Unrefused is a launch without its problems: its value is compared, whatever else is wrong.
func Unrefused(l *Launch) *Launch {
	copied := *l
	copied.problems = nil
	return &copied
}

// Requirement is one of a claim's.
type Requirement = requirement

// Walk calls visit for each value of a document that is not a struct or a map, with its path.
func Walk(d *Document, visit func(path string, v reflect.Value)) {
	walk("$", reflect.ValueOf(d).Elem(), visit)
}

func walk(path string, v reflect.Value, visit func(string, reflect.Value)) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	switch kind := v.Kind(); {
	case kind == reflect.Invalid:
	case kind == reflect.Struct && v.Type() != secretType:
		for i, name := range document.NamesOf(v.Type()) {
			if name != "" && !v.Field(i).IsZero() {
				walk(document.FieldPath(path, name), v.Field(i), visit)
			}
		}
	case kind == reflect.Map:
		for _, key := range v.MapKeys() {
			walk(document.FieldPath(path, key.String()), v.MapIndex(key), visit)
		}
	default:
		visit(path, v)
	}
}

// Unplaced lists what layers with places say without one. It is empty unless the cloud has a defect.
func Unplaced(layers []Layer) []string {
	var found []string
	for i := range layers {
		if layers[i].Place == nil {
			continue
		}
		layers[i].each(func(at []byte, _ *document.Node) {
			if _, ok := layers[i].Place(string(at)); !ok && layers[i].Lines[string(at)] == "" {
				found = append(found, fmt.Sprintf("%s: %s has no place for it", at, layers[i].Origin))
			}
		})
	}
	return found
}

// Trespass lists what layers set that is not theirs to set, by a cloud's table. It is empty unless the cloud has a defect.
func Trespass(layers []Layer, fields map[string][]Source) []string {
	var found []string
	for i := range layers {
		for _, path := range layers[i].Foreign(fields) {
			found = append(found, fmt.Sprintf("%s: is not to be set by %s", path, layers[i].Source))
		}
	}
	return found
}

// Mutate changes the value at a path of a document. It reports whether it has changed a value.
func Mutate(d *Document, path string) bool { return Rewrite(d, path, change) }

// Rewrite calls change with the value at a path of a document. It reports whether the value exists and change has changed it.
func Rewrite(d *Document, path string, change func(reflect.Value) bool) bool {
	return mutate("$", reflect.ValueOf(d).Elem(), path, func(reflect.Value) {}, change)
}

func mutate(at string, v reflect.Value, path string, store func(reflect.Value), change func(reflect.Value) bool) bool {
	if !document.Within(path, at) {
		return false
	}
	switch v.Kind() {
	case reflect.Pointer:
		return !v.IsNil() && mutate(at, v.Elem(), path, func(reflect.Value) {}, change)
	case reflect.Interface:
		fresh := reflect.New(v.Elem().Type()).Elem()
		fresh.Set(v.Elem())
		return mutate(at, fresh, path, func(reflect.Value) { v.Set(fresh); store(v) }, change)
	case reflect.Struct:
		if v.Type() == secretType {
			return false
		}
		for i := range v.NumField() {
			names := document.JSONNames(v.Type().Field(i))
			if len(names) > 0 && mutate(document.FieldPath(at, names[0]), v.Field(i), path, func(reflect.Value) {}, change) {
				store(v)
				return true
			}
		}
		return false
	case reflect.Map:
		for _, key := range v.MapKeys() {
			entry := reflect.New(v.Type().Elem()).Elem()
			entry.Set(v.MapIndex(key))
			if mutate(document.FieldPath(at, key.String()), entry, path, func(reflect.Value) {}, change) {
				v.SetMapIndex(key, entry)
				store(v)
				return true
			}
		}
		return false
	}
	if at != path || !change(v) {
		return false
	}
	store(v)
	return true
}

// change makes another value of one.
func change(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == publicType {
			v.SetString("other") // at its end it has a comment, which is not compared
			break
		}
		v.SetString(strings.TrimPrefix(v.String(), "0") + "1") // a number stays one
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 0.5)
	case reflect.Slice:
		v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, 0), v.Slice(0, max(v.Len()-1, 0))))
	default:
		return false
	}
	return true
}

// Copied is a document that shares nothing with another one.
func Copied(d *Document) *Document { return overlay(d) }

// Values are all values of a document for people, by their paths.
func Values(d *Document) map[string]string {
	all := make(map[string]string)
	treeOf(d).Walk("$", func(path []byte, n *document.Node) { all[string(path)] = textOf(n) })
	return all
}

// DriftOf is the row of a difference.
func DriftOf(path string) (Drift, string) { row := fieldAt([]byte(path)); return row.class, row.reason }

// SetAll sets every field of a machine.
func SetAll(m *Machine) { setAll(reflect.ValueOf(m).Elem()) }

// SetAny sets a value to one that says something.
func SetAny(v reflect.Value) { setAll(v) }

func setAll(v reflect.Value) {
	if v.Type() == secretType {
		v.Set(reflect.ValueOf(nodeconfig.NewSecret("text")))
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		v.Set(reflect.ValueOf("text"))
	case reflect.Struct:
		for i := range v.NumField() {
			setAll(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		setAll(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		setAll(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		setAll(value)
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), value)
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	}
}

// PoolLayer returns the layer of a request.
func PoolLayer(r Request, cloud Cloud) Layer {
	return Prepare(cloud)(r).own
}

// Explain returns each value of the layers with its source.
func Explain(layers []Layer) []Value { return slices.Collect(maps.Values(explain(layers))) }

// Sources returns all sources, the weakest first.
func Sources() []Source { return slices.Clone(ranks) }

// Takes is the place of a class.
func (d Drift) Takes() int { return d.takes() }

// DriftTable is what a difference takes, in Markdown: each class and reason with the fields that have it, by the rows of the fields.
func DriftTable() string {
	text := "| class | reason | fields |\n|---|---|---|\n"
	at, order := make(map[string][]string), []string{}
	for i := len(classes) - 1; i >= 0; i-- {
		for _, row := range fieldRows {
			if row = *fieldAt([]byte(row.path)); row.class != classes[i] {
				continue
			}
			if above := fieldAt([]byte(row.path[:strings.LastIndexByte(row.path, '.')])); above.class == row.class && above.reason == row.reason {
				continue
			}
			head := fmt.Sprintf("| `%s` | %s |", row.class, row.reason)
			if at[head] == nil {
				order = append(order, head)
			}
			at[head] = append(at[head], "`"+row.path+"`")
		}
	}
	for _, head := range order {
		text += head + " " + strings.Join(at[head], ", ") + " |\n"
	}
	return text
}

// MeaningOf returns the name of the meaning of texts at a path, whether a list there is a set, and the field's default. An empty name
// means that texts there have no meaning.
func MeaningOf(path string) (name string, set bool, standard string) {
	row := fieldAt([]byte(path))
	if row.means != nil {
		name = row.means.name
	}
	return name, row.set, row.standard
}

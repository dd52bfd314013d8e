package document

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// The kinds of what Decode finds wrong.
const (
	// Unknown is a field that the target does not have, or an enumeration value that the field does not have.
	Unknown = "Unknown"
	// WrongType is a value of another type than the field's.
	WrongType = "WrongType"
	// Invalid is a value of the right type that is none of the field's.
	Invalid = "Invalid"
	// Dropped is a value that is left out because of what else is there.
	Dropped = "Dropped"
	// Deprecated is a former name, which is read.
	Deprecated = "Deprecated"
)

// Fault is one thing that is wrong with a document.
type Fault struct {
	// Path is the value's. Known fields are in it by their canonical names, however the document spells
	// them.
	Path string
	// Kind is one of the kinds above.
	Kind string
	// Reason says what is wrong. It repeats no text of the document.
	Reason string
	// Line and Column are those of the value's Node.
	Line, Column int32
	// Err is the error of the value's own UnmarshalText, if that refused it.
	Err error
}

// Options say how a document's names and values map to a Go type.
type Options struct {
	// Names returns the names by which a struct field is known in the document, the canonical one
	// first; none for a field that is not part of the document.
	Names func(reflect.StructField) []string
	// Enum resolves an enumeration's value name; ok is false where t is no enumeration. known is
	// false for a name (or a number, given as text) it does not have.
	Enum func(t reflect.Type, name string) (value int64, known, ok bool)
	// Report is told of each fault.
	Report func(Fault)
	// Seen is told the canonical path of each field that the document sets and that was accepted.
	Seen func(path string)
}

// JSONNames is an Options.Names for ordinary structs with json tags. A field whose name has changed has the
// former one in its tag "formerly"; Decode takes it, and reports it.
func JSONNames(f reflect.StructField) []string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" || name == "-" {
		return nil
	}
	return []string{name}
}

// Decode fills target, a pointer to a struct, from a map. Everything that fits is taken; every
// problem is reported and spoils only the value it is about.
func Decode(n *Node, target any, opts Options) {
	if opts.Seen == nil {
		opts.Seen = func(string) {}
	}
	d := decoder{Options: opts}
	d.structure(n, reflect.ValueOf(target).Elem(), "$")
	if more := d.unknown - MaxUnknown; more > 0 {
		d.report(n, "$", Unknown, "has %d more unknown fields, all ignored", more)
	}
}

type decoder struct {
	Options
	unknown int
}

// MaxUnknown is how many unknown fields are reported one by one. More of them are no typos, and would
// only hide what else is wrong.
const MaxUnknown = 200

func (d *decoder) unknownField(f *Field, path string, known map[string]knownField) {
	if d.unknown++; d.unknown <= MaxUnknown {
		d.report(&f.Value, path, Unknown, "unknown field, ignored%s", suggest(f.Name, known))
	}
}

// report reports a fault of a value, which is at a path.
func (d *decoder) report(n *Node, at, kind, format string, args ...any) {
	f := Fault{Path: at, Kind: kind, Reason: fmt.Sprintf(format, args...), Line: n.Line, Column: n.Column}
	for _, arg := range args {
		if err, ok := arg.(error); ok {
			f.Err = err
		}
	}
	d.Report(f)
}

// value decodes n, which is at a path, into v. It reports whether v was set.
func (d *decoder) value(n *Node, v reflect.Value, at string) bool {
	if n.Kind == Null {
		return false
	}
	if v.CanAddr() {
		if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
			return d.text(n, u, at)
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		fresh := reflect.New(v.Type().Elem())
		if !d.value(n, fresh.Elem(), at) {
			return false
		}
		v.Set(fresh)
		return true
	case reflect.Struct:
		if !d.want(n, Map, at) {
			return false
		}
		d.structure(n, v, at)
		return true
	case reflect.Map:
		return d.mapping(n, v, at)
	case reflect.Slice:
		return d.list(n, v, at)
	case reflect.Interface:
		v.Set(reflect.ValueOf(n.Any()))
		return true
	}
	return d.scalar(n, v, at)
}

// want reports a node of another kind. What it holds is not shown, since a number that should have
// been in quotes may be a secret too.
func (d *decoder) want(n *Node, kind Kind, at string) bool {
	if n.Kind == kind {
		return true
	}
	reason := fmt.Sprintf("is %s, want %s", n.Kind, kind)
	if kind == String && (n.Kind == Number || n.Kind == Bool) {
		reason += ": put it in quotes"
	}
	d.report(n, at, WrongType, "%s", reason)
	return false
}

func (d *decoder) text(n *Node, u encoding.TextUnmarshaler, at string) bool {
	if !d.want(n, String, at) {
		return false
	}
	if err := u.UnmarshalText([]byte(n.Text)); err != nil {
		d.report(n, at, Invalid, "%s", err)
		return false
	}
	return true
}

func (d *decoder) structure(n *Node, v reflect.Value, at string) {
	fields := d.fieldsOf(v.Type())
	taken := make(map[int]string, len(n.Fields))
	for i := range n.Fields {
		f := &n.Fields[i]
		known, ok := fields[f.Name]
		if !ok {
			d.unknownField(f, FieldPath(at, f.Name), fields)
			continue
		}
		if other, twice := taken[known.index]; twice {
			d.report(&f.Value, FieldPath(at, f.Name), Dropped, "is the same field as %q: remove one of them", other)
			continue
		}
		if known.former {
			d.report(&f.Value, FieldPath(at, f.Name), Deprecated, "is the former name of %s; use the new one", known.name)
		}
		taken[known.index] = f.Name
		path := FieldPath(at, known.name)
		if d.value(&f.Value, v.Field(known.index), path) {
			d.Seen(path)
		}
	}
}

func (d *decoder) mapping(n *Node, v reflect.Value, at string) bool {
	if !d.want(n, Map, at) {
		return false
	}
	m := reflect.MakeMapWithSize(v.Type(), len(n.Fields))
	for i := range n.Fields {
		f := &n.Fields[i]
		item := reflect.New(v.Type().Elem()).Elem()
		if d.element(&f.Value, item, FieldPath(at, f.Name)) {
			m.SetMapIndex(reflect.ValueOf(f.Name), item)
		}
	}
	v.Set(m)
	return true
}

func (d *decoder) list(n *Node, v reflect.Value, at string) bool {
	if !d.want(n, List, at) {
		return false
	}
	s := reflect.MakeSlice(v.Type(), 0, len(n.Items))
	for i := range n.Items {
		item := reflect.New(v.Type().Elem()).Elem()
		if d.element(&n.Items[i], item, IndexPath(at, i)) {
			s = reflect.Append(s, item)
		}
	}
	v.Set(s)
	return true
}

// element decodes an entry of a map or an item of a list. Where it is null, that is reported: somebody
// wrote it, and what it means is not the same to all readers.
func (d *decoder) element(n *Node, v reflect.Value, at string) bool {
	if n.Kind == Null && v.Kind() != reflect.Interface {
		d.report(n, at, WrongType, `is null; write an empty text as ""`)
		return false
	}
	return d.value(n, v, at)
}

func (d *decoder) scalar(n *Node, v reflect.Value, at string) bool {
	if d.Enum != nil {
		if value, known, ok := d.Enum(v.Type(), n.Text); ok {
			return d.enumeration(n, v, at, value, known)
		}
	}
	switch v.Kind() {
	case reflect.String:
		if !d.want(n, String, at) {
			return false
		}
		v.SetString(n.Text)
	case reflect.Bool:
		if !d.want(n, Bool, at) {
			return false
		}
		v.SetBool(n.Text == "true")
	case reflect.Int, reflect.Int32, reflect.Int64:
		i, kind, reason := integer(n, v.Type().Bits())
		if reason != "" {
			d.report(n, at, kind, "%s", reason)
			return false
		}
		v.SetInt(i)
	case reflect.Float64:
		f, err := strconv.ParseFloat(n.Text, 64)
		if !isNumber(n) || err != nil {
			d.report(n, at, WrongType, "is %s, want a number", describe(n))
			return false
		}
		v.SetFloat(f)
	default:
		panic(fmt.Sprintf("document: no rule to decode into %s", v.Type()))
	}
	return true
}

func (d *decoder) enumeration(n *Node, v reflect.Value, at string, value int64, known bool) bool {
	switch {
	case n.Kind != String && n.Kind != Number:
		d.report(n, at, WrongType, "is %s, want the name of a value", n.Kind)
		return false
	case !known:
		d.report(n, at, Unknown, "unknown value, ignored")
		return false
	}
	v.SetInt(value)
	return true
}

// isNumber reports whether a node is a number, or a string that holds one: protobuf's JSON allows
// both.
func isNumber(n *Node) bool {
	return (n.Kind == Number || n.Kind == String) && isJSONNumber(n.Text)
}

// describe names the kind of what is there instead of a number, and shows a number that does not do.
func describe(n *Node) string {
	if n.Kind == Number {
		return fmt.Sprintf("%s (%s)", n.Kind, n.Text)
	}
	return n.Kind.String()
}

// integer reads a whole number, or returns the kind of what is wrong, and the reason.
func integer(n *Node, bits int) (_ int64, kind, reason string) {
	if !isNumber(n) {
		return 0, WrongType, fmt.Sprintf("is %s, want an integer", describe(n))
	}
	i, err := strconv.ParseInt(n.Text, 10, 64)
	if err != nil {
		f, ferr := strconv.ParseFloat(n.Text, 64)
		if ferr != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
			return 0, WrongType, fmt.Sprintf("is %s, want an integer", describe(n))
		}
		i = int64(f)
	}
	if limit := int64(1) << (bits - 1); bits < 64 && (i < -limit || i >= limit) {
		return 0, Invalid, fmt.Sprintf("is out of range for a %d bit integer", bits)
	}
	return i, "", ""
}

// knownField is a struct field as the document knows it.
type knownField struct {
	index  int
	name   string // canonical
	former bool   // not one of Options.Names, but the field's former name
}

// fieldTables caches, for each type, its fields by name. The key holds the naming rule too, as
// dialects name the same kind of struct in different ways.
var fieldTables sync.Map

type tableKey struct {
	t     reflect.Type
	names uintptr
}

func (d *decoder) fieldsOf(t reflect.Type) map[string]knownField {
	key := tableKey{t, reflect.ValueOf(d.Names).Pointer()}
	if cached, ok := fieldTables.Load(key); ok {
		return cached.(map[string]knownField)
	}
	table := make(map[string]knownField)
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			continue
		}
		names := d.Names(t.Field(i))
		for _, name := range names {
			table[name] = knownField{i, names[0], false}
		}
		if former := t.Field(i).Tag.Get("formerly"); former != "" && len(names) > 0 {
			table[former] = knownField{i, names[0], true}
		}
	}
	fieldTables.Store(key, table)
	return table
}

// Any returns the node as encoding/json would, numbers as json.Number.
func (n *Node) Any() any {
	switch n.Kind {
	case Bool:
		return n.Text == "true"
	case Number:
		return json.Number(n.Text)
	case String:
		return n.Text
	case List:
		items := make([]any, len(n.Items))
		for i := range n.Items {
			items[i] = n.Items[i].Any()
		}
		return items
	case Map:
		m := make(map[string]any, len(n.Fields))
		for i := range n.Fields {
			m[n.Fields[i].Name] = n.Fields[i].Value.Any()
		}
		return m
	}
	return nil
}

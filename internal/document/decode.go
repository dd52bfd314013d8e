package document

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// The kinds of faults.
const (
	// Unknown: the target does not have the field, or the enumeration does not have the value.
	Unknown = "Unknown"
	// WrongType: the value has another type than the field.
	WrongType = "WrongType"
	// Invalid: the value has the right type, but the field does not allow it.
	Invalid = "Invalid"
	// Dropped: the value is left out because of another value.
	Dropped = "Dropped"
)

// Fault is one thing that is wrong with a document.
type Fault struct {
	// Path is the value's path. It has the canonical names of known fields, in any spelling of the
	// document.
	Path string
	// Kind is one of the kinds above.
	Kind string
	// Reason is what is wrong. It repeats no text of the document.
	Reason string
	// Line and Column are those of the value's Node.
	Line, Column int32
	// Err is the error of the value's own UnmarshalText, if that refused it.
	Err error
}

// Options map a document's names and values to a Go type.
type Options struct {
	// Names returns the names of a struct field in the document, the canonical one first. It
	// returns no names for a field that is not part of the document.
	Names func(reflect.StructField) []string
	// Enum resolves the name of an enumeration's value. ok is false if t is not an enumeration.
	// known is false if the enumeration does not have the name (or the number, given as text).
	Enum func(t reflect.Type, name string) (value int64, known, ok bool)
	// Strict omits the text that an unknown field is ignored, for callers who refuse it.
	Strict bool
	// Report is called for each fault.
	Report func(Fault)
}

// JSONNames is an Options.Names for ordinary structs with json tags.
func JSONNames(f reflect.StructField) []string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" || name == "-" {
		return nil
	}
	return []string{name}
}

// Decode fills target, a pointer to a struct, from a map. It sets every valid value; every problem
// is reported and affects only its own value.
func Decode(n *Node, target any, opts Options) {
	d := decoder{Options: opts}
	v := reflect.ValueOf(target).Elem()
	d.structure(n, v, opts.codecOf(v.Type()))
	if more := d.unknown - MaxUnknown; more > 0 {
		d.report(n, Unknown, "has %d more unknown fields%s", more, map[bool]string{false: ", all ignored", true: ""}[d.Strict])
	}
}

type decoder struct {
	Options
	// at is the path of the value that is being decoded.
	at      Path
	unknown int
}

// MaxUnknown limits the unknown fields that are reported one by one. More of them are not typos,
// and would hide the other problems.
const MaxUnknown = 200

// report reports a fault of a value, which is at the decoder's path.
func (d *decoder) report(n *Node, kind, format string, args ...any) {
	f := Fault{Path: d.at.String(), Kind: kind, Reason: fmt.Sprintf(format, args...), Line: n.Line, Column: n.Column}
	for _, arg := range args {
		if err, ok := arg.(error); ok {
			f.Err = err
		}
	}
	d.Report(f)
}

// reportField reports a fault of a field under its name in the document.
func (d *decoder) reportField(f *Field, kind, format string, args ...any) {
	d.at.Enter(f.Name)
	d.report(&f.Value, kind, format, args...)
	d.at.Leave()
}

// value decodes n into v. It reports whether v was set.
func (d *decoder) value(n *Node, v reflect.Value, c *codec) bool {
	if n.Kind == Null {
		return false
	}
	switch c.as {
	case asText:
		return d.text(n, v.Addr().Interface().(encoding.TextUnmarshaler))
	case asPointer:
		fresh := reflect.New(c.elem.t)
		if !d.value(n, fresh.Elem(), c.elem) {
			return false
		}
		v.Set(fresh)
		return true
	case asStruct:
		if !d.want(n, Map) {
			return false
		}
		d.structure(n, v, c)
		return true
	case asMap:
		return d.want(n, Map) && d.mapping(n, v, c)
	case asList:
		return d.want(n, List) && d.list(n, v, c)
	case asAny:
		v.Set(reflect.ValueOf(n.Any()))
		return true
	case asEnum:
		return d.enumeration(n, v, c.t)
	}
	return d.scalar(n, v, c)
}

// want reports a node of another kind. It does not show the node's value, because a number without
// its quotes may also be a secret.
func (d *decoder) want(n *Node, kind Kind) bool {
	if n.Kind == kind {
		return true
	}
	reason := fmt.Sprintf("is %s, want %s", n.Kind, kind)
	if kind == String && (n.Kind == Number || n.Kind == Bool) {
		reason += ": put it in quotes"
	}
	d.report(n, WrongType, "%s", reason)
	return false
}

func (d *decoder) text(n *Node, u encoding.TextUnmarshaler) bool {
	if !d.want(n, String) {
		return false
	}
	if err := u.UnmarshalText([]byte(n.Text)); err != nil {
		d.report(n, Invalid, "%s", err)
		return false
	}
	return true
}

// ignored is the end of the reason for an unknown field, by Options.Strict.
var ignored = map[bool]string{false: ", ignored", true: ""}

func (d *decoder) structure(n *Node, v reflect.Value, c *codec) {
	taken := make([]bool, v.NumField())
	for i := range n.Fields {
		f := &n.Fields[i]
		known, ok := c.fields[f.Name]
		if !ok {
			if d.unknown++; d.unknown <= MaxUnknown {
				d.reportField(f, Unknown, "unknown field%s%s", ignored[d.Strict], Suggestion(f.Name, slices.Collect(maps.Keys(c.fields))))
			}
			continue
		}
		if taken[known.index] {
			other := slices.IndexFunc(n.Fields, func(f Field) bool { return c.fields[f.Name].is(known.index) })
			d.reportField(f, Dropped, "is the same field as %q: remove one of them", n.Fields[other].Name)
			continue
		}
		taken[known.index] = true
		d.at.Enter(known.name)
		d.value(&f.Value, v.Field(known.index), known.codec)
		d.at.Leave()
	}
}

func (d *decoder) mapping(n *Node, v reflect.Value, c *codec) bool {
	m := reflect.MakeMapWithSize(c.t, len(n.Fields))
	for i := range n.Fields {
		f := &n.Fields[i]
		item := reflect.New(c.elem.t).Elem()
		d.at.Enter(f.Name)
		if d.element(&f.Value, item, c.elem) {
			m.SetMapIndex(reflect.ValueOf(f.Name), item)
		}
		d.at.Leave()
	}
	v.Set(m)
	return true
}

func (d *decoder) list(n *Node, v reflect.Value, c *codec) bool {
	s := reflect.MakeSlice(c.t, len(n.Items), len(n.Items))
	kept := 0
	for i := range n.Items {
		d.at.EnterItem(i)
		if d.element(&n.Items[i], s.Index(kept), c.elem) {
			kept++
		} else {
			s.Index(kept).SetZero() // the parts of it that were valid
		}
		d.at.Leave()
	}
	v.Set(s.Slice(0, kept))
	return true
}

// element decodes an entry of a map or an item of a list. A null there is reported: the author
// wrote it, and readers disagree about its meaning.
func (d *decoder) element(n *Node, v reflect.Value, c *codec) bool {
	if n.Kind == Null && c.as != asAny {
		d.report(n, WrongType, `is null; write an empty text as ""`)
		return false
	}
	return d.value(n, v, c)
}

func (d *decoder) scalar(n *Node, v reflect.Value, c *codec) bool {
	switch c.as {
	case asString:
		if !d.want(n, String) {
			return false
		}
		v.SetString(n.Text)
	case asBool:
		if !d.want(n, Bool) {
			return false
		}
		v.SetBool(n.Text == "true")
	case asInteger:
		i, kind, reason := integer(n, c.t.Bits())
		if reason != "" {
			d.report(n, kind, "%s", reason)
			return false
		}
		v.SetInt(i)
	case asNumber:
		f, err := strconv.ParseFloat(n.Text, 64)
		if !isNumber(n) || err != nil {
			d.report(n, WrongType, "is %s, want a number", describe(n))
			return false
		}
		v.SetFloat(f)
	}
	return true
}

func (d *decoder) enumeration(n *Node, v reflect.Value, t reflect.Type) bool {
	value, known, _ := d.Enum(t, n.Text)
	switch {
	case n.Kind != String && n.Kind != Number:
		d.report(n, WrongType, "is %s, want the name of a value", n.Kind)
		return false
	case n.Kind == String && isJSONNumber(n.Text):
		// protobuf's JSON reads a name, or a number that is not a string (protobuf docs, ProtoJSON
		// format: enum).
		d.report(n, Unknown, "is a number in quotes, ignored; use the name of a value, or the number without quotes")
		return false
	case !known:
		d.report(n, Unknown, "unknown value, ignored")
		return false
	}
	v.SetInt(value)
	return true
}

// isNumber reports whether a node is a number, or a string with a number in it: protobuf's JSON
// allows both.
func isNumber(n *Node) bool {
	return (n.Kind == Number || n.Kind == String) && isJSONNumber(n.Text)
}

// describe names the kind of a node that should be a number, and shows an invalid number.
func describe(n *Node) string {
	if n.Kind == Number {
		return fmt.Sprintf("%s (%s)", n.Kind, n.Text)
	}
	return n.Kind.String()
}

// integer parses a whole number, or returns the kind of the fault, and the reason.
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

// Any returns the node as encoding/json would, with numbers as json.Number.
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

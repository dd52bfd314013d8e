// Package toml holds containerd's configuration as a tree, and reads and writes it. The planner builds such trees and
// merges a contract's settings over them. The writer is deterministic: tables and keys are in the order in which they
// were set. It is not a general reader: it refuses dates, which no containerd setting has, and anything beyond the
// limits.
package toml

import (
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Table is a table: ordered keys, each with a value: string, int64, float64, bool, []any of these, or *Table. The zero
// value is empty.
type Table struct {
	keys   []string
	values map[string]any
	// Quoted reports that its keys are written in quotes, because others choose these names.
	Quoted bool
}

// Set sets a value at a path of keys. It creates missing tables on the path, and replaces other values there by tables.
func (t *Table) Set(value any, path ...string) {
	last := len(path) - 1
	at := t.At(path[:last]...)
	if at.values == nil {
		at.values = make(map[string]any)
	}
	if _, found := at.values[path[last]]; !found {
		at.keys = append(at.keys, path[last])
	}
	at.values[path[last]] = value
}

// At returns the table at a path of keys, and creates it if it is missing.
func (t *Table) At(path ...string) *Table {
	for _, key := range path {
		below, found := t.values[key].(*Table)
		if !found {
			below = new(Table)
			t.Set(below, key)
		}
		t = below
	}
	return t
}

// Get returns the value at a path of keys, or nil.
//
//go:noinline
func (t *Table) Get(path ...string) any {
	var value any = t
	for _, key := range path {
		table, ok := value.(*Table)
		if !ok {
			return nil
		}
		value = table.values[key]
	}
	return value
}

// Delete removes the value at a path of keys, if any.
func (t *Table) Delete(path ...string) {
	last := len(path) - 1
	above, ok := t.Get(path[:last]...).(*Table)
	if !ok || above.values[path[last]] == nil {
		return
	}
	delete(above.values, path[last])
	above.keys = slices.DeleteFunc(above.keys, func(key string) bool { return key == path[last] })
}

// Copy returns a deep copy: its nested tables are copies, too.
func (t *Table) Copy() *Table {
	c := &Table{Quoted: t.Quoted}
	for key, value := range t.All() {
		if below, ok := value.(*Table); ok {
			value = below.Copy()
		}
		c.Set(value, key)
	}
	return c
}

// All are a table's keys with their values, in order.
func (t *Table) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, key := range t.keys {
			if !yield(key, t.values[key]) {
				return
			}
		}
	}
}

// Empty reports whether a table has no key.
func (t *Table) Empty() bool { return len(t.keys) == 0 }

// Merge merges another table over this one: tables are merged by key, and every other value replaces the present one.
// If a value would replace a table of this one, or a table a value, Merge returns the keys to the first such table and
// stops.
func (t *Table) Merge(over *Table) (conflict []string) {
	for key, value := range over.All() {
		above, has := t.values[key]
		mine, isTable := above.(*Table)
		other, wantsTable := value.(*Table)
		switch {
		case has && isTable != wantsTable:
			return []string{key}
		case isTable:
			if conflict := mine.Merge(other); conflict != nil {
				return append([]string{key}, conflict...)
			}
		default:
			t.Set(value, key)
		}
	}
	return nil
}

// Bytes writes the table as a document.
func (t *Table) Bytes() []byte {
	w := &writer{}
	w.table(t, nil)
	return w.out
}

type writer struct{ out []byte }

// table writes a table's values, then its nested tables.
func (w *writer) table(t *Table, path []byte) {
	var below []string
	for _, key := range t.keys {
		if _, isTable := t.values[key].(*Table); isTable {
			below = append(below, key)
		}
	}
	if len(path) > 0 && (len(below) < len(t.keys) || len(t.keys) == 0) {
		if len(w.out) > 0 {
			w.out = append(w.out, '\n')
		}
		w.out = append(append(append(w.out, '['), path...), "]\n"...)
	}
	for _, key := range t.keys {
		if _, isTable := t.values[key].(*Table); !isTable {
			w.out = append(AppendValue(append(t.appendKey(w.out, key), " = "...), t.values[key]), '\n')
		}
	}
	for _, key := range below {
		at := path[:len(path):len(path)]
		if len(at) > 0 {
			at = append(at, '.')
		}
		w.table(t.values[key].(*Table), t.appendKey(at, key))
	}
}

// appendKey appends a key, in quotes unless it is a plain name.
func (t *Table) appendKey(dst []byte, key string) []byte {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
	}
	if t.Quoted || key == "" || strings.ContainsFunc(key, func(r rune) bool { return !plain(r) }) {
		return appendString(dst, key)
	}
	return append(dst, key...)
}

// AppendValue appends a value in one line.
func AppendValue(dst []byte, value any) []byte {
	switch v := value.(type) {
	case string:
		return appendString(dst, v)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case float64:
		return appendFloat(dst, v)
	case bool:
		return strconv.AppendBool(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = AppendValue(dst, item)
		}
		return append(dst, ']')
	case *Table:
		dst = append(dst, '{')
		for i, key := range v.keys {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = AppendValue(append(v.appendKey(dst, key), " = "...), v.values[key])
		}
		return append(dst, '}')
	}
	panic("toml: a value of no type that a table holds")
}

// appendFloat appends a float so that it is parsed as one (TOML 1.0, "Float").
func appendFloat(dst []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "nan"...)
	case math.IsInf(v, 0):
		return append(dst, map[bool]string{true: "inf", false: "-inf"}[v > 0]...)
	}
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return append(dst, text...)
}

// appendString writes a basic string (TOML 1.0, "String").
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			if c < ' ' || c == 0x7f {
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
			} else {
				dst = append(dst, c)
			}
		}
	}
	return append(dst, '"')
}

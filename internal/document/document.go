// Package document represents a configuration document as a tree. It reads JSON or YAML, and writes one canonical form, or YAML for
// people.
//
// With it, every dialect has the same limits and the same tolerance: a document is parsed once into a [Node], and [Decode] then
// fills a Go struct from it, field by field, so that a bad value affects only its own field. It knows nothing about a document's
// meaning, does no I/O, and never repeats a string of a document in an error, because the string may be a secret. nodeconfig and
// its dialects call it.
package document

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Limits of a document. Azure's custom data has at most 64 KiB; a file on disk may be larger, but a contract that needs more than
// this is a mistake or an attack.
const (
	MaxBytes = 1 << 20
	MaxDepth = 64
	MaxNodes = 10_000
	// MaxSigns limits the result of Signs for a text of YAML: a value in flow style has two.
	MaxSigns = 2 * MaxNodes
)

// ErrTooLarge is wrapped by the error of a document beyond one of the limits.
var ErrTooLarge = errors.New("document too large")

// Kind is the kind of a Node.
type Kind uint8

// The kinds of a Node; they are JSON's.
const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Map
)

// String returns the kind's name for people, with its article.
func (k Kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "a list", "a map"}[k]
}

// Node is one value of a document.
type Node struct {
	Kind Kind
	// Line and Column are the position of the value, from 1, the column in characters. They are 0 in a tree that was not parsed.
	Line, Column int32
	// Indent is how many spaces are before the lines of a literal block of YAML, whose first line is the line after Line. It is 0
	// for all else.
	Indent int32
	// Text is a string's value, or the literal of a number or boolean in JSON's spelling.
	Text string
	// Items are a list's elements.
	Items []Node
	// Fields are a map's entries, in the order of the document; names are unique.
	Fields []Field
}

// Field is one entry of a map.
type Field struct {
	Name  string
	Value Node
}

// Get returns a map's entry by name. The compiler must not copy it to its hundred callers.
//
//go:noinline
func (n *Node) Get(name string) (*Node, bool) {
	if n == nil || n.Kind != Map {
		return nil, false
	}
	for i := range n.Fields {
		if n.Fields[i].Name == name {
			return &n.Fields[i].Value, true
		}
	}
	return nil, false
}

// GetText returns the string in a map's entry, or "".
//
//go:noinline
func (n *Node) GetText(name string) string {
	if value, ok := n.Get(name); ok && value.Kind == String {
		return value.Text
	}
	return ""
}

// Parse parses a document: as JSON if it begins with a brace, else as YAML. A byte order mark is skipped. The top must be a map.
func Parse(data []byte) (*Node, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, len(data), MaxBytes)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	trimmed := bytes.TrimSpace(data)
	if len(trimmed) == 0 {
		return nil, errors.New("document is empty")
	}
	parse := parseYAML
	if trimmed[0] == '{' {
		parse = parseJSON
	}
	n, err := parse(data)
	if err != nil {
		return nil, err
	}
	if n.Kind != Map {
		return nil, fmt.Errorf("document is %s, want a map at the top", n.Kind)
	}
	return n, nil
}

// Signs counts the characters that structure YAML or JSON. Each value except the first has such a character before it, or shares it
// with at most two others; and each comment counts as one. A YAML library builds a tree of all values, of some 300 bytes each,
// before a caller can count them, so Parse counts these characters first. It also counts those within texts; a text for people has
// many more words than that.
func Signs(text []byte) int {
	n := 0
	for i, c := range text {
		switch c {
		case ',', ':', '[', '{', '#':
			n++
		case '-', '?':
			if i+1 == len(text) || strings.IndexByte(" \t\r\n", text[i+1]) >= 0 {
				n++
			}
		}
	}
	return n
}

// budget counts nodes and depth while a document is parsed.
type budget struct{ nodes int }

func (b *budget) spend(depth int) error {
	b.nodes++
	if b.nodes > MaxNodes {
		return fmt.Errorf("%w: more than %d values", ErrTooLarge, MaxNodes)
	}
	if depth > MaxDepth {
		return fmt.Errorf("%w: nested deeper than %d", ErrTooLarge, MaxDepth)
	}
	return nil
}

// FieldPath appends a map entry's name to a JSON path.
//
//go:noinline
func FieldPath(path, name string) string { return string(AppendField([]byte(path), name)) }

// AppendField is [FieldPath] for a path in a buffer.
func AppendField(path []byte, name string) []byte {
	if isIdentifier(name) {
		return append(append(path, '.'), name...)
	}
	return append(strconv.AppendQuote(append(path, '['), name), ']')
}

// IndexPath appends a list index to a JSON path.
//
//go:noinline
func IndexPath(path string, i int) string {
	return path + "[" + strconv.Itoa(i) + "]"
}

// Within reports whether a path is equal to another one, or below it.
func Within(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// CutPath cuts the last step off a path, and returns it if it is a name.
func CutPath(path string) (above, name string) {
	above = path
	for rest := strings.TrimPrefix(path, "$"); rest != ""; {
		above = path[:len(path)-len(rest)]
		name, _, rest = Step(rest)
	}
	return above, name
}

// Moved returns the origin of a path. origin knows the origin of some paths, and a path below one of them is below its origin.
// Moved returns other paths unchanged.
func Moved(path string, origin func(path string) (from string, ok bool)) string {
	for prefix := path; ; {
		if from, ok := origin(prefix); ok {
			return from + path[len(prefix):]
		}
		above, _ := CutPath(prefix)
		if above == prefix {
			return path
		}
		prefix = above
	}
}

func isIdentifier(s string) bool {
	for i, r := range s {
		letter := r == '_' || (r|0x20 >= 'a' && r|0x20 <= 'z')
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// AppendJSON appends the node as canonical JSON: names sorted, no spaces, numbers in the document's spelling.
func (n *Node) AppendJSON(dst []byte) []byte {
	switch n.Kind {
	case Null:
		return append(dst, "null"...)
	case Bool, Number:
		return append(dst, n.Text...)
	case String:
		return AppendString(dst, n.Text)
	case List:
		dst = append(dst, '[')
		for i := range n.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = n.Items[i].AppendJSON(dst)
		}
		return append(dst, ']')
	}
	sorted := make([]*Field, len(n.Fields))
	for i := range n.Fields {
		sorted[i] = &n.Fields[i]
	}
	slices.SortFunc(sorted, func(a, b *Field) int { return strings.Compare(a.Name, b.Name) })
	dst = append(dst, '{')
	for i := range sorted {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, sorted[i].Name), ':')
		dst = sorted[i].Value.AppendJSON(dst)
	}
	return append(dst, '}')
}

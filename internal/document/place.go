package document

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// SyntaxError is why a document cannot be parsed, with the position.
type SyntaxError struct {
	// Line and Column are counted from 1, the column in characters. Both are 0 if the position is unknown.
	Line, Column int
	// format is "json" or "yaml".
	format, reason string
}

// Reason returns the format and the reason, without the position. It repeats no value of the document.
func (e *SyntaxError) Reason() string { return e.format + ": " + e.reason }

// Error returns the reason with the position.
func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return e.Reason()
	}
	return fmt.Sprintf("%s, line %d column %d: %s", e.format, e.Line, e.Column, e.reason)
}

// cursor finds line and column of ascending offsets in a text, in one pass.
type cursor struct {
	text         []byte
	offset       int
	line, column int32 // from 0
}

// to moves the cursor and returns line and column, from 1.
func (c *cursor) to(offset int) (line, column int32) {
	if offset = min(offset, len(c.text)); offset > c.offset {
		passed := c.text[c.offset:offset]
		for {
			end := bytes.IndexByte(passed, '\n')
			if end < 0 {
				break
			}
			passed = passed[end+1:]
			c.line, c.column = c.line+1, 0
		}
		for _, b := range passed {
			if b&0xc0 != 0x80 { // not the inside of a character
				c.column++
			}
		}
		c.offset = offset
	}
	return c.line + 1, c.column + 1
}

// yamlError returns the position at which a text is not YAML. The library's message has the line where the surrounding construct
// began, and counts lines from 0 in some errors and from 1 in others. Its parser knows the exact position, in unexported fields. If
// another version of the library has no such fields, the error has no position.
func yamlError(dec *yaml.Decoder, text []byte, err error) error {
	e := &SyntaxError{format: "yaml", reason: strings.TrimPrefix(err.Error(), "yaml: ")}
	outer := member(reflect.ValueOf(dec).Elem(), "parser")
	parser := member(outer, "parser")
	reason := member(parser, "problem")
	switch {
	case !reason.IsValid():
		return e
	case reason.String() == "": // not the parser's error, but one about the parsed content
		e.Line, e.Column = markOf(member(outer, "event"), "start_mark")
		// The message repeats a text that begins with an asterisk, perhaps a password, as the name of an anchor.
		e.reason = "an alias without its anchor; put a text that begins with * in quotes"
		return e
	}
	e.reason = reason.String()
	e.Line, e.Column = markOf(parser, "problem_mark")
	begin, column := markOf(parser, "context_mark")
	if context := member(parser, "context").String(); begin > 0 && context != "" && begin < e.Line {
		end, _ := (&cursor{text: text}).to(len(strings.TrimRight(string(text), " \t\r\n")))
		if context == simpleKey || e.Line > int(end) {
			e.Line, e.Column = begin, column // the text after it has no error, or is empty
		} else {
			e.reason += fmt.Sprintf(", in the part that begins at line %d", begin)
		}
	}
	if offset := member(parser, "problem_offset").Int(); offset > 0 { // an invalid character has no position
		line, column := (&cursor{text: text}).to(int(offset))
		e.Line, e.Column = int(line), int(column)
	}
	return e
}

// simpleKey is in the library's message about a text that should be a field's name, and has no colon.
const simpleKey = "while scanning a simple key"

// member returns a field of a struct or of a pointer's struct, or the zero Value.
func member(v reflect.Value, name string) reflect.Value {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return v.FieldByName(name)
}

// markOf reads one of the library's positions, which count from 0.
func markOf(v reflect.Value, name string) (line, column int) {
	mark := member(v, name)
	if l, c := member(mark, "line"), member(mark, "column"); l.CanInt() && c.CanInt() {
		return int(l.Int()) + 1, int(c.Int()) + 1
	}
	return 0, 0
}

// Finder finds the values of a document by their paths. The zero Finder knows no document.
type Finder struct {
	top *Node
	// names are the fields of the maps that were searched: a document may have as many paths as fields.
	names map[*Node]map[string]*Node
}

// NewFinder returns a Finder of a document's values.
func NewFinder(top *Node) Finder { return Finder{top, make(map[*Node]map[string]*Node)} }

// At returns the value at a JSON path, or the innermost existing value above it. It is nil if that is the whole document. It
// accepts a name in both of protobuf's JSON spellings.
func (f Finder) At(path string) *Node {
	at, _ := f.find(path)
	return at
}

// Has reports whether the document has a value at a JSON path.
func (f Finder) Has(path string) bool {
	at, rest := f.find(path)
	return at != nil && rest == ""
}

// find returns the value of At, and the rest of the path.
func (f Finder) find(path string) (at *Node, rest string) {
	rest, ok := strings.CutPrefix(path, "$")
	if f.top == nil || !ok {
		return nil, rest
	}
	at = f.top
	for rest != "" {
		var next *Node
		name, index, after := Step(rest)
		switch {
		case name != "":
			next = f.field(at, name)
		case at.Kind == List && index >= 0 && index < len(at.Items):
			next = &at.Items[index]
		}
		if next == nil {
			break
		}
		at, rest = next, after
	}
	if at == f.top {
		return nil, rest
	}
	return at, rest
}

// field returns the entry of a map by its name, or by the same name in snake_case or camelCase.
func (f Finder) field(n *Node, name string) *Node {
	names, ok := f.names[n]
	if !ok {
		names = make(map[string]*Node, len(n.Fields))
		for i := range n.Fields {
			names[plain(n.Fields[i].Name)] = &n.Fields[i].Value
		}
		for i := range n.Fields { // a name's own spelling wins over the other one
			names[n.Fields[i].Name] = &n.Fields[i].Value
		}
		f.names[n] = names
	}
	if value, ok := names[name]; ok {
		return value
	}
	return names[plain(name)]
}

// plain returns a name in a form that both spellings share.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// Step parses the first step of a path: a name, or an index. The index is -1 if it is neither.
func Step(path string) (name string, index int, rest string) {
	if inner, ok := strings.CutPrefix(path, "."); ok {
		end := 0
		for end < len(inner) && inner[end] != '.' && inner[end] != '[' {
			end++
		}
		return inner[:end], -1, inner[end:]
	}
	inner, ok := strings.CutPrefix(path, "[")
	if !ok {
		return "", -1, ""
	}
	if quoted, err := strconv.QuotedPrefix(inner); err == nil {
		name, _ = strconv.Unquote(quoted)
		return name, -1, strings.TrimPrefix(inner[len(quoted):], "]")
	}
	digits, rest, _ := strings.Cut(inner, "]")
	index, err := strconv.Atoi(digits)
	if err != nil {
		return "", -1, ""
	}
	return "", index, rest
}

package unitfile

import "strings"

// The states of an environmentReader.
const (
	beforeName = iota
	inName
	beforeValue
	inValue
	escaped
	single
	double
	doubleEscaped
	comment
	commentEscaped
)

// environmentReader reads an EnvironmentFile= byte by byte.
type environmentReader struct {
	variables   map[string]string
	name, value strings.Builder
	state       int
	trailing    int // the offset of blanks at the value's end, or -1
}

// Environment parses an EnvironmentFile= (systemd 255, src/basic/env-file.c).
func Environment(content string) map[string]string {
	r := &environmentReader{variables: make(map[string]string), trailing: -1}
	for i := range len(content) {
		switch r.state {
		case beforeName, inName, comment, commentEscaped:
			r.outside(content[i])
		case beforeValue, inValue, escaped:
			r.plain(content[i])
		default:
			r.quoted(content[i])
		}
	}
	if r.state != beforeName && r.state != inName && r.state != comment {
		r.push()
	}
	return r.variables
}

func isOneOf(c byte, set string) bool { return strings.IndexByte(set, c) >= 0 }

func (r *environmentReader) push() {
	text := r.value.String()
	if r.trailing >= 0 {
		text = text[:r.trailing]
	}
	r.variables[strings.TrimRight(r.name.String(), blanks)] = text
	r.name.Reset()
	r.value.Reset()
	r.state, r.trailing = beforeName, -1
}

// outside processes a byte of a name, or of a comment.
func (r *environmentReader) outside(c byte) {
	switch {
	case r.state == commentEscaped:
		r.state = comment
	case r.state == comment && c == '\\':
		r.state = commentEscaped
	case isOneOf(c, "\n\r"):
		r.name.Reset()
		r.state = beforeName
	case r.state == comment:
	case r.state == beforeName && isOneOf(c, "#;"):
		r.state = comment
	case r.state == beforeName && isOneOf(c, blanks):
	case r.state == inName && c == '=':
		r.state = beforeValue
	default:
		r.state = inName
		r.name.WriteByte(c)
	}
}

// plain processes a byte of an unquoted value.
func (r *environmentReader) plain(c byte) {
	switch {
	case r.state == escaped:
		r.state = inValue
		if !isOneOf(c, "\n\r") {
			r.value.WriteByte(c)
		}
	case isOneOf(c, "\n\r"):
		r.push()
	case c == '\'' && r.state == beforeValue:
		r.state = single
	case c == '"' && r.state == beforeValue:
		r.state = double
	case c == '\\':
		r.state, r.trailing = escaped, -1
	case !isOneOf(c, blanks):
		r.state, r.trailing = inValue, -1
		r.value.WriteByte(c)
	case r.state == inValue:
		if r.trailing < 0 {
			r.trailing = r.value.Len()
		}
		r.value.WriteByte(c)
	}
}

// quoted processes a byte of a quoted value.
func (r *environmentReader) quoted(c byte) {
	switch {
	case r.state == doubleEscaped:
		r.state = double
		if c == '\n' {
			return
		}
		if !isOneOf(c, "\"\\`$") {
			r.value.WriteByte('\\')
		}
		r.value.WriteByte(c)
	case r.state == single && c == '\'', r.state == double && c == '"':
		r.state = beforeValue
	case r.state == double && c == '\\':
		r.state = doubleEscaped
	default:
		r.value.WriteByte(c)
	}
}

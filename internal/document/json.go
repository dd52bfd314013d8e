package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// parseJSON parses exactly one JSON value. Duplicate names are refused, because readers of the same bytes disagree
// which of the two counts.
//
// It has its own parser, because encoding/json returns one token at a time, with a copy of its text. For text that is
// not JSON, encoding/json provides the reason.
func parseJSON(data []byte) (*Node, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("document is not UTF-8")
	}
	p := jsonParser{data: data, text: string(data), cursor: cursor{text: data}}
	n, err := p.value(0)
	if err != nil {
		return nil, p.where(err)
	}
	if p.next(); p.read < len(p.text) {
		p.to(p.read)
		return nil, p.fault("there is text after the document's closing brace")
	}
	return &n, nil
}

type jsonParser struct {
	data []byte
	// text is data as a string. The strings of a tree are parts of it.
	text string
	// read is the number of bytes that were read.
	read int
	cursor
	budget
}

// errSyntax: the text is not JSON.
var errSyntax = errors.New("not JSON")

// next moves to the next character that is not a space, and returns it, or 0 at the end.
func (p *jsonParser) next() byte {
	for ; p.read < len(p.text); p.read++ {
		switch c := p.text[p.read]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// fault is an error at the cursor's value or name.
func (p *jsonParser) fault(format string, args ...any) error {
	return &SyntaxError{Line: int(p.line) + 1, Column: int(p.column) + 1, format: "json", reason: fmt.Sprintf(format, args...)}
}

// where returns the error of text that is not JSON, with its position.
func (p *jsonParser) where(err error) error {
	if !errors.Is(err, errSyntax) {
		return err
	}
	var raw json.RawMessage
	p.cursor = cursor{text: p.data}
	syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(append(slices.Clip(p.data), 0), &raw)) // NUL is wrong everywhere
	if !ok || int(syntax.Offset) > len(p.data) {
		p.to(len(p.data))
		return p.fault("the document is cut off after %d bytes", len(p.data))
	}
	p.to(int(syntax.Offset) - 1) // it counts the wrong byte
	return p.fault("%s", syntax)
}

func (p *jsonParser) value(depth int) (n Node, err error) {
	first := p.next()
	line, column := p.to(p.read)
	switch first {
	case '{':
		n, err = p.object(depth)
	case '[':
		n, err = p.list(depth)
	default:
		if n, err = p.single(first); err == nil {
			err = p.spend(depth)
		}
	}
	n.Line, n.Column = line, column
	return n, err
}

// single parses a scalar value.
func (p *jsonParser) single(first byte) (Node, error) {
	switch first {
	case '"':
		text, err := p.quoted()
		return Node{Kind: String, Text: text}, err
	case 't':
		return Node{Kind: Bool, Text: "true"}, p.word("true")
	case 'f':
		return Node{Kind: Bool, Text: "false"}, p.word("false")
	case 'n':
		return Node{Kind: Null}, p.word("null")
	}
	end := p.read
	for end < len(p.text) && strings.IndexByte("+-.eE0123456789", p.text[end]) >= 0 {
		end++
	}
	number := p.text[p.read:end]
	if !isJSONNumber(number) {
		return Node{}, errSyntax
	}
	p.read = end
	return Node{Kind: Number, Text: number}, nil
}

func (p *jsonParser) word(word string) error {
	if !strings.HasPrefix(p.text[p.read:], word) {
		return errSyntax
	}
	p.read += len(word)
	return nil
}

// quoted parses a string in quotes.
func (p *jsonParser) quoted() (string, error) {
	start, escaped := p.read, false
	for i := start + 1; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '"':
			p.read = i + 1
			if !escaped {
				return p.text[start+1 : i], nil
			}
			var text string
			if json.Unmarshal(p.data[start:p.read], &text) != nil {
				return "", errSyntax
			}
			return text, nil
		case c == '\\':
			escaped = true
			i++ // the next character may be a quote
		case c < ' ':
			return "", errSyntax
		}
	}
	return "", errSyntax
}

// list parses a list, at its bracket.
func (p *jsonParser) list(depth int) (Node, error) {
	n := Node{Kind: List}
	if err := p.spend(depth); err != nil {
		return n, err
	}
	p.read++
	for p.next() != ']' || len(n.Items) > 0 {
		item, err := p.value(depth + 1)
		if err != nil {
			return n, err
		}
		n.Items = append(n.Items, item)
		if end, err := p.ends(']'); end || err != nil {
			return n, err
		}
	}
	p.read++
	return n, nil
}

// ends parses the text after an entry: a comma, or the closing bracket.
func (p *jsonParser) ends(bracket byte) (bool, error) {
	c := p.next()
	if c != bracket && c != ',' {
		return false, errSyntax
	}
	p.read++
	return c == bracket, nil
}

// object parses a map, at its bracket.
func (p *jsonParser) object(depth int) (Node, error) {
	n := Node{Kind: Map}
	if err := p.spend(depth); err != nil {
		return n, err
	}
	p.read++
	seen := make(map[string]bool)
	for p.next() != '}' || len(n.Fields) > 0 {
		name, err := p.name()
		if err != nil {
			return n, err
		}
		if seen[name] {
			return n, p.fault("duplicate field %q", name)
		}
		seen[name] = true
		if p.next() != ':' {
			return n, errSyntax
		}
		p.read++
		value, err := p.value(depth + 1)
		if err != nil {
			return n, err
		}
		n.Fields = append(n.Fields, Field{name, value})
		if end, err := p.ends('}'); end || err != nil {
			return n, err
		}
	}
	p.read++
	return n, nil
}

// name parses a field's name, at the cursor.
func (p *jsonParser) name() (string, error) {
	if p.next() != '"' {
		return "", errSyntax
	}
	p.to(p.read)
	return p.quoted()
}

// AppendString appends s as a JSON string. It escapes only what JSON requires, so that the bytes do not depend on a
// library's choice.
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
		}
	}
	return append(append(dst, s[start:]...), '"')
}

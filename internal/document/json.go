package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parseJSON reads exactly one JSON value. Duplicate names are refused: which of the two was meant
// cannot be known, and readers of the same bytes would differ.
func parseJSON(data []byte) (*Node, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("document is not UTF-8")
	}
	p := jsonParser{dec: json.NewDecoder(bytes.NewReader(data)), cursor: cursor{text: data}}
	p.dec.UseNumber()
	n, err := p.value(0)
	if err != nil {
		return nil, p.where(err)
	}
	p.next()
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, p.fault("there is text after the document's closing brace")
	}
	return &n, nil
}

type jsonParser struct {
	dec *json.Decoder
	cursor
	budget
}

// next returns where the next value or name begins.
func (p *jsonParser) next() (line, column int32) {
	offset := int(p.dec.InputOffset())
	for offset < len(p.text) && strings.IndexByte(" \t\r\n,:", p.text[offset]) >= 0 {
		offset++
	}
	return p.to(offset)
}

// fault is an error at the value or name that was read last, or is next.
func (p *jsonParser) fault(format string, args ...any) error {
	return &SyntaxError{Line: int(p.line) + 1, Column: int(p.column) + 1, format: "json", reason: fmt.Sprintf(format, args...)}
}

// where adds the place to the decoder's error. Its own offset does not count what was read as tokens, so
// the whole text is asked again.
func (p *jsonParser) where(err error) error {
	var syntax *json.SyntaxError
	var raw json.RawMessage
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		p.to(len(p.text))
		return p.fault("the document is cut off after %d bytes", len(p.text))
	case !errors.As(err, &syntax):
		return err
	case errors.As(json.Unmarshal(p.text, &raw), &syntax):
		whole := cursor{text: p.text}
		whole.to(int(syntax.Offset) - 1) // it counts the byte that is wrong
		p.cursor = whole
	}
	return p.fault("%s", syntax)
}

func (p *jsonParser) value(depth int) (Node, error) {
	line, column := p.next()
	tok, err := p.dec.Token()
	if err != nil {
		return Node{}, err
	}
	n, err := p.from(tok, depth)
	n.Line, n.Column = line, column
	return n, err
}

func (p *jsonParser) from(tok json.Token, depth int) (Node, error) {
	if err := p.spend(depth); err != nil {
		return Node{}, err
	}
	switch t := tok.(type) {
	case nil:
		return Node{Kind: Null}, nil
	case bool:
		return Node{Kind: Bool, Text: strconv.FormatBool(t)}, nil
	case json.Number:
		return Node{Kind: Number, Text: t.String()}, nil
	case string:
		return Node{Kind: String, Text: t}, nil
	case json.Delim:
		if t == '[' {
			return p.list(depth)
		}
		return p.object(depth)
	}
	return Node{}, fmt.Errorf("unexpected token %T", tok)
}

func (p *jsonParser) list(depth int) (Node, error) {
	n := Node{Kind: List}
	for p.dec.More() {
		item, err := p.value(depth + 1)
		if err != nil {
			return n, err
		}
		n.Items = append(n.Items, item)
	}
	_, err := p.dec.Token()
	return n, err
}

func (p *jsonParser) object(depth int) (Node, error) {
	n := Node{Kind: Map}
	seen := make(map[string]bool)
	for p.dec.More() {
		p.next()
		tok, err := p.dec.Token()
		if err != nil {
			return n, err
		}
		name := tok.(string) // the decoder accepts nothing else before a colon
		if seen[name] {
			return n, p.fault("duplicate field %q", name)
		}
		seen[name] = true
		value, err := p.value(depth + 1)
		if err != nil {
			return n, err
		}
		n.Fields = append(n.Fields, Field{name, value})
	}
	_, err := p.dec.Token()
	return n, err
}

// AppendString appends s as a JSON string, escaping only what JSON requires, so that the bytes do
// not depend on a library's taste.
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

package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// parseJSON reads exactly one JSON value. Duplicate names are refused: which of the two was meant
// cannot be known, and readers of the same bytes would differ.
func parseJSON(data []byte) (*Node, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("document is not UTF-8")
	}
	p := jsonParser{dec: json.NewDecoder(bytes.NewReader(data)), data: data}
	p.dec.UseNumber()
	n, err := p.value(0)
	if err != nil {
		return nil, p.where(err)
	}
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, p.where(errors.New("something follows the document's closing brace"))
	}
	return &n, nil
}

type jsonParser struct {
	dec  *json.Decoder
	data []byte
	budget
}

// where adds line and column to an error: those of the value or sign that could not be read. (The
// offset in a json.SyntaxError does not count what was read as tokens.)
func (p *jsonParser) where(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("json ends early, after %d bytes: the document is truncated", len(p.data))
	}
	before := p.data[:p.dec.InputOffset()]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("json, line %d column %d: %w", line, column, err)
}

func (p *jsonParser) value(depth int) (Node, error) {
	tok, err := p.dec.Token()
	if err != nil {
		return Node{}, err
	}
	return p.from(tok, depth)
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
		tok, err := p.dec.Token()
		if err != nil {
			return n, err
		}
		name := tok.(string) // the decoder accepts nothing else before a colon
		if seen[name] {
			return n, fmt.Errorf("duplicate field %q", name)
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

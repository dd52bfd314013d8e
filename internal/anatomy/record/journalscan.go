package record

import (
	"bytes"
	"encoding/json"
	"errors"
)

// scanObject calls set for each member of a flat JSON object whose value is a text, with the value's bytes. A value that is an array
// of numbers is a text with other bytes than UTF-8 (journalctl(1), -o json). It calls set for the first of several values of one
// field, and not for null.
//
// encoding/json takes five times as long for a journal, which is most of a boot's documents: BenchmarkScanObject.
func scanObject(line []byte, set func(name string, value []byte)) error {
	p := scanner{rest: bytes.TrimSpace(line)}
	if !p.take('{') {
		return errNotObject
	}
	for first := true; ; first = false {
		if p.take('}') {
			if len(p.rest) > 0 {
				return errors.New("text follows the JSON object")
			}
			return nil
		}
		if !first && !p.take(',') {
			return errNotObject
		}
		name, ok := p.text()
		if !ok || !p.take(':') {
			return errNotObject
		}
		value, isText, ok := p.value()
		if !ok {
			return errNotObject
		}
		if isText {
			set(string(name), value)
		}
	}
}

// scanner reads a JSON text from its beginning.
type scanner struct{ rest []byte }

// take passes over a character, and the white space around it, and reports whether it was there.
func (p *scanner) take(c byte) bool {
	p.space()
	if len(p.rest) == 0 || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	p.space()
	return true
}

func (p *scanner) space() {
	for len(p.rest) > 0 && (p.rest[0] == ' ' || p.rest[0] == '\t') {
		p.rest = p.rest[1:]
	}
}

// text reads a JSON string. It copies only a string with an escape.
func (p *scanner) text() ([]byte, bool) {
	if len(p.rest) == 0 || p.rest[0] != '"' {
		return nil, false
	}
	escaped := false
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '\\':
			escaped = true
			i++
		case c == '"':
			quoted := p.rest[:i+1]
			p.rest = p.rest[i+1:]
			if !escaped {
				return quoted[1:i], true
			}
			var text string
			if json.Unmarshal(quoted, &text) != nil {
				return nil, false
			}
			return []byte(text), true
		case c < ' ':
			return nil, false
		}
	}
	return nil, false
}

// value reads a value, and reports whether it is a text.
func (p *scanner) value() (value []byte, isText, ok bool) {
	if len(p.rest) == 0 {
		return nil, false, false
	}
	switch p.rest[0] {
	case '"':
		value, ok = p.text()
		return value, true, ok
	case '[':
		end := bytes.IndexByte(p.rest, ']')
		if end < 0 {
			return nil, false, false
		}
		var numbers []byte
		var several []string
		list := p.rest[:end+1]
		switch {
		case json.Unmarshal(list, &several) == nil && len(several) > 0:
			p.rest = p.rest[end+1:]
			return []byte(several[0]), true, true
		case bytesOf(list, &numbers):
			p.rest = p.rest[end+1:]
			return numbers, true, true
		}
		return p.other()
	case '{':
		return p.other()
	default:
		end := bytes.IndexAny(p.rest, ",}")
		if end <= 0 || !json.Valid(p.rest[:end]) {
			return nil, false, false
		}
		p.rest = p.rest[end:]
		return nil, false, true
	}
}

// other passes over a value that no field of a journal has.
func (p *scanner) other() (value []byte, isText, ok bool) {
	d := json.NewDecoder(bytes.NewReader(p.rest))
	var raw json.RawMessage
	if d.Decode(&raw) != nil {
		return nil, false, false
	}
	p.rest = p.rest[d.InputOffset():]
	return nil, false, true
}

// bytesOf converts an array of numbers from 0 to 255 to bytes.
func bytesOf(list []byte, to *[]byte) bool {
	var numbers []int
	if json.Unmarshal(list, &numbers) != nil {
		return false
	}
	*to = make([]byte, 0, len(numbers))
	for _, n := range numbers {
		if n < 0 || n > 255 {
			return false
		}
		*to = append(*to, byte(n))
	}
	return true
}

package record

import (
	"bytes"
	"encoding/json"
	"errors"
)

// rawText is a text of a JSON document, or bytes. If escaped, it is the part between the quotation marks.
type rawText struct {
	bytes   []byte
	escaped bool
}

// plain returns the text.
func (r rawText) plain() []byte {
	if !r.escaped {
		return r.bytes
	}
	var text string
	quoted := make([]byte, 0, len(r.bytes)+2)
	quoted = append(append(append(quoted, '"'), r.bytes...), '"')
	if json.Unmarshal(quoted, &text) != nil {
		return nil
	}
	return []byte(text)
}

// scanObject calls set for each member of a flat JSON object whose value is a text, with the value. A value that is an array of
// numbers is a text with other bytes than UTF-8 (journalctl(1), -o json). It calls set for the first of several values of one
// field, and not for null. It checks less than encoding/json: a text may have control characters.
//
// encoding/json takes seven times as long for a journal, which is most of a boot's documents.
func scanObject(line []byte, set func(name []byte, value rawText)) error {
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
			set(name.plain(), value)
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

// text reads a JSON string, without copying it.
func (p *scanner) text() (rawText, bool) {
	if len(p.rest) == 0 || p.rest[0] != '"' {
		return rawText{}, false
	}
	escaped := false
	for i := 1; ; {
		n := bytes.IndexByte(p.rest[i:], '"')
		if n < 0 {
			return rawText{}, false
		}
		end := i + n
		escapes := 0
		for end-escapes-1 >= i && p.rest[end-escapes-1] == '\\' {
			escapes++
		}
		escaped = escaped || bytes.IndexByte(p.rest[i:end], '\\') >= 0
		if escapes%2 == 0 {
			text := p.rest[1:end]
			p.rest = p.rest[end+1:]
			return rawText{text, escaped}, true
		}
		i = end + 1
	}
}

// value reads a value, and reports whether it is a text.
func (p *scanner) value() (value rawText, isText, ok bool) {
	if len(p.rest) == 0 {
		return rawText{}, false, false
	}
	switch p.rest[0] {
	case '"':
		value, ok = p.text()
		return value, true, ok
	case '[':
		end := bytes.IndexByte(p.rest, ']')
		if end < 0 {
			return rawText{}, false, false
		}
		var numbers []byte
		var several []string
		list := p.rest[:end+1]
		switch {
		case json.Unmarshal(list, &several) == nil && len(several) > 0:
			p.rest = p.rest[end+1:]
			return rawText{bytes: []byte(several[0])}, true, true
		case bytesOf(list, &numbers):
			p.rest = p.rest[end+1:]
			return rawText{bytes: numbers}, true, true
		}
		return p.other()
	case '{':
		return p.other()
	default:
		end := bytes.IndexAny(p.rest, ",}")
		if end <= 0 || !json.Valid(p.rest[:end]) {
			return rawText{}, false, false
		}
		p.rest = p.rest[end:]
		return rawText{}, false, true
	}
}

// other passes over a value that no field of a journal has.
func (p *scanner) other() (value rawText, isText, ok bool) {
	d := json.NewDecoder(bytes.NewReader(p.rest))
	var raw json.RawMessage
	if d.Decode(&raw) != nil {
		return rawText{}, false, false
	}
	p.rest = p.rest[d.InputOffset():]
	return rawText{}, false, true
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

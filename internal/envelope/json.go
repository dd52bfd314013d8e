package envelope

import (
	"bytes"
	"encoding/json"
	"errors"
)

// presence is set if a field exists, with any value.
type presence bool

// UnmarshalJSON sets it; the value is not decoded.
func (p *presence) UnmarshalJSON([]byte) error {
	*p = true
	return nil
}

// json opens a JSON object: an Ignition config, or a contract. It checks that the object is complete, because half a
// document could pass for another kind.
func (o *opener) json(l layer) error {
	content := trimmed(l.data)
	is, err := isIgnition(content)
	switch {
	case err != nil:
		return notJSON(&l, content, err)
	case is:
		return o.ignition(l, content)
	}
	o.found = append(o.found, l)
	return nil
}

// isIgnition reports whether a JSON object is an Ignition config.
func isIgnition(content []byte) (bool, error) {
	var top struct {
		// Ignition is a field of every Ignition config (specification 2.0 and later, "ignition").
		Ignition presence `json:"ignition"`
	}
	err := json.Unmarshal(content, &top)
	return bool(top.Ignition), err
}

// notJSON reports the position at which content is not JSON any more, without the content.
func notJSON(l *layer, content []byte, err error) error {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return l.broken("not valid JSON")
	}
	at := min(int(syntax.Offset), len(content))
	if at == len(content) {
		return l.broken("the JSON ends early, after %d bytes", at)
	}
	line := 1 + bytes.Count(content[:at], []byte("\n"))
	return l.broken("not valid JSON at line %d column %d", line, at-1-bytes.LastIndexByte(content[:at], '\n'))
}

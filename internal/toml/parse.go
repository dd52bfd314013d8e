package toml

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	burntsushi "github.com/BurntSushi/toml"
)

// The limits of a document. containerd's default configuration has 10 KiB, and nested tables to a depth of 8.
const (
	maxSize  = 64 << 10
	maxDepth = 32
)

// SyntaxError is where a text is not TOML, without the text.
type SyntaxError struct {
	// Line and Column are counted from 1, the column in characters.
	Line, Column int
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("is not TOML at line %d, column %d", e.Line, e.Column)
}

// Parse parses a document. Its keys are sorted, because TOML gives their order no meaning. If the text is not TOML, the
// error is a [SyntaxError]. No error repeats any part of the text, which may be a secret.
func Parse(text string) (*Table, error) {
	if len(text) > maxSize {
		return nil, fmt.Errorf("has %d bytes; use %d at most", len(text), maxSize)
	}
	if tooDeep(text) {
		return nil, errDeep
	}
	var values map[string]any
	if _, err := burntsushi.Decode(text, &values); err != nil {
		return nil, syntaxError(text, err)
	}
	return tableOf(values, 1)
}

// syntaxError is the position at which the parser stopped, without the parser's message.
func syntaxError(text string, err error) error {
	at, ok := errors.AsType[burntsushi.ParseError](err)
	if !ok {
		return errors.New("is not TOML")
	}
	before := text[:min(max(at.Position.Start, 0), len(text))]
	return &SyntaxError{
		Line:   1 + strings.Count(before, "\n"),
		Column: 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]),
	}
}

// tooDeep reports whether a list, a table or a dotted key in a text is nested deeper than the limit. It runs before the
// library, which takes minutes for some thousand names in one key.
func tooDeep(text string) bool {
	depth, names := 0, 1 // names are those of one key
	for len(text) > 0 {
		switch text[0] {
		case '"', '\'':
			text = afterString(text)
			continue
		case '#':
			_, text, _ = strings.Cut(text, "\n")
			names = 1
			continue
		case '.':
			names++
		case '[', '{':
			depth, names = depth+1, 1
		case ']', '}':
			depth, names = depth-1, 1
		case '\n', '=', ',':
			names = 1
		}
		if depth > maxDepth || names > maxDepth {
			return true
		}
		text = text[1:]
	}
	return false
}

// afterString returns the rest after the string at a text's beginning (TOML 1.0, "String"). An unterminated string on
// one line ends with its line.
func afterString(text string) string {
	quote, stop := text[:1], "\n"
	if strings.HasPrefix(text, strings.Repeat(quote, 3)) {
		quote, stop = strings.Repeat(quote, 3), ""
	}
	for text = text[len(quote):]; text != ""; text = text[1:] {
		switch {
		case strings.HasPrefix(text, quote):
			return text[len(quote):]
		case stop != "" && text[:1] == stop:
			return text
		case text[0] == '\\' && quote[0] == '"' && len(text) > 1:
			text = text[1:]
		}
	}
	return ""
}

var errDeep = fmt.Errorf("has tables and lists within each other to a depth of more than %d", maxDepth)

func tableOf(values map[string]any, depth int) (*Table, error) {
	if depth > maxDepth {
		return nil, errDeep
	}
	t := &Table{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		value, err := valueOf(values[key], depth)
		if err != nil {
			return nil, err
		}
		t.Set(value, key)
	}
	return t, nil
}

// valueOf converts a value for a table.
func valueOf(value any, depth int) (any, error) {
	switch v := value.(type) {
	case string, int64, float64, bool:
		return v, nil
	case map[string]any:
		return tableOf(v, depth+1)
	case []map[string]any:
		return listOf(v, depth+1)
	case []any:
		return listOf(v, depth+1)
	}
	return nil, errors.New("holds a date or a time, which no setting of containerd is")
}

func listOf[T any](items []T, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errDeep
	}
	list := make([]any, len(items))
	for i, item := range items {
		value, err := valueOf(item, depth)
		if err != nil {
			return nil, err
		}
		list[i] = value
	}
	return list, nil
}

package status

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// encode writes v as JSON, indented if indent is not empty, with < and > unescaped and a newline at
// the end.
func encode(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// maxEscape is the maximum number of JSON bytes for one byte of text.
const maxEscape = 6

// shorten returns how many bytes must at least be removed from a text for a document to lose excess
// bytes.
func shorten(excess int) int { return (excess + maxEscape - 1) / maxEscape }

// valid returns s with invalid UTF-8 replaced.
func valid(s string) string { return strings.ToValidUTF8(s, string(utf8.RuneError)) }

// head returns the first n bytes of s, or fewer to end with a whole rune.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// tail returns the last n bytes of s, or fewer to start with a whole rune.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	from := len(s) - max(n, 0)
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	return s[from:]
}

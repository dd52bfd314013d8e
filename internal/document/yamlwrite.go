package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// AppendYAML appends a map as YAML for people: a line for each value, two spaces for each level, quotes if a reader would take a
// string for another type. The fields are in the order of the tree.
func (n *Node) AppendYAML(dst []byte) []byte { return n.appendLines(dst, "", false) }

// appendLines appends the content of a map or list, a line for each entry. If begun, the first goes on the line that is already
// there.
func (n *Node) appendLines(dst []byte, indent string, begun bool) []byte {
	for i := range n.Fields {
		if !begun || i > 0 {
			dst = append(dst, indent...)
		}
		f := &n.Fields[i]
		dst = append(appendYAMLName(dst, f.Name, indent), ':')
		if f.Value.isOpen() {
			dst = f.Value.appendLines(append(dst, '\n'), indent+"  ", false)
		} else {
			dst = append(f.Value.appendInline(append(dst, ' ')), '\n')
		}
	}
	for i := range n.Items {
		if !begun || i > 0 {
			dst = append(dst, indent...)
		}
		dst = append(dst, "- "...)
		if item := &n.Items[i]; item.isOpen() {
			dst = item.appendLines(dst, indent+"  ", true)
		} else {
			dst = append(item.appendInline(dst), '\n')
		}
	}
	return dst
}

// longestName limits a name on a line with its value. (A parser looks for the colon within 1024 characters.)
const longestName = 128

// appendYAMLName appends the name of a field, without the colon.
func appendYAMLName(dst []byte, name, indent string) []byte {
	if len(name) <= longestName {
		return appendYAMLText(dst, name)
	}
	return append(append(appendYAMLText(append(dst, "? "...), name), '\n'), indent...)
}

// isOpen reports whether a value needs separate lines.
func (n *Node) isOpen() bool { return len(n.Fields)+len(n.Items) > 0 }

// appendInline appends a value on the line with its name.
func (n *Node) appendInline(dst []byte) []byte {
	switch n.Kind {
	case String:
		return appendYAMLText(dst, n.Text)
	case Number:
		return appendYAMLNumber(dst, n.Text)
	}
	return n.AppendJSON(dst) // it is YAML, too
}

// appendYAMLNumber appends a JSON number so that readers of YAML 1.1 also take it for a number: there a number with an exponent has
// a point and a sign of the exponent, and 1e-07 is a string (yaml.org/type/float.html).
func appendYAMLNumber(dst []byte, s string) []byte {
	i := strings.IndexAny(s, "eE")
	if i < 0 {
		return append(dst, s...)
	}
	dst = append(dst, s[:i]...)
	if !strings.Contains(s[:i], ".") {
		dst = append(dst, ".0"...)
	}
	dst = append(dst, 'e')
	if exponent := s[i+1:]; exponent[0] != '+' && exponent[0] != '-' {
		dst = append(dst, '+')
	}
	return append(dst, s[i+1:]...)
}

// appendYAMLText appends a string, in quotes if it needs them.
func appendYAMLText(dst []byte, s string) []byte {
	switch {
	case s == "" || !isASCIIText(s) || isOtherYAML(s):
		return appendYAMLQuoted(dst, s)
	case isPlainYAML(s):
		return append(dst, s...)
	}
	return append(append(append(dst, '\''), strings.ReplaceAll(s, "'", "''")...), '\'')
}

func isASCIIText(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// isPlainYAML reports whether a string needs no quotes if it is alone on a line (YAML 1.2, "Plain Style").
func isPlainYAML(s string) bool {
	last := s[len(s)-1]
	begins := strings.IndexByte(" ,[]{}#&*!|>'\"%@`", s[0]) < 0 && s != "=" && !strings.HasPrefix(s, "---") && !strings.HasPrefix(s, "...")
	if strings.IndexByte("-?:", s[0]) >= 0 {
		begins = begins && len(s) > 1 && s[1] != ' '
	}
	return begins && last != ' ' && last != ':' && !strings.Contains(s, ": ") && !strings.Contains(s, " #")
}

// otherYAML are words that readers of YAML 1.1 or 1.2 do not take for strings.
var otherYAML = []string{
	"~", "null", "true", "false", "y", "yes", "n", "no", "on", "off", "<<", ".nan", ".inf", "+.inf", "-.inf",
}

// isOtherYAML reports whether some YAML reader takes a string for another type: a word, a number in any notation, also in base 60,
// or a date.
func isOtherYAML(s string) bool {
	if slices.Contains(otherYAML, strings.ToLower(s)) {
		return true
	}
	if strings.IndexByte("0123456789+-.", s[0]) < 0 {
		return false
	}
	digits := strings.ReplaceAll(s, "_", "")
	unsigned := strings.TrimLeft(digits, "+-")
	for _, base := range []string{"0b", "0o"} { // behind it this module's YAML library accepts one more sign
		if rest, ok := strings.CutPrefix(digits, base); ok {
			unsigned = base + strings.TrimLeft(rest, "+-")
		}
	}
	_, whole := strconv.ParseInt(unsigned, 0, 64)
	_, float := strconv.ParseFloat(digits, 64)
	isDate := len(s) > 4 && s[4] == '-' && strings.Trim(s[:4], "0123456789") == ""
	return isNumeric(whole) || isNumeric(float) || isDate || isBase60(s)
}

// isBase60 reports whether a string is a number in base 60 (YAML 1.1, "Integer" and "Floating-Point").
func isBase60(s string) bool {
	first, rest, ok := strings.Cut(strings.TrimLeft(s, "+-"), ":")
	rest, _, _ = strings.Cut(rest, ".")
	for part := range strings.SplitSeq(rest, ":") {
		n, err := strconv.ParseUint(part, 10, 8)
		ok = ok && err == nil && n < 60
	}
	return ok && first != "" && strings.Trim(first, "0123456789_") == ""
}

// isNumeric reports whether an error of package strconv concerns a number, including one that is too large.
func isNumeric(err error) bool {
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// appendYAMLQuoted appends a text in double quotes (YAML 1.2, "Escaped Characters").
func appendYAMLQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r >= ' ' && r <= '~':
			dst = append(dst, byte(r))
		default:
			dst = fmt.Appendf(dst, `\U%08X`, r)
		}
	}
	return append(dst, '"')
}

// Of returns the tree of a value as [Node.Any] returns it, with the fields of maps in the order of their names.
func Of(data any) Node {
	switch data := data.(type) {
	case nil:
		return Node{Kind: Null}
	case bool:
		return Node{Kind: Bool, Text: strconv.FormatBool(data)}
	case json.Number:
		return Node{Kind: Number, Text: data.String()}
	case string:
		return Node{Kind: String, Text: data}
	case []any:
		n := Node{Kind: List}
		for _, item := range data {
			n.Items = append(n.Items, Of(item))
		}
		return n
	case map[string]any:
		n := Node{Kind: Map}
		for _, name := range slices.Sorted(maps.Keys(data)) {
			n.Fields = append(n.Fields, Field{name, Of(data[name])})
		}
		return n
	}
	return Of(asDecoded(data))
}

// asDecoded converts data that was made in Go to the types of decoded data.
func asDecoded(data any) (out any) {
	text, err := json.Marshal(data)
	if err != nil {
		panic(fmt.Sprintf("document: a %T is no part of a document: %v", data, err))
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&out); err != nil {
		panic(fmt.Sprintf("document: a %T is no part of a document: %v", data, err))
	}
	return out
}

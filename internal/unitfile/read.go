package unitfile

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/document"
)

// Setting is one assignment of a unit file.
type Setting struct {
	Section, Key, Value string
	// Line is the number of its first line, from 1.
	Line int
}

// reading is what systemd reads of a file, and what it refuses or ignores.
type reading struct {
	settings []Setting
	faults   []Fault
	// stops reports that systemd does not read the file to its end.
	stops bool
}

// maxLine is the longest line that systemd reads (src/basic/fileio.h, LONG_LINE_MAX).
const maxLine = 1 << 20

const blanks = " \t\n\r"

// Settings returns the assignments of a unit file in their order, in any section. It skips what systemd would not read.
func Settings(content string) []Setting { return read(content, nil).settings }

// Values are the values of one setting, in order.
func Values(content, section, key string) []string {
	var values []string
	for _, s := range Settings(content) {
		if s.Section == section && s.Key == key {
			values = append(values, s.Value)
		}
	}
	return values
}

// read reads a file as systemd does (systemd 252, src/shared/conf-parser.c: config_parse, parse_line). If sections is
// not nil, settings of other sections are skipped.
func read(content string, sections []string) *reading {
	r := &reading{}
	section, ignored, open := "", false, ""
	first, number := 0, 0
	for line := range strings.Lines(strings.TrimPrefix(content, "\ufeff")) {
		number++
		line = strings.TrimLeft(strings.TrimRight(line, "\r\n"), blanks)
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue // also between continued lines
		}
		if open == "" {
			first = number
		}
		if open += line; len(open) > maxLine {
			r.fault(first, true, "is longer than systemd reads")
			return r
		}
		if continues(open) {
			open = open[:len(open)-1] + " "
			continue
		}
		r.line(strings.Trim(open, blanks), first, sections, &section, &ignored)
		if open = ""; r.stops {
			return r
		}
	}
	r.line(strings.Trim(open, blanks), first, sections, &section, &ignored)
	return r
}

// continues reports whether a line ends in an unescaped backslash.
func continues(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

func (r *reading) fault(line int, stops bool, reason string) {
	r.stops = r.stops || stops
	r.faults = append(r.faults, Fault{Line: line, Refused: stops, Reason: reason})
}

// line reads a whole line.
func (r *reading) line(line string, number int, sections []string, section *string, ignored *bool) {
	switch {
	case line == "":
	case !utf8.ValidString(line):
		r.fault(number, true, "is not UTF-8")
	case line[0] == '[':
		name := strings.TrimSuffix(line[1:], "]")
		if name == line[1:] || !isSafe(name) {
			r.fault(number, true, "is not the head of a section, such as [Service]")
			return
		}
		*section, *ignored = name, false
		if sections != nil && !has(sections, name) {
			if !strings.HasPrefix(name, "X-") {
				r.fault(number, false, "begins a section that systemd does not know in this kind of unit and ignores"+document.Suggestion(name, sections))
			}
			*section, *ignored = "", true
		}
	default:
		key, value, isSetting := strings.Cut(line, "=")
		key = strings.Trim(key, blanks)
		switch {
		case *section == "" && !*ignored:
			r.fault(number, false, "is in no section, and systemd ignores it")
		case *section == "":
		case !isSetting, key == "":
			r.fault(number, false, "is no setting such as After=a.service, and systemd ignores it")
		default:
			r.settings = append(r.settings, Setting{*section, key, strings.Trim(value, blanks), number})
		}
	}
}

func has(list []string, name string) bool {
	for _, item := range list {
		if item == name {
			return true
		}
	}
	return false
}

// isSafe reports whether a name has neither quotes nor backslashes nor control characters (src/basic/string-util.c, string_is_safe).
func isSafe(name string) bool {
	return !strings.ContainsAny(name, `"'\`) && strings.IndexFunc(name, unicode.IsControl) < 0
}

// word is one word of a setting's value, without its quotes.
type word struct {
	text string
	// open reports that a quote is not closed.
	open bool
	// unknown is the first unknown escape, which systemd leaves unchanged.
	unknown string
}

// nextWord returns the first word of a value (src/basic/extract-word.c: EXTRACT_UNQUOTE, EXTRACT_CUNESCAPE). ok is
// false at the end.
func nextWord(value string) (w word, rest string, ok bool) {
	value = strings.TrimLeft(value, blanks)
	if value == "" {
		return w, "", false
	}
	var text strings.Builder
	quote := byte(0)
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '\\':
			of, n := unescape(value[i+1:])
			if n == 0 {
				of, n = value[i:min(i+2, len(value))], min(1, len(value)-i-1)
				if w.unknown == "" && n > 0 {
					w.unknown = of
				}
			}
			text.WriteString(of)
			i += n
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			text.WriteByte(c)
		case c == '"' || c == '\'':
			quote = c
		case strings.IndexByte(blanks, c) >= 0:
			w.text = text.String()
			return w, strings.TrimLeft(value[i:], blanks), true
		default:
			text.WriteByte(c)
		}
	}
	w.text, w.open = text.String(), quote != 0
	return w, "", true
}

// plainEscapes are the single-character escapes (src/basic/escape.c, cunescape_one).
const plainEscapes, plainTexts = `abfnrtv\"'s`, "\a\b\f\n\r\t\v\\\"' "

// unescape returns an escape's text, and its length without the backslash. The length is 0 for an unknown escape.
func unescape(s string) (text string, length int) {
	if s == "" {
		return "", 0
	}
	if i := strings.IndexByte(plainEscapes, s[0]); i >= 0 {
		return plainTexts[i : i+1], 1
	}
	base, digits, from := rune(16), map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]], 1
	if digits == 0 {
		base, digits, from = 8, 3, 0
	}
	if len(s) < from+digits {
		return "", 0
	}
	value := rune(0)
	for i := from; i < from+digits; i++ {
		d := strings.IndexByte("0123456789abcdef", s[i]|0x20)
		if s[i] < '0' || d < 0 || rune(d) >= base || value > unicode.MaxRune {
			return "", 0
		}
		value = value*base + rune(d)
	}
	switch {
	case value == 0, value > unicode.MaxRune, digits != 2 && digits != 3 && !utf8.ValidRune(value), digits == 3 && value > 255:
		return "", 0
	case digits <= 3:
		return string([]byte{byte(value)}), from + digits
	}
	return string(value), from + digits
}

// expand replaces the specifiers of a system unit in a value (systemd.unit(5), "Specifiers"). A value that only the
// machine knows becomes a letter. A percent sign before another character stays (src/shared/specifier.c).
func expand(unit, value string) string {
	if !strings.Contains(value, "%") {
		return value
	}
	kind := path.Ext(unit)
	whole := strings.TrimSuffix(unit, kind)
	prefix, instance, _ := strings.Cut(whole, "@")
	last := prefix[strings.LastIndexByte(prefix, '-')+1:]
	of := map[byte]string{
		'%': "%", 'n': unit, 'N': whole, 'p': prefix, 'P': unitText(prefix), 'i': instance, 'I': unitText(instance), 'j': last, 'J': unitText(last),
		'f': "/" + strings.TrimPrefix(unitText(orElse(instance, prefix)), "/"), 't': "/run", 'S': "/var/lib", 'C': "/var/cache", 'L': "/var/log", 'E': "/etc",
		'T': "/tmp", 'V': "/var/tmp", 'h': "/root", 's': "/x", 'u': "root", 'U': "0", 'g': "root", 'G': "0", 'd': "/run/credentials/" + unit, 'y': "/" + unit, 'Y': "/",
	}
	for _, known := range "abmvHlqowBWAMcrR" {
		of[byte(known)] = "x"
	}
	var text strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] == '%' && i+1 < len(value) {
			if known, ok := of[value[i+1]]; ok {
				text.WriteString(known)
				i++
				continue
			}
		}
		text.WriteByte(value[i])
	}
	return text.String()
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// unitText unescapes a part of a unit's name: a dash is a slash (systemd.unit(5), systemd-escape(1)).
func unitText(name string) string {
	var text strings.Builder
	for i := 0; i < len(name); i++ {
		switch of, n := "", 0; {
		case name[i] == '-':
			text.WriteByte('/')
		case name[i] == '\\' && strings.HasPrefix(name[i+1:], "x"):
			if of, n = unescape(name[i+1:]); n == 0 {
				of = `\`
			}
			text.WriteString(of)
			i += n
		default:
			text.WriteByte(name[i])
		}
	}
	return text.String()
}

// PathName is systemd's unit name for a path, without its type suffix (src/basic/unit-name.c, unit_name_path_escape).
func PathName(name string) string {
	name = strings.Trim(path.Clean(name), "/")
	if name == "" {
		return "-"
	}
	const hex = "0123456789abcdef"
	var text strings.Builder
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '/':
			text.WriteByte('-')
		case c == '.' && i == 0, !isNameByte(c):
			text.WriteString(`\x` + string(hex[c>>4]) + string(hex[c&15]))
		default:
			text.WriteByte(c)
		}
	}
	return text.String()
}

func isNameByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte(":_.", c) >= 0
}

// isPathName reports whether a name is a path's.
func isPathName(name string) bool {
	return name == "-" || PathName(unitText(name)) == name
}

package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// MinKnown is the length of the shortest secret that is searched for. A shorter one would replace parts of words
	// everywhere.
	MinKnown = 6
	// minLine is the length of the shortest line of a longer secret that is searched for by itself, as a log shows it.
	minLine = 16
	// minPart is the length of the shortest secret that is a part of another one: a name is often as short.
	minPart = 8
)

// Known are secrets by their values.
type Known struct {
	matcher *matcher
	// numbers are those of the secrets, by value.
	numbers map[string]int
	short   int
}

// NewKnown returns an empty set.
func NewKnown() *Known {
	return &Known{matcher: newMatcher(MinKnown, false), numbers: make(map[string]int)}
}

// Len is the number of different secrets that are searched for, and Short the number of those that are too short for that.
func (k *Known) Len() int   { return len(k.numbers) }
func (k *Known) Short() int { return k.short }

// Add adds a secret, in every encoding, and the secrets that are a part of it: a password in a URL, a key in a kubeconfig.
func (k *Known) Add(value string) {
	value = strings.Trim(value, " \t\r\n")
	if _, has := k.numbers[value]; has || value == "" {
		return
	}
	if len(value) < MinKnown {
		k.short++
		return
	}
	number := len(k.numbers) + 1
	k.numbers[value] = number
	for _, form := range encodings(value) {
		if len(form) >= MinKnown {
			k.matcher.add(form, number)
		}
	}
	k.addParts(value)
}

// Placeholder is what replaces a secret of the set.
func (k *Known) Placeholder(value string) string {
	if number, has := k.numbers[strings.Trim(value, " \t\r\n")]; has {
		return placeholder(number)
	}
	return "<secret>" // one that is too short
}

// Learn adds the secrets in a text that are recognized by their form.
func (k *Known) Learn(text []byte) {
	all, _ := byForm(text, true)
	for _, found := range join(all) {
		if part := text[found.start:found.end]; len(part) >= minPart && part[0] != '/' {
			k.Add(string(part))
		}
	}
}

// addParts adds what a secret contains.
func (k *Known) addParts(value string) {
	if lines := strings.Split(value, "\n"); len(lines) > 1 {
		for _, line := range lines {
			if line = strings.TrimSpace(line); len(line) >= minLine && !strings.HasPrefix(line, "-----") {
				k.part(line)
			}
		}
	}
	k.Learn([]byte(value))
	// A user with a password, or a header.
	if _, after, ok := strings.Cut(value, ":"); ok && !strings.Contains(value, "\n") && !strings.HasPrefix(after, "//") {
		after = strings.TrimSpace(after)
		k.part(after)
		k.part(after[strings.LastIndexByte(after, ' ')+1:])
	}
	if plain, err := strconv.Unquote(`"` + value + `"`); err == nil && plain != value {
		k.part(plain)
	}
	if plain, err := url.PathUnescape(value); err == nil && plain != value {
		k.part(plain)
	}
	if plain, err := base64.StdEncoding.DecodeString(value); err == nil && len(plain) >= minPart && utf8.Valid(plain) {
		k.part(string(plain))
	}
}

// part adds a part of a secret.
func (k *Known) part(value string) {
	if len(value) >= minPart {
		k.Add(value)
	}
}

// encodings are the texts that show a secret.
func encodings(value string) []string {
	quoted := quote(value)
	ascii := strconv.QuoteToASCII(value)
	forms := []string{
		value,
		quoted, quote(quoted), unescaped(value), unescaped(unescaped(value)), ascii[1 : len(ascii)-1], strings.ReplaceAll(value, "/", `\/`),
		url.QueryEscape(value), url.PathEscape(value), lowerEscapes(url.QueryEscape(value)), percentEncode(value),
		strings.ReplaceAll(value, "%", "%%"), // systemd.unit(5), "Specifiers"
		hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value))),
	}
	for _, plain := range []string{value, quoted, unescaped(value), base64.StdEncoding.EncodeToString([]byte(value))} {
		forms = append(forms, inBase64(plain)...)
	}
	return forms
}

// quote is a text within a JSON string, as Go writes it, and unescaped is one without Go's escapes for HTML.
func quote(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted[1 : len(quoted)-1])
}

var withoutHTML = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

func unescaped(text string) string { return withoutHTML.Replace(quote(text)) }

// percentEncode encodes everything but letters, digits and "-._~", as most programs do (RFC 3986, 2.3).
func percentEncode(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}

// lowerEscapes writes the escapes of a URL in lower case.
func lowerEscapes(text string) string {
	escaped := []byte(text)
	for i := 0; i+2 < len(escaped); i++ {
		if escaped[i] == '%' {
			copy(escaped[i+1:], strings.ToLower(text[i+1:i+3]))
		}
	}
	return string(escaped)
}

// inBase64 are the texts that are in the base64 form of any data with a text in it: the text can begin at each of three
// positions of a group. Characters that also depend on the data around the text are left out.
func inBase64(text string) []string {
	var forms []string
	for offset := range 3 {
		data := append(make([]byte, offset), text...)
		first, last := (offset*8+5)/6, len(data)*8/6
		for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			forms = append(forms, alphabet.EncodeToString(data)[first:last])
		}
	}
	return forms
}

package document_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/document"
)

// words are strings that YAML reads as another type, or not as one string, and common ones.
var words = []string{
	"", " ", "a", "two words", " a", "a ", "a: b", "a:b", "a:", ":a", "a #b", "a#b", "#a", "-", "-a", "- a", "--", "---", "--- a", "...", "...a", "?", "? a", "?a", ":", ": a",
	"&a", "*a", "!a", "!!str", "|", ">", "%a", "@a", "`a", "\"", "'", "a'b", "''", "\"a\"", "\\", "\\n", "{a}", "[a]", "{", "}", "[", "]", ",", "a,b", "<<", "=", "=a", "~", "~a",
	"null", "Null", "NULL", "true", "True", "TRUE", "yes", "YES", "Yes", "on", "On", "n", "N", "y", "no", "off", "nul", "yes.", "1", "-1", "+1", "1.5", ".5", "5.", "1e3", "1.e3", "1E+3",
	"0x1f", "0X1F", "0o17", "017", "0b11", "-0b11", "0b-1", "-0b+1", "0o-7", "0x-f", "0-1", "1_000", "_1", "1__0", "0.1.2", "1.2.3", "10.0.0.1", "10.0.0.10:443", "1:30", "1:30:00", "190:20:30.15", "-1:30", "12e03", "1e400", "9" + strings.Repeat("0", 40),
	".inf", "-.inf", "+.inf", ".Inf", ".nan", ".NaN", ".", "..", "+", "+-1", "2001-01-01", "2001-1-1", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43", "20010101", "1999-", "12345-6",
	"abcdef.0123456789abcdef", "012345.0123456789012345", "07401b.f395accd246ae52d", "1e2345.0123456789012345", "0x1234.0123456789012345", "10m", "1d", "1h30m", "33333333-3333-3333-3333-333333333333",
	"https://api.example:6443", "*.azurecr.io", "/etc/kubernetes/azure.json", "--flag=value", "$HOME", "a\nb", "\n", "a\n", "\ta", "a\tb", "\r", "é", "🙂", "\x00", "\x7f", "\u0085", "\u2028", "\ufeff", "\ufffe", "\U0010ffff",
	strings.Repeat("word ", 100) + "x", strings.Repeat("x", 2000),
}

// isRead checks that a tree is read back unchanged, and a string also by YAML's own library.
func isRead(t *testing.T, data map[string]any) {
	t.Helper()
	tree := document.Of(data)
	text := tree.AppendYAML(nil)
	var got any
	if err := yaml.Unmarshal(text, &got); err != nil {
		t.Fatalf("%q: %v\n%s", data, err, text)
	}
	if want := plain(data); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q became\n%#v\nwant\n%#v", text, got, want)
	}
	again, err := document.Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if got, want := again.AppendJSON(nil), tree.AppendJSON(nil); !bytes.Equal(got, want) {
		t.Fatalf("%s became\n%s\nwant\n%s", text, got, want)
	}
}

// plain is data with the numbers that the library reads.
func plain(data any) any {
	switch data := data.(type) {
	case json.Number:
		if i, err := data.Int64(); err == nil {
			return int(i)
		}
		f, _ := data.Float64()
		return f
	case []any:
		out := make([]any, len(data))
		for i := range data {
			out[i] = plain(data[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any)
		for name := range data {
			out[name] = plain(data[name])
		}
		return out
	}
	return data
}

func TestYAMLIsRead(t *testing.T) {
	for _, word := range words {
		isRead(t, map[string]any{"a": word, "b": []any{word, []any{word, map[string]any{word: word, "z": []any{}}}}, "c": map[string]any{"d": word}})
		isRead(t, map[string]any{word: map[string]any{word: []any{}}})
	}
	isRead(t, map[string]any{
		"a": nil, "b": true, "c": false, "d": json.Number("1"), "e": json.Number("-2.5"), "f": []any{}, "g": map[string]any{}, "h": []any{nil, true, json.Number("3"), []any{}, map[string]any{}},
		"i": []any{[]any{[]any{"x"}, "y"}, map[string]any{"k": map[string]any{"l": []any{"m"}}, "n": "o"}},
	})
	const signs = "0123456789_:.+-eExXob aZ'\"#,[]{}&*!|>%@`~?=\\tn\n"
	random := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		var b strings.Builder
		for range random.IntN(8) {
			b.WriteByte(signs[random.IntN(len(signs))])
		}
		isRead(t, map[string]any{"a": b.String(), b.String(): []any{b.String()}})
	}
}

// quoted are ASCII words that are quoted here, and that the library writes without quotes.
var quoted = []string{"=", "1e400", "+-1", "1999-"}

// TestYAMLOfCommonWords: ASCII words are as the library writes them, without unnecessary quotes.
func TestYAMLOfCommonWords(t *testing.T) {
	for _, word := range words {
		var want bytes.Buffer
		enc := yaml.NewEncoder(&want)
		enc.SetIndent(2)
		if unusual := func(r rune) bool { return r < ' ' || r > '~' }; strings.ContainsFunc(word, unusual) || enc.Encode(map[string]any{"a": []any{word}, "b": map[string]any{"c": word}}) != nil {
			continue
		}
		tree := document.Of(map[string]any{"a": []any{word}, "b": map[string]any{"c": word}})
		if got := string(tree.AppendYAML(nil)); (got == want.String()) == slices.Contains(quoted, word) {
			t.Errorf("%q: got\n%swant\n%s", word, got, want.String())
		}
	}
}

func FuzzYAML(f *testing.F) {
	for _, word := range words {
		f.Add(word, word)
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		if utf8.ValidString(name) && utf8.ValidString(value) {
			isRead(t, map[string]any{name: value, "a": []any{value, map[string]any{name: []any{value}}}})
		}
	})
}

// TestYAMLNumbersAreNumbersToAllReaders: a JSON number with an exponent is also a float of YAML 1.1, with the same value.
func TestYAMLNumbersAreNumbersToAllReaders(t *testing.T) {
	float := regexp.MustCompile(`^[-+]?[0-9][0-9_]*\.[0-9.]*([eE][-+][0-9]+)?$`) // yaml.org/type/float.html
	whole := regexp.MustCompile(`^[-+]?(0|[1-9][0-9_]*)$`)                       // yaml.org/type/int.html
	for text, want := range map[string]string{
		"0": "0", "-12": "-12", "1.5": "1.5", "1e-07": "1.0e-07", "1E5": "1.0e+5", "-2.5e10": "-2.5e+10", "1e+21": "1.0e+21", "0e0": "0.0e+0", "12345e-400": "12345.0e-400",
	} {
		n := document.Of(map[string]any{"a": json.Number(text)})
		got := strings.TrimSpace(strings.TrimPrefix(string(n.AppendYAML(nil)), "a: "))
		if got != want || !float.MatchString(got) && !whole.MatchString(got) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		before, _ := strconv.ParseFloat(text, 64)
		if after, _ := strconv.ParseFloat(got, 64); before != after {
			t.Errorf("%s: %s is another number", text, got)
		}
	}
}

func TestOf(t *testing.T) {
	n := document.Of(map[string]any{"b": []string{"x"}, "a": 1, "c": 1.5, "d": map[string]string{"k": "v"}, "e": struct{ A int }{2}})
	if got, want := string(n.AppendJSON(nil)), `{"a":1,"b":["x"],"c":1.5,"d":{"k":"v"},"e":{"A":2}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, data := range []any{nil, true, "x", json.Number("1.50"), []any{"a", nil}, map[string]any{"b": "c"}} {
		if n := document.Of(data); !reflect.DeepEqual(n.Any(), data) {
			t.Errorf("%v became %v", data, n.Any())
		}
	}
}

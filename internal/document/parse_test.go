package document_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/test/detector"
)

// parseCase is a document and its canonical form, or a part of its error.
type parseCase struct{ name, in, want, err string }

func TestParseJSON(t *testing.T) {
	run(t, []parseCase{
		{"empty map", `{}`, `{}`, ""},
		{"every kind", `{"n":null,"b":true,"f":false,"i":1,"s":"x","l":[],"m":{}}`, `{"b":true,"f":false,"i":1,"l":[],"m":{},"n":null,"s":"x"}`, ""},
		{"space around", " \r\n\t{\"a\" : 1 } \n", `{"a":1}`, ""},
		{"byte order mark", "\xef\xbb\xbf{\"a\":1}", `{"a":1}`, ""},
		{"line ends of Windows", "{\r\n\"a\":\r\n1}\r\n", `{"a":1}`, ""},
		{"escapes", `{"a":"\u0041\n\/\ud83d\ude00"}`, "{\"a\":\"A\\n/\U0001F600\"}", ""},
		{"escaped NUL", `{"a":"\u0000"}`, `{"a":"\u0000"}`, ""},
		{"half of a surrogate pair", `{"a":"\ud83d"}`, "{\"a\":\"\ufffd\"}", ""},
		{"numbers stay as they are written", `{"a":[1.30,1e3,-0,1E+2,123456789012345678901234567890,1e400]}`, `{"a":[1.30,1e3,-0,1E+2,123456789012345678901234567890,1e400]}`, ""},
		{"a name that is empty", `{"":1}`, `{"":1}`, ""},

		{"nothing", "", "", "document is empty"},
		{"only space", " \n\t\r\n", "", "document is empty"},
		{"only a byte order mark", "\xef\xbb\xbf", "", "document is empty"},
		{"same name twice", `{"a":1,"a":2}`, "", `line 1 column 8: duplicate field "a"`},
		{"same name twice, once escaped", `{"a":1,"\u0061":2}`, "", `duplicate field "a"`},
		{"same name twice, below", `{"a":[{"b":1,"b":1}]}`, "", `duplicate field "b"`},
		{"two documents", `{} {}`, "", "there is text after the document's closing brace"},
		{"text after it", "{\"a\":1}\n}", "", "line 2 column 1: there is text after"},
		{"NUL after it", "{\"a\":1}\x00", "", "there is text after"},
		{"NUL within it", "{\"a\":\x001}", "", "line 1 column 6: invalid character"},
		{"not UTF-8", "{\"a\":\"\xff\"}", "", "document is not UTF-8"},
		{"no value", "{\n  \"a\": 1,\n  \"b\": x\n}", "", "line 3 column 8: invalid character 'x' looking for beginning of value"},
		{"no comma", "{\n  \"a\": \"x\"\n  \"b\": 1\n}", "", "line 3 column 3: invalid character '\"' after object key:value pair"},
		{"no colon", `{"a" 1}`, "", "line 1 column 6: invalid character '1' after object key"},
		{"no quotes", "{\n a: 1}", "", "line 2 column 2: invalid character 'a'"},
		{"literal misspelt", `{"a": tree}`, "", "line 1 column 9: invalid character 'e' in literal true"},
		{"line break in a string", "{\"a\": \"x\ny\"}", "", "line 1 column 9: invalid character '\\n' in string"},
		{"comma at the end of a map", `{"a":1,}`, "", "line 1 column 8: invalid character '}'"},
		{"comma at the end of a list", `{"a":[1,]}`, "", "line 1 column 9: invalid character ']'"},
		{"wrong bracket", `{"a":[1}`, "", "invalid character '}'"},
		{"name that is a number", `{1:2}`, "", "invalid character '1'"},
		{"name that is a list", `{[]:2}`, "", "invalid character '['"},
		{"comment", `{"a":1} // no`, "", "there is text after"},
		{"not a number of JSON", `{"a":NaN}`, "", "invalid character 'N'"},
		{"hexadecimal number", `{"a":0x1F}`, "", "invalid character 'x'"},
		{"leading zero", `{"a":017}`, "", "invalid character '1'"},
	})
}

func TestParseYAML(t *testing.T) {
	run(t, []parseCase{
		{"every kind", "n: ~\nb: true\nf: False\ni: 1\ns: x\nl: []\nm: {}\n", `{"b":true,"f":false,"i":1,"l":[],"m":{},"n":null,"s":"x"}`, ""},
		{"flow", "--- {\"a\": [1, {b: c}]}", `{"a":[1,{"b":"c"}]}`, ""},
		{"byte order mark", "\xef\xbb\xbfa: 1", `{"a":1}`, ""},
		{"line ends of Windows", "a: |\r\n  x\r\n  y\r\nb: 1\r\n", `{"a":"x\ny\n","b":1}`, ""},
		{"UTF-16 with its mark", "\xff\xfea\x00:\x00 \x001\x00", `{"a":1}`, ""},
		{"comments and a directive", "# one\n%YAML 1.1\n---\na: 1 # two\n...\n# three\n", `{"a":1}`, ""},
		{"a version keeps its zero", "a: 1.30", `{"a":1.30}`, ""},
		{"numbers of JSON stay as they are written", "a: [1e3, -0, 1E+2, 123456789012345678901234567890, 18446744073709551615, 1e400]", `{"a":[1e3,-0,1E+2,123456789012345678901234567890,18446744073709551615,1e400]}`, ""},
		{"numbers of YAML alone", "a: [0x1F, 0o17, 017, 08, 0b11, 1_000, +1, -0x10, 1., .5, +.5e1]", `{"a":[31,15,15,8,3,1000,1,-16,1,0.5,5]}`, ""},
		{"numbers in quotes", "a: ['1', \"1.30\", !!str 7]", `{"a":["1","1.30","7"]}`, ""},
		{"strings that look like something else", "a: [yes, on, 2001-01-01, 1.2.3, 12:30:45, 10%, 1e, '~', 'null']", `{"a":["yes","on","2001-01-01","1.2.3","12:30:45","10%","1e","~","null"]}`, ""},
		{"names that are no strings", "1: a\ntrue: b\n1.50: c\n", `{"1":"a","1.50":"c","true":"b"}`, ""},
		{"anchors", "a: &x {b: [1]}\nc: *x\n", `{"a":{"b":[1]},"c":{"b":[1]}}`, ""},
		{"folded and literal text", "a: >-\n  x\n  y\nb: |+\n  z\n\n", `{"a":"x y","b":"z\n\n"}`, ""},
		{"escapes", `a: "\0\x41\u00e9\n"`, `{"a":"\u0000Aé\n"}`, ""},
		{"a merge key in quotes is a name", "\"<<\": {a: 1}", `{"<<":{"a":1}}`, ""},
		{"tags of YAML", "a: [!!str true, !!int '7', !!bool 'true', !!null '', !!binary aGk=, !!timestamp 2001-01-01, ! x]", `{"a":["true",7,true,null,"aGk=","2001-01-01","x"]}`, ""},

		{"only comments", "# one\n# two\n", "", "document is empty"},
		{"only a marker", "---\n", "", "document is null, want a map at the top"},
		{"a list", "- a", "", "document is a list, want a map at the top"},
		{"a word", "a", "", "document is a string, want a map at the top"},
		{"same name twice", "a: 1\nb: 2\na: 3", "", `yaml, line 3 column 1: duplicate field "a"`},
		{"same name twice, once in quotes", "a: 1\n'a': 2", "", `duplicate field "a"`},
		{"same name twice, below", "a: [{b: 1, b: 1}]", "", `duplicate field "b"`},
		{"two documents", "a: 1\n---\nb: 2\n", "", "more than one document"},
		{"a separator at the end", "a: 1\n---\n", `{"a":1}`, ""},
		{"a third document", "a: 1\n---\n---\nb: 2\n", "", "more than one document"},
		{"text after it", "--- {a: 1} x", "", "yaml, line 1 column 12: did not find expected <document start>"},
		{"merge key", "x: &x {a: 1}\nb:\n  <<: *x\n", "", "yaml, line 3 column 3: a field's name must be plain text; merge keys are not supported"},
		{"name that is a list", "? [a]\n: b", "", "a field's name must be plain text"},
		{"name that is a map", "? {a: b}\n: c", "", "a field's name must be plain text"},
		{"name that is an alias", "a: &x y\n*x : c", "", "a field's name must be plain text"},
		{"anchor that is nowhere", "a: *x", "", "put a text that begins with * in quotes"},
		{"tag of one's own", "a: 1\nb: !x y", "", "yaml, line 2 column 4: an unknown tag; put a text that begins with ! in quotes"},
		{"tag that does not fit", "a: !!bool x", "", "yaml, line 1 column 4: not a boolean"},
		{"integer that is too large", "a: 0xFFFFFFFFFFFFFFFF", "", "yaml, line 1 column 4: integer out of range"},
		{"infinity", "a: .inf", "", "yaml, line 1 column 4: a number that JSON cannot hold"},
		{"no number", "a: -.Inf\nb: .nan", "", "a number that JSON cannot hold"},
		{"half of a surrogate pair", `a: "\ud83d"`, "", "invalid Unicode character escape"},
		{"not UTF-8", "a: \xff", "", "invalid leading UTF-8 octet"},
		{"NUL", "a: x\x00y", "", "control characters are not allowed"},
		{"tab as indentation", "a:\n\tb: 1", "", "cannot start any token"},
		{"unclosed quotes", "a: 'x", "", "unexpected end of stream"},
		{"unclosed list", "a: [x", "", "did not find expected ',' or ']'"},
		{"two colons", "a: b: c", "", "mapping values are not allowed"},
		{"unknown version of YAML", "%YAML 2.0\n---\na: 1", "", "incompatible YAML document"},
	})
}

func run(t *testing.T, cases []parseCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			n, err := document.Parse([]byte(c.in))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("got error %v, want one with %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := string(n.AppendJSON(nil)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestParseTruncated cuts real documents at each byte. A truncated JSON document is never a
// document; a truncated YAML document may be one, but has nothing that the whole one does not have.
func TestParseTruncated(t *testing.T) {
	detector.Skip(t)
	t.Parallel()
	for _, name := range []string{"../../examples/aks/azure-cni.json", "../../examples/native/minimal.yaml", "testdata/same/order/anchors.yaml"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		whole := bytes.TrimSpace(data)
		for i := range whole {
			n, err := document.Parse(whole[:i])
			switch {
			case err == nil && whole[0] == '{':
				t.Fatalf("%s: the first %d bytes are taken for a document", name, i)
			case err == nil && n.Kind != document.Map:
				t.Fatalf("%s: the first %d bytes are %s", name, i, n.Kind)
			case err != nil && whole[0] == '{' && i > 0 && !strings.Contains(err.Error(), "the document is cut off"):
				t.Fatalf("%s: the first %d bytes: %v", name, i, err)
			}
		}
		if _, err := document.Parse(whole); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

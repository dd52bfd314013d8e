package document_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
)

// canary represents a secret. It is a word, so that it fits everywhere; number is a secret whose
// author forgot the quotes.
const (
	canary = "hunter2"
	number = "31415926"
)

// TestErrorsDoNotRepeatValues breaks documents around a secret, in every way that the parsers know.
func TestErrorsDoNotRepeatValues(t *testing.T) {
	for _, pattern := range []string{
		`{"a":"%s`, `{"a":"%s}`, `{"a":%s}`, `{"a":"x" "%s"}`, `{"a":"\u00zz%s"}`, `{"a":"%s"`, `{"a":"x"}%s`, `{"a":["%s"}`,
		"{\"a\":\"\n%s\"}", "{\"a\":\"%s\xff\"}", `%s`, `"%s"`, `["%s"]`, `- %s`,
		"a: *%s", "a: &x\nb: *%s", "a: !%s", "a: !%s x", "a: !x %s", "a: !!%s", "a: !<%s> x", "a: !x!%s y", "a: !!bool %s",
		"a: !!int %s", "a: !!float %s", "a: !!null '%s", "a: @%s", "a: `%s", "a: %%%s", "a: '%s", "a: \"%s", `a: "\q%s"`,
		"a: [%s", "a: {%s", "a: b: %s", "a: %s\n\tb", "a: |%s\n b", "a: >9\n%s", "a: %s\n b: c", "a: 1\n---\nb: %s", "a: 1\n%s",
		"a: %s\x00", "a: %s\xff", "%%%s x\n---\na: 1", "%%TAG %s\n---\na: 1", "<<: %s", "? [%s]\n: x", "? {%s: x}\n: x", "? *%s\n: x",
	} {
		doc := fmt.Sprintf(pattern, canary)
		if _, err := document.Parse([]byte(doc)); err != nil && strings.Contains(err.Error(), canary) {
			t.Errorf("%q: %v", doc, err)
		}
	}
}

// TestReportsDoNotRepeatValues puts a secret into every field, in every form. A report may show a
// number only if the field requires a number.
func TestReportsDoNotRepeatValues(t *testing.T) {
	wantNumbers := map[string]bool{"int": true, "int32": true, "int64": true, "float": true, "pint32": true}
	for _, field := range []string{
		"text", "named", "flag", "int", "int32", "int64", "float", "color", "upper", "any", "struct", "ptext", "pflag", "pint32",
		"pupper", "pstruct", "texts", "structs", "pointers", "map", "uppers", "items", "nested", "data", "unknown",
	} {
		for _, pattern := range []string{
			`"hunter2"`, `["hunter2"]`, `[["hunter2"]]`, `{"k":"hunter2"}`, `{"k":["hunter2"]}`, `{"name":["hunter2"],"size":"hunter2"}`,
			`31415926`, `[31415926]`, `{"k":31415926}`, `{"name":31415926}`, `31415926.5`,
		} {
			for _, report := range decode(t, fmt.Sprintf(`{%q:%s}`, field, pattern)).reports {
				if strings.Contains(report, canary) || strings.Contains(report, number) && !wantNumbers[field] {
					t.Errorf("%s: %s: %s", field, pattern, report)
				}
			}
		}
	}
}

package document_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
)

// TestLimits checks that both notations have the same limits: with the largest allowed document,
// and the smallest refused one.
func TestLimits(t *testing.T) {
	t.Parallel()
	nested := func(prefix string, depth int) string {
		return prefix + strings.Repeat("[", depth) + strings.Repeat("]", depth)
	}
	// The map and the list are values, too.
	values := func(begin string, n int, end string) string {
		return begin + strings.Repeat("0,", n-3) + "0" + end
	}
	padded := func(doc string, size int) string { return doc + strings.Repeat(" ", size-len(doc)) }
	cases := []struct {
		name, in string
		ok       bool
	}{
		{"JSON, largest", padded(`{"a":1}`, document.MaxBytes), true},
		{"JSON, too large", padded(`{"a":1}`, document.MaxBytes+1), false},
		{"YAML, largest", padded(`a: 1`, document.MaxBytes), true},
		{"YAML, too large", padded(`a: 1`, document.MaxBytes+1), false},
		{"JSON, deepest", nested(`{"a":`, document.MaxDepth) + "}", true},
		{"JSON, too deep", nested(`{"a":`, document.MaxDepth+1) + "}", false},
		{"YAML, deepest", nested(`a: `, document.MaxDepth), true},
		{"YAML, too deep", nested(`a: `, document.MaxDepth+1), false},
		{"JSON, never closed", `{"a":` + strings.Repeat("[", document.MaxBytes-5), false},
		{"JSON, most values", values(`{"a":[`, document.MaxNodes, `]}`), true},
		{"JSON, too many values", values(`{"a":[`, document.MaxNodes+1, `]}`), false},
		{"YAML, most values", values("a: [", document.MaxNodes, "]"), true},
		{"YAML, too many values", values("a: [", document.MaxNodes+1, "]"), false},
		{"list with an alias of itself", "a: &x [*x]", false},
		{"map with an alias of itself", "a: &x {b: *x}", false},
		{"aliases of each other", "a: &x [&y [*x, *y]]", false},
		{"aliases that double", doubling(40), false},
		{"aliases of a long text", longText("a: &x %s\nb: [", 9000), false},
		{"aliases of a long name", longText("a: &x\n  ? %s\n  : 1\nb: [", 9000), false},
		{"aliases of a long text, few", longText("a: &x %s\nb: [", 1), true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			n, err := document.Parse([]byte(c.in))
			if c.ok != (err == nil) || err != nil && !errors.Is(err, document.ErrTooLarge) {
				t.Fatalf("got error %v", err)
			}
			if err == nil && len(n.AppendJSON(nil)) > 2*document.MaxBytes {
				t.Error("the canonical form is larger than the document could be")
			}
		})
	}
}

// TestYAMLDepth: the YAML library has a separate limit, far above this one.
func TestYAMLDepth(t *testing.T) {
	for _, in := range []string{
		"a: " + strings.Repeat("[", 500_000),
		"a: " + strings.Repeat("{a: ", 200_000),
		strings.Repeat("- ", 500_000),
		strings.Repeat("? ", 500_000),
	} {
		if _, err := document.Parse([]byte(in)); err == nil {
			t.Errorf("%.10q...: no error", in)
		}
	}
}

// doubling is a document of n lines, each of which is twice as large as the one before.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 x\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	return b.String()
}

// longText is a document that begins with a text of almost half a megabyte, in a pattern, and
// repeats it n times.
func longText(pattern string, n int) string {
	return fmt.Sprintf(pattern, strings.Repeat("x", document.MaxBytes/2-1000)) + strings.Repeat("*x, ", n) + "]"
}

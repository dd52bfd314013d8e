package document_test

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/test/detector"
)

// heavy are the shapes of a document that take the most memory and time for their size. Each is repeated up to the limit of bytes,
// and up to the limit of signs.
var heavy = map[string]struct{ head, unit, tail string }{
	"comments":        {"", "- # c\n", ""},
	"only comments":   {"a: b\n", "# c\n", ""},
	"far comments":    {"a:\n", "- b\n\n# c\n\n", ""},
	"empty items":     {"", "-\n", ""},
	"one line":        {"", "- ", ""},
	"equal names":     {"", "a:\n", ""},
	"names":           {"a: {", "b,", "}"},
	"pairs":           {"a: [", "?,", "]"},
	"single pairs":    {"a: [", "b: c,", "]"},
	"questions":       {"", "? ", ""},
	"explicit names":  {"", "? a\n", ""},
	"flow":            {"a: [", "[],", "]"},
	"nested flow":     {"a: ", "[", ""},
	"flow maps":       {"a: [", "{},", "]"},
	"anchors":         {"a: [", "&b c,", "]"},
	"aliases":         {"a: &a [b]\nc: [", "*a,", "]"},
	"tags":            {"a: [", "!!str b,", "]"},
	"maps":            {"a:\n", "- a: b\n", ""},
	"words":           {"a:", " b", ""},
	"lines":           {"a:\n", " b\n", ""},
	"quotes":          {"a: [", `"b",`, "]"},
	"literal":         {"a: |\n", " b\n", ""},
	"folded":          {"a: >\n", " b\n\n", ""},
	"documents":       {"", "---\n", ""},
	"JSON":            {`{"a":[`, "0,", "0]}"},
	"JSON lists":      {`{"a":[`, "[],", "0]}"},
	"JSON maps":       {`{"a":[`, `{"":0},`, "0]}"},
	"JSON deep":       {`{"a":`, `[`, "0]}"},
	"colons":          {"a: [", "b:,", "]"},
	"dashes and maps": {"", "- ? - ", ""},
}

func shape(name string, bytes int) []byte {
	h := heavy[name]
	n := (bytes - len(h.head) - len(h.tail)) / len(h.unit)
	return []byte(h.head + strings.Repeat(h.unit, max(n, 0)) + h.tail)
}

// sizes are the tried sizes of a shape: the largest document, and those with the most signs and with half of them.
func sizes(name string) []int {
	unit := len(heavy[name].unit)
	return []int{document.MaxBytes, min(document.MaxSigns*unit, document.MaxBytes), min(document.MaxSigns/2*unit, document.MaxBytes)}
}

func BenchmarkParse(b *testing.B) {
	for name := range heavy {
		for _, size := range sizes(name) {
			data := shape(name, size)
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, _ = document.Parse(data)
				}
			})
		}
	}
}

// TestMemory: for every shape, a document of the largest size takes at most 32 MiB to read or to refuse.
func TestMemory(t *testing.T) {
	detector.Skip(t)
	const most = 32 << 20
	var before, after runtime.MemStats
	for name := range heavy {
		for _, size := range sizes(name) {
			data := shape(name, size)
			runtime.ReadMemStats(&before)
			_, err := document.Parse(data)
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > most {
				t.Errorf("%s of %d bytes took %d bytes of memory: %v", name, size, took, err)
			}
		}
	}
}

// TestDiffOfManyFields compares maps with the maximum number of fields: each is looked up once. It tests work, not time: with a
// search through all fields for each one, it would not end before the test's deadline.
func TestDiffOfManyFields(t *testing.T) {
	wide := func(value string) *document.Node {
		n := &document.Node{Kind: document.Map}
		for i := range 200_000 {
			n.Fields = append(n.Fields, document.Field{Name: "k" + strconv.Itoa(i), Value: document.Node{Kind: document.String, Text: value}})
		}
		return n
	}
	if got := document.Diff("$", wide("a"), wide("a")); len(got) != 0 {
		t.Errorf("%d changes between equal maps", len(got))
	}
	if got := document.Diff("$", wide("a"), wide("b")); len(got) != 200_000 {
		t.Errorf("%d changes", len(got))
	}
}

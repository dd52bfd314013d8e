package document_test

import (
	"bytes"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
)

func TestStream(t *testing.T) {
	for stream, want := range map[string][]string{
		"":                                nil,
		"# a comment\n---\n":              nil,
		"a: 1":                            {"a: 1"},
		"a: 1\n---\nb: 2\n":               {"a: 1\n", "\n\nb: 2\n"},
		"---\na: 1\n---  \n\n---\nb: 2\n": {"\na: 1\n", "\n\n\n\n\nb: 2\n"},
		"a: |\n  ---\n  x\r\n...\r\nb: 2": {"a: |\n  ---\n  x\r\n", "\n\n\n\nb: 2"},
	} {
		var got []string
		for _, part := range document.Stream([]byte(stream)) {
			got = append(got, string(part))
		}
		if len(got) != len(want) {
			t.Errorf("%q: %q", stream, got)
			continue
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%q: %q", stream, got)
			}
		}
	}
}

// FuzzStream: a document is read the same alone and behind another one.
func FuzzStream(f *testing.F) {
	f.Add("a: |\n  ---\n  x\n")
	f.Add("{\"a\": 1}")
	f.Fuzz(func(t *testing.T, text string) {
		alone, err := document.Parse([]byte(text))
		if err != nil || len(document.Stream([]byte(text))) != 1 {
			return
		}
		parts := document.Stream([]byte("first: 1\n---\n" + text))
		if len(parts) != 2 {
			t.Fatalf("%q", parts)
		}
		again, err := document.Parse(parts[1])
		if err != nil || !bytes.Equal(again.AppendJSON(nil), alone.AppendJSON(nil)) {
			t.Errorf("%q: %v", parts[1], err)
		}
	})
}

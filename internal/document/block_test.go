package document

import (
	"strings"
	"testing"
)

// The lines of a literal block are in the document, below its first line, with as many spaces before them as Indent says.
func TestIndentOfABlock(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"in a map":                   "a: |\n  x\n    y\n  z\n",
		"in a list":                  "a:\n- |-\n    x\n\n     y\n",
		"empty lines first":          "a:\n  b: |\n\n\n      x\n       y\n",
		"spaces first, by indicator": "a: |2\n     x\n  y\n",
		"a comment after the sign":   "a: |+ # why\n    x\n\nb: 1\n",
		"with a tag":                 "a: !!str |\n   x\n",
		"carriage returns":           "a: |\r\n  x\r\n   y\r\n",
	} {
		tree, err := Parse([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		block := tree
		for block.Kind != String {
			if block.Kind == List {
				block = &block.Items[0]
			} else {
				block = &block.Fields[0].Value
			}
		}
		if block.Indent == 0 {
			t.Errorf("%s: no block", name)
		}
		source := strings.Split(text, "\n")
		for i, line := range strings.Split(strings.TrimRight(block.Text, "\n"), "\n") {
			got := strings.TrimSuffix(source[int(block.Line)+i], "\r")
			if want := strings.Repeat(" ", int(block.Indent)) + line; got != want && line != "" {
				t.Errorf("%s: line %d is %q, want %q", name, i, got, want)
			}
		}
	}
	for name, text := range map[string]string{"folded": "a: >\n  x\n", "quoted": "a: \"x\"\n", "empty": "a: |\nb: 1\n", "plain": "a: x\n"} {
		if tree, err := Parse([]byte(text)); err != nil || tree.Fields[0].Value.Indent != 0 {
			t.Errorf("%s: %+v, %v", name, tree, err)
		}
	}
}

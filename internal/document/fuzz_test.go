package document_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
)

// FuzzParse: no input causes a panic or exceeds the limits. Every document has a canonical form,
// which is a document with the same canonical form.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"../../examples/*/*.*", "testdata/same/*/*"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatal("no seeds in", pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := document.Parse(data)
		if err != nil {
			return
		}
		if nodes, depth := measure(n); nodes > document.MaxNodes || depth > document.MaxDepth {
			t.Fatalf("has %d values, %d deep", nodes, depth)
		}
		form := n.AppendJSON(nil)
		if len(form) > 8*document.MaxBytes {
			t.Fatalf("the canonical form has %d bytes", len(form))
		}
		again, err := document.Parse(form)
		if errors.Is(err, document.ErrTooLarge) && len(form) > document.MaxBytes {
			return
		}
		if err != nil {
			t.Fatalf("the canonical form %q is no document: %v", form, err)
		}
		if got := again.AppendJSON(nil); !bytes.Equal(got, form) {
			t.Fatalf("got  %q\nwant %q", got, form)
		}
		var s sample
		document.Decode(n, &s, document.Options{Names: document.JSONNames, Enum: colors, Report: func(document.Fault) {}})
	})
}

// measure counts a tree's values and their depth.
func measure(n *document.Node) (nodes, depth int) {
	nodes = 1
	below := func(child *document.Node) {
		childNodes, childDepth := measure(child)
		nodes, depth = nodes+childNodes, max(depth, childDepth+1)
	}
	for i := range n.Items {
		below(&n.Items[i])
	}
	for i := range n.Fields {
		below(&n.Fields[i].Value)
	}
	return nodes, depth
}

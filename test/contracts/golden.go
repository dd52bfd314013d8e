package contracts

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

// Update rewrites golden files instead of comparing them: go test -update.
var Update = flag.Bool("update", false, "rewrite the golden files")

// Golden compares JSON, after indenting it, with a file; with -update it rewrites the file.
func Golden(t testing.TB, file string, got []byte) {
	t.Helper()
	var indented bytes.Buffer
	if err := json.Indent(&indented, got, "", "  "); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	indented.WriteByte('\n')
	GoldenText(t, file, indented.Bytes())
}

// GoldenText compares a text with a file; with -update it rewrites the file.
func GoldenText(t testing.TB, file string, got []byte) {
	t.Helper()
	if *Update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; -update writes it", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: -update rewrites it\n%s", file, diff.Diff("want", want, "got", got))
	}
}

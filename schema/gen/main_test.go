package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// TestSchemasAreCurrent generates the schemas again and compares them with those in the repository.
func TestSchemasAreCurrent(t *testing.T) {
	schemas, err := generate(t.Context(), "../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range schemas {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is stale; run go generate ./schema", name)
		}
	}
}

func TestRun(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"nodeconfig", "api", "internal/anatomy", "internal/image"} {
		source, err := filepath.Abs("../../" + dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, dir)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(filepath.Join(root, dir), os.DirFS(source)); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(root, "schema")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), dir, true); err == nil || strings.Count(err.Error(), "is stale") != len(dialect.All())+3 {
		t.Errorf("a check without schemas: %v", err)
	}
	if err := run(t.Context(), dir, false); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), dir, true); err != nil {
		t.Errorf("a check of what was just written: %v", err)
	}
}

func TestGenerateNeedsSources(t *testing.T) {
	if _, err := generate(t.Context(), t.TempDir()); err == nil {
		t.Error("schemas of nothing")
	}
}

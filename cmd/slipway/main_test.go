package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/test/script"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){program: main})
}

// exampleFiles is the module's directory of examples.
const exampleFiles = "../../examples"

// TestScripts runs the program as its users do.
func TestScripts(t *testing.T) { script.Run(t, exampleFiles) }

// result is the result of one run of the program in this process.
type result struct {
	code     int
	out, err string
}

func runHere(stdin string, args ...string) result {
	var out, errOut bytes.Buffer
	code := run(args, cli.Streams{In: strings.NewReader(stdin), Out: &out, Err: &errOut})
	return result{code, out.String(), errOut.String()}
}

// writeFile writes a file for a test and returns its path.
func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// readExample reads one of the examples.
func readExample(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(exampleFiles, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// parseTree parses a test's document.
func parseTree(data []byte) *document.Node {
	n, err := document.Parse(data)
	if err != nil {
		panic(err)
	}
	return n
}

package licence_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/release/licence"
)

// TestModules reads a program that it builds: each of its modules has a licence and its text, and the standard library is one of them.
func TestModules(t *testing.T) {
	program := filepath.Join(t.TempDir(), "slipway-node")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/slipway-node")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r := &licence.Reader{Source: "../.."}
	modules, err := r.Modules(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	if len(modules) < 10 || !slices.ContainsFunc(modules, func(m licence.Module) bool { return m.Path == "std" && m.Licenses[0] == "BSD-3-Clause" }) {
		t.Errorf("%d modules", len(modules))
	}
	text := string(licence.Write("slipway-node", []byte("own"), modules))
	for _, m := range modules {
		if len(m.Texts) == 0 || !strings.Contains(text, "\n"+m.Path+" "+m.Version+", "+m.Texts[0].Name+"\n") {
			t.Errorf("the text has no licence of %s", m.Path)
		}
	}
	if _, err := r.Modules(t.Context(), "licence_test.go"); err == nil {
		t.Error("a file that is no program of Go has modules")
	}
}

package aksnodeconfigv1_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGeneratedCodeIsCurrent generates the code again, in memory, and compares it byte for byte
// with what is checked in.
func TestGeneratedCodeIsCurrent(t *testing.T) {
	readInputs(t)
	probe := exec.CommandContext(t.Context(), "go", "tool", "protoc-gen-go", "--version")
	if out, err := probe.CombinedOutput(); err != nil {
		t.Skipf("cannot run go tool protoc-gen-go, so the generated code is not checked: %v\n%s", err, out)
	}
	check := exec.CommandContext(t.Context(), "go", "run", "../gen", "-check")
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("generated code is not current: %v\n%s", err, out)
	}
}

// readInputs reads the generator's inputs. A cached test result is valid as long as the files that
// the test itself has read are unchanged; files that a child process reads do not count.
func readInputs(t *testing.T) {
	t.Helper()
	inputs := []string{"../gen/main.go", "../gen/plain.go", "../../../go.mod"}
	for _, pattern := range []string{"*.proto", "*.pb.go", "../../../internal/aksnodeconfig/*.gen.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, found...)
	}
	for _, name := range inputs {
		if _, err := os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
}

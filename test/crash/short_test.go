//go:build !failpoint

package crash

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	// What the tests are of, so that a result is kept for as long only as none of it changes.
	_ "github.com/slipway-dev/slipway/internal/agent"
)

// A long test runs a few points of each check. Failpoints are compiled in by a build tag only, so that
// is another process.
func TestFewPoints(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the packages a second time; make test-long runs it")
	}
	// What `go test` sees read here, a kept result depends on too.
	for _, pattern := range append(hostSources, "*.go") {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			if _, err := os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	out, err := exec.Command("go", "test", "-tags", "failpoint", "-short", "-count=1", "-vet=off", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// failpoints are what there must be nothing of in what is delivered.
var failpoints = regexp.MustCompile(`internal/(failpoint\.|rootfs\.mutate\b).*`)

// What is delivered has no failpoints: not the hook, nor a variable to set, nor what would be told.
func TestNoFailpoints(t *testing.T) {
	program := filepath.Join(t.TempDir(), "slipway-node")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/slipway-node").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	symbols, err := exec.Command("go", "tool", "nm", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`internal/rootfs\.\(\*entry\)\.open\b`).Match(symbols) {
		t.Fatal("the symbols of internal/rootfs are not found")
	}
	for _, symbol := range failpoints.FindAll(symbols, -1) {
		t.Errorf("the program has %s", symbol)
	}
}

//go:build !failpoint

package crash

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	// The packages under test: `go test` caches a result only as long as none of them changes.
	_ "github.com/slipway-dev/slipway/internal/agent"
	_ "github.com/slipway-dev/slipway/internal/image/download"
)

// A long test runs a part of each check, and the deaths of a download into the cache of images. A build tag compiles failpoints in, so
// the test needs another process.
func TestPart(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the packages a second time; make test-long runs it")
	}
	// `go test` records these reads, so a cached result depends on the files.
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
	out, err := exec.Command("go", "test", "-tags", "failpoint", "-short", "-count=1", "-vet=off", "-timeout", "1h", ".", "../../internal/image/download").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// failpoints matches the symbols that a delivered program must not contain.
var failpoints = regexp.MustCompile(`internal/(failpoint\.|rootfs\.mutate\b).*`)

// A delivered program has no failpoints: neither the hook, nor a variable to set it, nor the data
// for it.
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

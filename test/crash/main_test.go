//go:build failpoint

package crash

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/slipway-dev/slipway/internal/host"
)

var tablePath = flag.String("table", "", "write the table of what was tried to `FILE`")

// workDir is where all directories are, in memory where that is to be had.
var workDir string

func TestMain(m *testing.M) {
	flag.Parse()
	if os.Getenv(childEnv) != "" {
		os.Exit(child())
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if err := makeWorkDir(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(workDir)
	debug.SetGCPercent(400) // there is memory, and little time
	host.SetFailpoint(&running)
	code := m.Run()
	if *tablePath != "" {
		if err := os.WriteFile(*tablePath, []byte(results.String()), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

func makeWorkDir() (err error) {
	memory := "/dev/shm"
	if _, err := os.Stat(memory); err != nil {
		memory = ""
	}
	if workDir, err = os.MkdirTemp(memory, "slipway-crash-"); err != nil {
		return err
	}
	workDir, err = filepath.EvalSymlinks(workDir)
	return err
}

var directories atomic.Uint64

// newRoot is the path of a directory that is not there yet.
func newRoot() string {
	return filepath.Join(workDir, strconv.FormatUint(directories.Add(1), 10))
}

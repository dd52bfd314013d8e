//go:build failpoint

package crash

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/internal/failpoint"
)

var tablePath = flag.String("table", "", "write the table of what was tried to `FILE`")

// workDir contains all directories, in memory if possible, and madeBy is the owner of files that are created there.
var (
	workDir string
	madeBy  struct{ uid, gid uint32 }
)

func TestMain(m *testing.M) {
	if os.Getenv(enclosedEnv) != "" {
		os.Exit(enter())
	}
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
	debug.SetGCPercent(400) // there is plenty of memory, but little time
	failpoint.Set(&running)
	var out io.Writer = io.Discard
	if *tablePath != "" {
		file, err := os.Create(*tablePath)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer file.Close()
		out = file
	}
	results.begin(out)
	code := m.Run()
	if err := results.end(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func makeWorkDir() (err error) {
	if workDir, err = os.MkdirTemp("/dev/shm", "slipway-crash-"); err != nil { // it may exist but be closed to this user
		workDir, err = os.MkdirTemp("", "slipway-crash-")
	}
	if err != nil {
		return err
	}
	if workDir, err = filepath.EvalSymlinks(workDir); err != nil {
		return err
	}
	info, err := os.Stat(workDir)
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t)
	madeBy.uid, madeBy.gid = owner.Uid, owner.Gid
	return nil
}

var directories atomic.Uint64

// newRoot is a path for a new directory.
func newRoot() string {
	return filepath.Join(workDir, strconv.FormatUint(directories.Add(1), 10))
}

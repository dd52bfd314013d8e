// Package script has the commands that both programs' test scripts use in addition to testscript's own:
//
//	exits CODE COMMAND...   run a command and want its exit code
//	edit FILE OLD NEW       replace a text, which must be there; \0 and \n stand for NUL and a line break
//	fill FILE SIZE          make a file of that many bytes
//	mode FILE MODE          want a file's permissions
//	like FILE WANT          compare two files, but for times, durations, digests and the widths of columns
//	serve NAME DIR          serve a directory over HTTPS; its URL is in $NAME
//	fault NAME KIND [N]     let the next N answers of that server be wrong (page, error, flip, half, busy)
//	program FILE ARCH TEXT  make a file that begins like a program
//	digests CACHE N         want N files with right digests in a cache
//
// $EXAMPLES is the directory of examples, and the condition [root] is that the superuser runs them. The
// tests of cmd/slipway and cmd/slipway-node call it; it is part of neither program.
package script

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// Run runs the scripts in testdata/script. examples is the directory of examples.
func Run(t *testing.T, examples string) {
	directory, err := filepath.Abs(examples)
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("EXAMPLES", directory)
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache")) // a program with a cache writes nothing elsewhere
			env.Values[servers{}] = make(map[string]*server)
			env.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each command takes a second under the race detector
			return nil
		},
		Condition: func(name string) (bool, error) {
			return name == "root" && os.Getuid() == 0, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "edit": edit, "fill": fill, "mode": mode, "like": like, "serve": serve, "fault": fault, "program": program, "digests": digests,
		},
	})
}

func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		failure, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = failure.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func edit(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	special := strings.NewReplacer(`\0`, "\x00", `\n`, "\n")
	before := ts.ReadFile(path)
	if !strings.Contains(before, special.Replace(args[1])) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	after := strings.Replace(before, special.Replace(args[1]), special.Replace(args[2]), 1)
	ts.Check(os.WriteFile(path, []byte(after), 0o600))
}

func fill(ts *testscript.TestScript, _ bool, args []string) {
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat([]byte("a"), size), 0o600))
}

func mode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := strconv.FormatUint(uint64(info.Mode().Perm()), 8); got != args[1] {
		ts.Fatalf("%s has mode %s, want %s", args[0], got, args[1])
	}
}

// timeless is the time of files whose time does not matter.
var timeless time.Time

// sumOf is a file's SHA-256 in hexadecimal.
func sumOf(ts *testscript.TestScript, name string) string {
	data, err := os.ReadFile(name)
	ts.Check(err)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// varying are texts that differ between runs, and their replacements.
var varying = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z?`), "TIME"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`), "TIME"},
	{regexp.MustCompile(`\b\d+(\.\d+)? ?(ms|s)\b`), "DURATION"},
	{regexp.MustCompile(`("(startMs|durationMs)": )\d+`), "${1}DURATION"},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b|\b[0-9a-f]{12}\b`), "DIGEST"},
	{regexp.MustCompile(`[^\s"']*slipway-node\b`), "slipway-node"},
	{regexp.MustCompile(`(\S) +`), "$1 "},
	{regexp.MustCompile(` +\n`), "\n"},
}

func like(ts *testscript.TestScript, _ bool, args []string) {
	got, want := ts.ReadFile(args[0]), ts.ReadFile(args[1])
	got = strings.ReplaceAll(got, ts.Getenv("WORK"), "WORK")
	for _, v := range varying {
		got, want = v.pattern.ReplaceAllString(got, v.name), v.pattern.ReplaceAllString(want, v.name)
	}
	if got != want {
		ts.Fatalf("%s is not like %s:\n%s", args[0], args[1], got)
	}
}

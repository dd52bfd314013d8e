package costs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// processes are whole processes: from start to end, with all that they load and read.
var processes = []struct {
	what, program string
	// arguments are its arguments. DIR is replaced by a directory for the machine, and EXAMPLE by the repository's example.
	arguments string
	// again reports whether the directory is that of the process before it.
	again bool
}{
	{"start, print the version and end", "slipway-node", "--version", false},
	{"validate", "slipway", "validate -f EXAMPLE", false},
	{"plan", "slipway", "plan -f EXAMPLE", false},
	{"render custom data", "slipway", "render -f EXAMPLE --to custom-data", false},
	{"provision a node in a directory", "slipway-node", "provision --root DIR --provision-config EXAMPLE", false},
	{"provision it again", "slipway-node", "provision --root DIR --provision-config EXAMPLE", true},
}

// runs is how often each process is run.
const runs = 21

// TestProgramSizes checks that no program is larger than the limit, which make build enforces.
func TestProgramSizes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds both programs")
	}
	buildPrograms(t)
	build := exec.Command("make", "build", "BIN="+t.TempDir(), "MAX_SIZE=1000000")
	build.Dir = repo
	if out, err := build.CombinedOutput(); err == nil || !strings.Contains(string(out), "the limit is 1000000") {
		t.Errorf("make build accepts programs over its limit: %v\n%s", err, out)
	}
}

// buildPrograms builds both programs as make build does, and returns their directory.
func buildPrograms(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("make", "build", "BIN="+dir)
	build.Dir = repo
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// programs measures the programs as make build makes them.
func programs(t *testing.T) string {
	t.Helper()
	dir := buildPrograms(t)
	text := measuredOn() + "| program | size |\n|---|---|\n"
	for _, program := range []string{"slipway-node", "slipway"} {
		info, err := os.Stat(filepath.Join(dir, program))
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf("| `%s` | %.1f MB |\n", program, float64(info.Size())/1e6)
	}
	text += "\n| whole process | program | time | peak memory |\n|---|---|---|---|\n"
	example, err := filepath.Abs(filepath.Join(repo, "examples/native/full.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	machine := ""
	for _, p := range processes {
		var took []time.Duration
		var memory int64
		for run := range runs {
			if !p.again {
				machine = filepath.Join(dir, fmt.Sprint(strings.Fields(p.what)[0], run))
			}
			cmd := exec.Command(filepath.Join(dir, p.program), strings.Fields(strings.NewReplacer("DIR", machine, "EXAMPLE", example).Replace(p.arguments))...)
			cmd.Env = append(os.Environ(), "HOME="+dir)
			begin := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", cmd, err, out)
			}
			took = append(took, time.Since(begin))
			memory = max(memory, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
		}
		slices.Sort(took)
		text += fmt.Sprintf("| %s | `%s` | %s | %.0f MB |\n", p.what, p.program, duration(float64(took[runs/2])), float64(memory)*1024/1e6)
	}
	return text
}

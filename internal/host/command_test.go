package host

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/resource"
)

func shell(script string) *resource.Command {
	return &resource.Command{Label: "test", Argv: []string{"sh", "-c", script}}
}

func TestRunEnvironment(t *testing.T) {
	t.Setenv("TOKEN", "secret")
	m := &Machine{}
	output, err := m.Run(t.Context(), &resource.Command{
		Label: "env", Argv: []string{"env"}, Env: map[string]string{"ZED": "last", "LANG": "de", "A": "first"},
	})
	must(t, err)
	want := "A=first\nHOME=/root\nLANG=de\nPATH=" + commandEnv["PATH"] + "\nZED=last\n"
	if string(output) != want {
		t.Errorf("got %q, want %q", output, want)
	}
	output, err = m.Run(t.Context(), shell("pwd; cat; echo to stderr >&2"))
	if err != nil || string(output) != "/\nto stderr\n" {
		t.Errorf("got %q, %v", output, err)
	}
}

func TestRunFails(t *testing.T) {
	m := &Machine{}
	output, err := m.Run(t.Context(), shell("echo why; exit 3"))
	wantError(t, err, `command "test": exit status 3`)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || string(output) != "why\n" {
		t.Errorf("got %q, %v", output, err)
	}
	for name, argv := range map[string][]string{
		"no program":   nil,
		"empty name":   {""},
		"not found":    {"no-such-program"},
		"relative":     {"./sh"},
		"not a file":   {"/"},
		"missing file": {"/no/such/program"},
	} {
		if _, err := m.Run(t.Context(), &resource.Command{Label: "x", Argv: argv}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	// It is looked for with the command's own PATH.
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "tool"), []byte("#!/bin/sh\necho found\n"), 0o755))
	output, err = m.Run(t.Context(), &resource.Command{Argv: []string{"tool"}, Env: map[string]string{"PATH": ".:" + dir}})
	if err != nil || string(output) != "found\n" {
		t.Errorf("got %q, %v", output, err)
	}
}

func TestRunBoundsTheOutput(t *testing.T) {
	output, err := run(t.Context(), shell("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done"), time.Second)
	if err != nil || len(output) != maxOutput || !bytes.HasSuffix(output, []byte("line 19999\n")) {
		t.Errorf("got %d bytes ending in %q, %v", len(output), output[max(0, len(output)-20):], err)
	}
}

func TestTail(t *testing.T) {
	var all []byte
	var kept tail
	for i := range 50 {
		chunk := bytes.Repeat([]byte{byte('a' + i%26)}, i*i*7%9000)
		all = append(all, chunk...)
		if n, err := kept.Write(chunk); n != len(chunk) || err != nil {
			t.Fatal(n, err)
		}
		if want := all[max(0, len(all)-maxOutput):]; !bytes.Equal(kept.bytes(), want) {
			t.Fatalf("after %d chunks: got %d bytes, want %d", i, len(kept.bytes()), len(want))
		}
	}
}

// alive reports whether a process runs; one that nobody has waited for does not.
func alive(t *testing.T, pidFile string) bool {
	t.Helper()
	content, err := os.ReadFile(pidFile)
	must(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	must(t, err)
	if unix.Kill(pid, 0) != nil {
		return false
	}
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	return len(status) > 0 && !bytes.Contains(status, []byte("State:\tZ"))
}

func TestRunKillsTheGroup(t *testing.T) {
	const grace = 200 * time.Millisecond
	for _, test := range []struct {
		name, script string
		slow         bool
	}{
		{"ends when told", "sleep 60 & echo $! >$PIDS; echo started; wait", false},
		{"does not listen", "trap '' TERM; (trap '' TERM; sleep 60 & echo $! >$PIDS; wait) & echo started; while :; do wait; done", true},
		{"child does not listen", "sh -c \"trap '' TERM; echo \\$\\$ >$PIDS; while :; do sleep 60; done\" & echo started; wait", true},
		{"child is silent", "sh -c \"trap '' TERM; echo \\$\\$ >$PIDS; while :; do sleep 60; done\" >/dev/null 2>&1 & echo started; wait", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			pids := filepath.Join(t.TempDir(), "pid")
			command := shell(test.script)
			command.Env = map[string]string{"PIDS": pids}
			command.Timeout = resource.Duration(300 * time.Millisecond)
			start := time.Now()
			output, err := run(t.Context(), command, grace)
			took := time.Since(start)
			wantError(t, err, "did not end within 300ms")
			if !errors.Is(err, context.DeadlineExceeded) || string(output) != "started\n" {
				t.Errorf("got %q, %v", output, err)
			}
			if took < 300*time.Millisecond || took > 5*time.Second || test.slow && took < 300*time.Millisecond+grace {
				t.Errorf("took %s", took)
			}
			for wait := 0; alive(t, pids); wait++ {
				if wait == 100 {
					t.Fatal("what it started is still running")
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
}

func TestRunCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := run(ctx, shell("sleep 60"), time.Second)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v is not ctx's error", err)
	}
	if _, err := run(ctx, shell("true"), time.Second); !errors.Is(err, context.Canceled) {
		t.Errorf("%v is not ctx's error", err)
	}
}

func TestRunLeavesAService(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pid")
	command := shell("sleep 60 & echo $! >$PIDS; echo ready")
	command.Env = map[string]string{"PIDS": pids}
	output, err := run(t.Context(), command, 100*time.Millisecond)
	if err != nil || string(output) != "ready\n" {
		t.Errorf("got %q, %v", output, err)
	}
	if !alive(t, pids) {
		t.Error("what it left behind was killed")
	}
	content, _ := os.ReadFile(pids)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(content)))
	unix.Kill(pid, unix.SIGKILL)
}

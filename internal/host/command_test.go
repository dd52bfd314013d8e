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
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/hosttest"
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

// A command gets its own input, and the test for "done" compares whole lines.
// A command that nothing waits for has the lowest priority (nice(1) without arguments prints the priority).
func TestAdvisoryCommandHasLeastPriority(t *testing.T) {
	own, err := exec.Command("nice").Output()
	if err != nil {
		t.Skip("this machine has no nice")
	}
	m := &Machine{}
	for advisory, want := range map[bool]string{false: string(own), true: "19\n"} {
		output, err := m.Run(t.Context(), &resource.Command{Label: "x", Argv: []string{"nice"}, Advisory: advisory})
		if err != nil || string(output) != want {
			t.Errorf("advisory %v: priority %q, %v, want %q", advisory, output, err, want)
		}
	}
}

func TestRunReads(t *testing.T) {
	const secret = "p$(reboot)'\""
	m := &Machine{}
	c := shell("cat; echo ' a :\t b '")
	c.Stdin = resource.Hidden{Secret: nodeconfig.NewSecret(secret)}
	output, err := m.Run(t.Context(), c)
	if err != nil || string(output) != secret+" a :\t b \n" {
		t.Errorf("got %q, %v", output, err)
	}
	for script, want := range map[string]bool{
		"echo ' a :\t b '; echo c": true,
		"echo a : b c":             false,
		"echo a : b; exit 1":       false,
		"cat":                      false,
	} {
		c.Done = &resource.Printed{Argv: []string{"sh", "-c", script}, Lines: []string{"a : b"}}
		if got := m.IsDone(t.Context(), c); got != want {
			t.Errorf("%s: done is %v", script, got)
		}
	}
	c.Done.Argv = []string{"no-such-program"}
	if m.IsDone(t.Context(), c) {
		t.Error("what cannot be asked is done")
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
	// The program is found with the command's PATH.
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

// alive reports whether a process runs. A zombie does not count.
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
	// The child has started, and its process number is in a file.
	const child = `echo $! >$PIDS; : >$PIDS.there; `
	for name, test := range map[string]struct{ script, printed string }{
		"ends when told":        {"echo started; sleep 60 & " + child + "wait", "started\n"},
		"does not listen":       {"trap 'echo told' TERM; echo started; (trap '' TERM; sleep 60 & " + child + "wait) & while :; do wait; done", "started\ntold\n"},
		"child does not listen": {"echo started; sh -c \"trap '' TERM; while :; do sleep 60; done\" & " + child + "wait", "started\n"},
		"child is silent":       {"echo started; sh -c \"trap '' TERM; while :; do sleep 60; done\" >/dev/null 2>&1 & " + child + "wait", "started\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pids, ctx := filepath.Join(t.TempDir(), "pid"), hosttest.NewTimed(t)
			command := shell(test.script)
			command.Env = map[string]string{"PIDS": pids}
			command.Timeout = resource.Duration(time.Minute)
			go func() {
				hosttest.Eventually(t, "it has started a child", func() bool { _, err := os.Stat(pids + ".there"); return err == nil })
				ctx.Over()
			}()
			output, err := run(ctx, command, time.Second)
			wantError(t, err, "did not end within 1m0s")
			if !errors.Is(err, context.DeadlineExceeded) || string(output) != test.printed {
				t.Errorf("got %q, %v", output, err)
			}
			hosttest.Eventually(t, "what it started is gone", func() bool { return !alive(t, pids) })
		})
	}
}

func TestRunCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		hosttest.Pause(5000)
		cancel()
	}()
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
	output, err := run(t.Context(), command, time.Second)
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

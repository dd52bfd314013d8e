package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// logged is a machine that has one unit, and a journalctl that shows a text.
func logged(t *testing.T, conn *fakeBus, text string) (*Machine, func() string) {
	t.Helper()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "text"), []byte(text), 0o600))
	return journalled(t, conn, dir, "case $1 in --sync) exit 1 ;; esac\ncat "+dir+"/text")
}

// journalled is a machine whose journalctl is a script. The function returns what it was called with.
func journalled(t *testing.T, conn *fakeBus, dir, script string) (*Machine, func() string) {
	t.Helper()
	m, _ := newMachine(t, conn)
	m.journalctl = filepath.Join(dir, "journalctl")
	must(t, os.WriteFile(m.journalctl, []byte("#!/bin/sh\necho \"$*\" >> "+dir+"/calls\n"+script+"\n"), 0o755))
	return m, func() string {
		calls, _ := os.ReadFile(filepath.Join(dir, "calls"))
		return string(calls)
	}
}

// ran is a unit in a state that was started at least once.
func ran(active, sub string) map[string]any {
	return map[string]any{
		"LoadState": "loaded", "ActiveState": active, "SubState": sub, "Result": "exit-code",
		"ExecMainCode": int32(1), "ExecMainStatus": int32(1),
		"InvocationID": []byte("\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef"),
	}
}

func TestUnitLog(t *testing.T) {
	conn := newFakeBus()
	conn.units["kubelet.service"] = ran("failed", "failed")
	m, calls := logged(t, conn, "Flag --x is deprecated\n\n\x1b[31mE1120 \"run\" --token="+probeToken+"\x1b[0m\nkubelet.service: Failed with result 'exit-code'.\n")
	got, err := m.UnitLog(t.Context(), "kubelet.service")
	want := []string{"Flag --x is deprecated", `[31mE1120 "run" --token=[redacted][0m`, "kubelet.service: Failed with result 'exit-code'."}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	const id = "0123456789abcdef0123456789abcdef"
	if got, want := calls(), "--sync\n--no-pager -q -o cat -n 10 _SYSTEMD_INVOCATION_ID="+id+" + INVOCATION_ID="+id+"\n"; got != want {
		t.Errorf("called with %q", got)
	}
	_, err = m.UnitLog(t.Context(), "kubelet")
	wantError(t, err, "kubelet", "is not a unit name")

	// No journalctl; a unit that never ran; one that does not exist.
	m.journalctl = "journalctl-that-is-not-there"
	conn.set("new.service", "inactive", "dead")
	for _, unit := range []string{"kubelet.service", "new.service", "missing.service"} {
		if got, err := m.UnitLog(t.Context(), unit); err != nil || got != nil {
			t.Errorf("%s: got %q, %v", unit, got, err)
		}
	}
}

func TestUnitLogIsBounded(t *testing.T) {
	conn := newFakeBus()
	conn.units["kubelet.service"] = ran("failed", "failed")
	var text strings.Builder
	for i := range 30 {
		fmt.Fprintf(&text, "%d %s\n", i, strings.Repeat("x", 40*i))
	}
	for name, text := range map[string]string{
		"many": strings.Repeat("y\n", 1000), "long": strings.Repeat("long ", 1000), "growing": text.String(), "one word": strings.Repeat("z", 1<<20),
	} {
		m, _ := logged(t, conn, text)
		lines, err := m.UnitLog(t.Context(), "kubelet.service")
		total := 0
		for _, line := range lines {
			total += len(line)
			if len(line) > maxLogLine {
				t.Errorf("%s: a line of %d bytes", name, len(line))
			}
		}
		if err != nil || len(lines) > logLines || total > 4<<10 || (len(lines) == 0) != (name == "one word") {
			t.Errorf("%s: %d lines, %d bytes, %v", name, len(lines), total, err)
		}
	}
	// A secret that the end of the output begins in the middle of.
	if got := shownLines([]byte("def.0123456789abcdef " + strings.Repeat("a", maxOutput-len("def.0123456789abcdef ")))); len(got) != 1 || !strings.HasPrefix(got[0], "aaa") {
		t.Errorf("got %q", got)
	}
}

// A journalctl that hangs takes no longer than is left to it.
func TestUnitLogHangs(t *testing.T) {
	conn := newFakeBus()
	conn.units["kubelet.service"] = ran("failed", "failed")
	dir, ctx := t.TempDir(), newTimed(t)
	m, _ := journalled(t, conn, dir, "trap '' TERM\n: > "+dir+"/hangs\nwhile :; do sleep 0.05; done")
	go func() {
		eventually(t, "journalctl hangs", func() bool { _, err := os.Stat(dir + "/hangs"); return err == nil })
		ctx.over()
	}()
	if _, err := m.UnitLog(ctx, "kubelet.service"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// The errors of a unit that fails say what it said; those that are not its fault are as they were.
func TestErrorsHaveTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		check := &resource.Check{UnitActive: "kubelet.service", Timeout: resource.Duration(time.Minute)}
		calls := map[string]func(context.Context, *Machine) error{
			"start kubelet.service":   func(ctx context.Context, m *Machine) error { return m.StartUnit(ctx, "kubelet.service") },
			"restart kubelet.service": func(ctx context.Context, m *Machine) error { return m.RestartUnit(ctx, "kubelet.service") },
			"unit: kubelet.service":   func(ctx context.Context, m *Machine) error { return m.Probe(ctx, check) },
		}
		for call, do := range calls {
			conn := newFakeBus()
			conn.onJob = func(string, string) (string, error) { return "failed", nil }
			conn.units["kubelet.service"] = ran("failed", "failed")
			m, _ := logged(t, conn, "first\nunknown flag: --x\n")
			err := do(t.Context(), m)
			wantError(t, err, call, "result exit-code", "; last lines: first | unknown flag: --x")
			var unitErr *UnitError
			if !errors.As(err, &unitErr) || unitErr.Unit != "kubelet.service" || !slices.Equal(unitErr.Lines, []string{"first", "unknown flag: --x"}) {
				t.Errorf("%s: %#v", call, unitErr)
			}
			var checkErr *apply.CheckError
			if strings.HasPrefix(call, "unit") && (!errors.As(err, &checkErr) || !strings.Contains(checkErr.Err.Error(), "unknown flag")) {
				t.Errorf("%s: %v", call, err)
			}

			// It hangs until the time is over, and says why.
			conn.onJob = func(string, string) (string, error) { return "", nil }
			conn.units["kubelet.service"] = ran("activating", "start")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			err = do(ctx, m)
			cancel()
			wantError(t, err, call, "activating (start)", "last lines: first | unknown flag: --x")
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v is not ctx's error", call, err)
			}
		}
		for _, result := range []string{"dependency", "canceled", "skipped"} {
			conn := newFakeBus()
			conn.onJob = func(string, string) (string, error) { return result, nil }
			conn.units["kubelet.service"] = ran("inactive", "dead")
			m, called := logged(t, conn, "old\n")
			if err := m.StartUnit(t.Context(), "kubelet.service"); err == nil || errors.As(err, new(*UnitError)) || called() != "" {
				t.Errorf("%s: %v", result, err)
			}
		}
	})
}

// An error has the newest of the lines, and all of a line.
func TestUnitErrorLines(t *testing.T) {
	long := strings.Repeat("x", maxLogLine)
	for want, lines := range map[string][]string{
		"; last lines: a | b":           {"a", "b"},
		"; last lines: a | " + long:     {long, "a", long},
		"; last lines: " + long:         {"a", strings.Repeat("y", maxErrorLines-maxLogLine), long},
		"; last lines: " + long + "xxx": {long + "xxx"},
		"; last lines: " + long + long:  {"a", long + long},
	} {
		if got := (&UnitError{Lines: lines, Err: errors.New("is down")}).Error(); got != "is down"+want {
			t.Errorf("%q: got %q", lines, got)
		}
	}
}

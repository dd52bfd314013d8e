package systemd_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/probe"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/systemd"
	"github.com/slipway-dev/slipway/test/hosttest"
)

const token = "abcdef.0123456789abcdef"

// logged is a systemd with a journal that shows the end of a text, and cannot be synced. The function returns the
// arguments of the last call.
func logged(conn *hosttest.Bus, text string) (*systemd.Manager, func() string) {
	const most = 4 << 10
	var calls strings.Builder
	m := hosttest.Journalled(func(_ context.Context, _ time.Duration, args ...string) ([]byte, bool, error) {
		fmt.Fprintln(&calls, strings.Join(args, " "))
		if args[0] == "--sync" {
			return nil, false, errors.New("cannot be synced")
		}
		return []byte(text[max(0, len(text)-most):]), len(text) >= most, nil
	}, conn)
	return m, calls.String
}

// ran is a unit in a state, which has started at least once.
func ran(active, sub string) map[string]any {
	return map[string]any{
		"LoadState": "loaded", "ActiveState": active, "SubState": sub, "Result": "exit-code",
		"ExecMainCode": int32(1), "ExecMainStatus": int32(1),
		"InvocationID": []byte("\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef"),
	}
}

func TestLog(t *testing.T) {
	conn := hosttest.NewBus()
	conn.Units["kubelet.service"] = ran("failed", "failed")
	m, calls := logged(conn, "Flag --x is deprecated\n\n\x1b[31mE1120 \"run\" --token="+token+"\x1b[0m\nkubelet.service: Failed with result 'exit-code'.\n")
	got, err := m.Log(t.Context(), "kubelet.service")
	want := []string{"Flag --x is deprecated", `[31mE1120 "run" --token=[redacted]`, "kubelet.service: Failed with result 'exit-code'."}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	const id = "0123456789abcdef0123456789abcdef"
	want = []string{
		"--sync", "--no-pager -q -o short-unix INVOCATION_ID=" + id,
		"--no-pager -q -o cat -n 10 _SYSTEMD_INVOCATION_ID=" + id + " + INVOCATION_ID=" + id,
	}
	if got := strings.Fields(calls()); !slices.Equal(got, strings.Fields(strings.Join(want, " "))) {
		t.Errorf("called with %q", got)
	}
	_, err = m.Log(t.Context(), "kubelet")
	wantError(t, err, "kubelet", "is not a unit name")

	// An empty journal; a unit that never ran; a missing one.
	m, _ = logged(conn, "")
	conn.Set("new.service", "inactive", "dead")
	for _, unit := range []string{"kubelet.service", "new.service", "missing.service"} {
		if got, err := m.Log(t.Context(), unit); err != nil || got != nil {
			t.Errorf("%s: got %q, %v", unit, got, err)
		}
	}
}

// A process that ends before journald has looked at its unit has lines without the ID of the unit's start. They count from the time of
// systemd's first line about it, unless the clock was set back since then. The last ones are shown.
func TestLogOfAShortLife(t *testing.T) {
	conn := hosttest.NewBus()
	conn.Units["kubelet.service"] = ran("failed", "failed")
	const begins, later = "1796000722.708585 node systemd[1]: Starting\n1796000723.1 node systemd[1]: Failed\n", "1796000799.000000 node systemd[1]: Starting\n"
	before, short := []string{"1796000700.000000 of the start before"}, []string{"1796000722.900000 unknown flag: --x\n    --help shows all"}
	var long, last []string
	for i := range 30 {
		long = append(long, fmt.Sprintf("17960007%d.000000 line %d", 30+i, i))
		last = append(last, fmt.Sprint("line ", i))
	}
	byID := []string{"by its ID"}
	for name, c := range map[string]struct {
		began         string
		entries, want []string
	}{
		"short":             {begins, append(before, short...), []string{"unknown flag: --x", "--help shows all"}},
		"long":              {begins, append(before, long...), last[20:]},
		"clock set back":    {later, append(before, short...), byID},
		"no line":           {"", short, byID},
		"no entry":          {"-- No entries --\n", short, byID},
		"nothing of a unit": {begins, nil, byID},
	} {
		m := hosttest.Journalled(func(_ context.Context, _ time.Duration, args ...string) ([]byte, bool, error) {
			format := args[max(0, slices.Index(args, "-o")+1)]
			switch {
			case !slices.Contains(args, "_SYSTEMD_UNIT=kubelet.service") && format == "short-unix":
				return []byte(c.began), false, nil
			case !slices.Contains(args, "_SYSTEMD_UNIT=kubelet.service"):
				return []byte("by its ID\n"), false, nil
			}
			n, err := strconv.Atoi(args[slices.Index(args, "-n")+1])
			if err != nil || slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--since") }) {
				t.Errorf("%s: %q, whose -n means the first lines", name, args)
			}
			var out strings.Builder
			for _, entry := range c.entries[max(0, len(c.entries)-n):] {
				if format == "cat" {
					_, entry, _ = strings.Cut(entry, " ")
				}
				fmt.Fprintln(&out, entry)
			}
			return []byte(out.String()), false, nil
		}, conn)
		if got, err := m.Log(t.Context(), "kubelet.service"); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func TestLogIsBounded(t *testing.T) {
	conn := hosttest.NewBus()
	conn.Units["kubelet.service"] = ran("failed", "failed")
	var text strings.Builder
	for i := range 30 {
		fmt.Fprintf(&text, "%d %s\n", i, strings.Repeat("x", 40*i))
	}
	for name, text := range map[string]string{
		"many": strings.Repeat("y\n", 1000), "long": strings.Repeat("long ", 1000), "growing": text.String(), "one word": strings.Repeat("z", 1<<20),
	} {
		m, _ := logged(conn, text)
		lines, err := m.Log(t.Context(), "kubelet.service")
		total := 0
		for _, line := range lines {
			total += len(line)
			if len(line) > systemd.MaxLogLine {
				t.Errorf("%s: a line of %d bytes", name, len(line))
			}
		}
		if err != nil || len(lines) > systemd.LogLines || total > 4<<10 || (len(lines) == 0) != (name == "one word") {
			t.Errorf("%s: %d lines, %d bytes, %v", name, len(lines), total, err)
		}
	}
	// The end of the output begins within a secret.
	if got := systemd.ShownLines([]byte("def.0123456789abcdef "+strings.Repeat("a", 100)), true); len(got) != 1 || !strings.HasPrefix(got[0], "aaa") {
		t.Errorf("got %q", got)
	}
}

// A journal that hangs gets only the remaining time.
func TestLogHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := hosttest.NewBus()
		conn.Units["kubelet.service"] = ran("failed", "failed")
		m := hosttest.Journalled(func(ctx context.Context, timeout time.Duration, _ ...string) ([]byte, bool, error) {
			ctx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			<-ctx.Done()
			return nil, false, ctx.Err()
		}, conn)
		start := time.Now()
		if _, err := m.Log(t.Context(), "kubelet.service"); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 3*time.Second {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

// The errors of a failing unit have its output. Other errors are unchanged.
func TestErrorsHaveTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		check := &resource.Check{UnitActive: "kubelet.service", Timeout: resource.Duration(time.Minute)}
		calls := map[string]func(context.Context, *systemd.Manager) error{
			"start kubelet.service":   func(ctx context.Context, m *systemd.Manager) error { return m.StartUnit(ctx, "kubelet.service") },
			"restart kubelet.service": func(ctx context.Context, m *systemd.Manager) error { return m.RestartUnit(ctx, "kubelet.service") },
			"unit: kubelet.service":   func(ctx context.Context, m *systemd.Manager) error { return probe.Wait(ctx, nil, m, check) },
		}
		for call, do := range calls {
			conn := hosttest.NewBus()
			conn.OnJob = func(string, string) (string, error) { return "failed", nil }
			conn.Units["kubelet.service"] = ran("failed", "failed")
			m, _ := logged(conn, "first\nunknown flag: --x\n")
			err := do(t.Context(), m)
			wantError(t, err, call, "result exit-code", "; last lines: first | unknown flag: --x")
			var unitErr *systemd.UnitError
			if !errors.As(err, &unitErr) || unitErr.Unit != "kubelet.service" || !slices.Equal(unitErr.Lines, []string{"first", "unknown flag: --x"}) {
				t.Errorf("%s: %#v", call, unitErr)
			}
			var checkErr *apply.CheckError
			if strings.HasPrefix(call, "unit") && (!errors.As(err, &checkErr) || !strings.Contains(checkErr.Err.Error(), "unknown flag")) {
				t.Errorf("%s: %v", call, err)
			}

			// The unit hangs until the time is over, and the error has the reason.
			conn.OnJob = func(string, string) (string, error) { return "", nil }
			conn.Units["kubelet.service"] = ran("activating", "start")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			err = do(ctx, m)
			cancel()
			wantError(t, err, call, "activating (start)", "last lines: first | unknown flag: --x")
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v is not ctx's error", call, err)
			}
		}
		for _, result := range []string{"dependency", "canceled", "skipped"} {
			conn := hosttest.NewBus()
			conn.OnJob = func(string, string) (string, error) { return result, nil }
			conn.Units["kubelet.service"] = ran("inactive", "dead")
			m, called := logged(conn, "old\n")
			if err := m.StartUnit(t.Context(), "kubelet.service"); err == nil || errors.As(err, new(*systemd.UnitError)) || called() != "" {
				t.Errorf("%s: %v", result, err)
			}
		}
	})
}

// An error has the newest of the lines, each complete.
func TestUnitErrorLines(t *testing.T) {
	long := strings.Repeat("x", systemd.MaxLogLine)
	for want, lines := range map[string][]string{
		"; last lines: a | b":           {"a", "b"},
		"; last lines: a | " + long:     {long, "a", long},
		"; last lines: " + long:         {"a", strings.Repeat("y", systemd.MaxErrorLines-systemd.MaxLogLine), long},
		"; last lines: " + long + "xxx": {long + "xxx"},
		"; last lines: " + long + long:  {"a", long + long},
	} {
		if got := (&systemd.UnitError{Lines: lines, Err: errors.New("is down")}).Error(); got != "is down"+want {
			t.Errorf("%q: got %q", lines, got)
		}
	}
}

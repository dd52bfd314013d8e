package systemd_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// invocation is the ID of the units that have run.
const invocation = "0123456789abcdef0123456789abcdef"

// logged is a systemd with a journal that has these lines of a start of any unit. The function returns how often it was read.
func logged(conn *hosttest.Bus, lines ...string) (*systemd.Manager, func() int) {
	journal, reads := kept{}, 0
	for i, line := range lines {
		journal.entries = append(journal.entries, entry{at: i + 1, fields: map[string]string{"_SYSTEMD_INVOCATION_ID": invocation}, text: line})
	}
	m := hosttest.Journalled(func(ctx context.Context, query systemd.JournalQuery) ([]byte, bool, error) {
		reads++
		return journal.read(ctx, query)
	}, conn)
	return m, func() int { return reads }
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
	m, _ := logged(conn, "Flag --x is deprecated", "", "\x1b[31mE1120 \"run\" --token="+token+"\x1b[0m", "kubelet.service: Failed with result 'exit-code'.")
	got, err := m.Log(t.Context(), "kubelet.service")
	want := []string{"Flag --x is deprecated", `[31mE1120 "run" --token=[redacted]`, "kubelet.service: Failed with result 'exit-code'."}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	_, err = m.Log(t.Context(), "kubelet")
	wantError(t, err, "kubelet", "is not a unit name")

	// An empty journal; a unit that never ran; a missing one.
	m, _ = logged(conn)
	conn.Set("new.service", "inactive", "dead")
	for _, unit := range []string{"kubelet.service", "new.service", "missing.service"} {
		if got, err := m.Log(t.Context(), unit); err != nil || got != nil {
			t.Errorf("%s: got %q, %v", unit, got, err)
		}
	}
}

// A process that ends before journald has looked at its unit has lines without the ID of the unit's start. They count from the
// time of systemd's first line about it, unless the clock was set back since then. The last ones are shown.
func TestLogOfAShortLife(t *testing.T) {
	conn := hosttest.NewBus()
	conn.Units["kubelet.service"] = ran("failed", "failed")
	starting := func(at int) entry { return entry{at, map[string]string{"INVOCATION_ID": invocation}, "Starting"} }
	line := func(at int, text string) entry {
		return entry{at, map[string]string{"_SYSTEMD_UNIT": "kubelet.service"}, text}
	}
	before, byID := line(1_795_999_999_999_999, "of the start before"), entry{1_796_000_000_000_009, map[string]string{"_SYSTEMD_INVOCATION_ID": invocation}, "by its ID"}
	long := []entry{before, starting(1_796_000_000_000_000)}
	var last []string
	for i := range 30 {
		text := fmt.Sprint("line ", i)
		long, last = append(long, line(1_796_000_000_000_001+i, text)), append(last, text)
	}
	for name, c := range map[string]struct {
		entries []entry
		want    []string
	}{
		"short":             {[]entry{before, starting(1_796_000_000_000_000), line(1_796_000_000_000_001, "unknown flag: --x\n    --help shows all")}, []string{"Starting", "unknown flag: --x", "--help shows all"}},
		"long":              {long, last[20:]},
		"clock set back":    {[]entry{before, starting(1_796_000_000_000_999), byID}, []string{"Starting", "by its ID"}},
		"no line":           {[]entry{before, byID}, []string{"by its ID"}},
		"nothing of a unit": {[]entry{before}, nil},
	} {
		m := hosttest.Journalled(kept{entries: c.entries}.read, conn)
		if got, err := m.Log(t.Context(), "kubelet.service"); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func TestLogIsBounded(t *testing.T) {
	conn := hosttest.NewBus()
	conn.Units["kubelet.service"] = ran("failed", "failed")
	var growing []string
	for i := range 30 {
		growing = append(growing, fmt.Sprint(i, " ", strings.Repeat("x", 40*i)))
	}
	for name, text := range map[string][]string{
		"many": slices.Repeat([]string{"y"}, 1000), "long": {strings.Repeat("long ", 1000)}, "growing": growing, "one word": {strings.Repeat("z", 1<<20)},
	} {
		m, _ := logged(conn, text...)
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
}

// A journal that hangs gets only the remaining time.
func TestLogHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := hosttest.NewBus()
		conn.Units["kubelet.service"] = ran("failed", "failed")
		m := hosttest.Journalled(func(ctx context.Context, _ systemd.JournalQuery) ([]byte, bool, error) {
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
			m, _ := logged(conn, "first", "unknown flag: --x")
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
			m, called := logged(conn, "old")
			if err := m.StartUnit(t.Context(), "kubelet.service"); err == nil || errors.As(err, new(*systemd.UnitError)) || called() != 0 {
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

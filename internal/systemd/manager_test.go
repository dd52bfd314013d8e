package systemd_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/systemd"
	"github.com/slipway-dev/slipway/test/hosttest"
)

func TestJobs(t *testing.T) {
	conn := hosttest.NewBus()
	m := hosttest.Systemd(conn)
	must(t, m.ReloadUnits(t.Context()))
	must(t, m.StartUnit(t.Context(), "containerd.service"))
	must(t, m.RestartUnit(t.Context(), "kubelet.service"))
	want := []string{"Reload", "StartUnit containerd.service", "RestartUnit kubelet.service"}
	if got := conn.Seen(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	for _, unit := range []string{"", "kubelet", ".service", "a b.service", "../x.service", "kubelet."} {
		if err := m.StartUnit(t.Context(), unit); err == nil {
			t.Errorf("unit %q is taken", unit)
		}
	}
}

func TestUnitIsBeingStarted(t *testing.T) {
	for _, test := range []struct {
		active string
		job    uint32
		want   bool
	}{
		{"inactive", 0, false}, {"inactive", 7, true}, {"activating", 7, true}, {"active", 0, false}, {"active", 7, false},
		{"failed", 0, false}, {"deactivating", 7, false},
	} {
		conn := hosttest.NewBus()
		conn.Units["kubelet.service"] = map[string]any{
			"LoadState": "loaded", "ActiveState": test.active, "SubState": "x", "Job": []any{test.job, "/"},
		}
		m := hosttest.Systemd(conn)
		state, err := m.UnitState(t.Context(), "kubelet.service")
		must(t, err)
		if state.Starting != test.want {
			t.Errorf("%s, job %d: starting is %v", test.active, test.job, state.Starting)
		}
	}
}

func TestJobResults(t *testing.T) {
	failedUnit := map[string]any{
		"LoadState": "loaded", "ActiveState": "failed", "SubState": "failed", "Result": "exit-code",
		"ExecMainCode": int32(1), "ExecMainStatus": int32(203),
	}
	for _, test := range []struct {
		result string
		err    error
		unit   map[string]any
		want   []string
	}{
		{"failed", nil, failedUnit, []string{"start kubelet.service: its job failed", "failed", "result exit-code", "exit status 203"}},
		{"failed", nil, map[string]any{
			"LoadState": "loaded", "ActiveState": "failed", "SubState": "failed", "Result": "signal",
			"ExecMainCode": int32(2), "ExecMainStatus": int32(9),
		}, []string{"result signal", "killed by signal 9"}},
		{"timeout", nil, map[string]any{"LoadState": "loaded", "ActiveState": "failed", "SubState": "failed", "Result": "timeout"},
			[]string{"start kubelet.service", "result timeout"}},
		{"dependency", nil, map[string]any{"LoadState": "loaded", "ActiveState": "inactive", "SubState": "dead"},
			[]string{"start kubelet.service", "result dependency", "inactive (dead)"}},
		{"canceled", nil, nil, []string{"start kubelet.service", "result canceled"}},
		{"skipped", nil, nil, []string{"start kubelet.service", "result skipped"}},
		{"collected", nil, nil, []string{"start kubelet.service", `result "collected"`}},
		{"", systemd.ErrNoUnit, nil, []string{"start kubelet.service: no unit file has this name"}},
		{"", systemd.ErrMasked, nil, []string{"start kubelet.service: the unit is masked"}},
		{"", errors.New("systemd: refused"), map[string]any{"LoadState": "bad-setting", "ActiveState": "inactive", "SubState": "dead"},
			[]string{"start kubelet.service: systemd: refused", "load state bad-setting"}},
	} {
		conn := hosttest.NewBus()
		conn.OnJob = func(string, string) (string, error) { return test.result, test.err }
		if test.unit != nil {
			conn.Units["kubelet.service"] = test.unit
		}
		wantError(t, hosttest.Systemd(conn).StartUnit(t.Context(), "kubelet.service"), test.want...)
	}
}

func TestJobCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := hosttest.NewBus()
		conn.OnJob = func(string, string) (string, error) { return "", nil }
		conn.Set("kubelet.service", "activating", "start")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		err := hosttest.Systemd(conn).StartUnit(ctx, "kubelet.service")
		wantError(t, err, "start kubelet.service", "not done", "activating (start)")
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > time.Minute+systemd.ExplainTimeout {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

func TestLostConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// systemd re-executes while it restarts a unit: the job is joined, not done twice.
		first, second := hosttest.NewBus(), hosttest.NewBus()
		second.Units["kubelet.service"] = unitWith("deactivating", 5, "old")
		first.OnJob = func(string, string) (string, error) {
			time.AfterFunc(time.Second, func() { close(first.Gone) })
			return "", nil
		}
		must(t, hosttest.Systemd(first, second).RestartUnit(t.Context(), "kubelet.service"))
		if got := first.Seen(); !slices.Equal(got, []string{"RestartUnit kubelet.service"}) {
			t.Errorf("first: %q", got)
		}
		if got := second.Seen(); !slices.Equal(got, []string{"StartUnit kubelet.service"}) {
			t.Errorf("second: %q", got)
		}

		// The connection was lost unnoticed before, so the restart must still be requested.
		stale, fresh := hosttest.NewBus(), hosttest.NewBus()
		stale.Err = systemd.ErrLost
		time.AfterFunc(time.Second, func() { close(stale.Gone) })
		must(t, hosttest.Systemd(stale, fresh).RestartUnit(t.Context(), "kubelet.service"))
		if got := fresh.Seen(); !slices.Equal(got, []string{"RestartUnit kubelet.service"}) {
			t.Errorf("after a stale connection: %q", got)
		}

		// The connection does not come back.
		lost := hosttest.NewBus()
		lost.Err = systemd.ErrLost
		close(lost.Gone)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		wantError(t, hosttest.Systemd(lost).ReloadUnits(ctx), "reload systemd's units", "no systemd here")

		// systemd was never there.
		start := time.Now()
		_, err := hosttest.Systemd().UnitState(t.Context(), "kubelet.service")
		wantError(t, err, "state of kubelet.service: connect to systemd: no systemd here")
		if took := time.Since(start); took > 0 {
			t.Errorf("took %s", took)
		}
	})
}

// systemd hangs, like a machine with stalled processors or disk: the request is repeated until the deadline.
func TestConnectHangs(t *testing.T) {
	for _, c := range []struct {
		about string
		hangs int
		time  time.Duration // 0 means no deadline
		fails string
	}{
		{about: "twice", hangs: 2, time: time.Minute},
		{about: "twice, without a deadline", hangs: 2},
		{about: "for longer than there is time", hangs: 100, time: time.Minute, fails: "systemd does not answer"},
		{about: "for ever, without a deadline", hangs: 100, fails: "systemd does not answer"},
	} {
		t.Run(c.about, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				s := systemd.New(func(ctx context.Context) (systemd.Bus, error) {
					if tries++; tries <= c.hangs {
						<-ctx.Done()
						return nil, ctx.Err()
					}
					return hosttest.NewBus(), nil
				}, noJournal)
				ctx := t.Context()
				if c.time > 0 {
					bounded, cancel := context.WithTimeout(ctx, c.time)
					defer cancel()
					ctx = bounded
				}
				err := s.ReloadUnits(ctx)
				if c.fails == "" && err != nil {
					t.Errorf("after %d attempts: %v", tries, err)
				}
				if c.fails != "" {
					wantError(t, err, "reload systemd's units", c.fails)
				}
			})
		})
	}
}

func TestConnectIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		entered := make(chan struct{})
		s := systemd.New(func(ctx context.Context) (systemd.Bus, error) {
			close(entered)
			<-ctx.Done()
			return nil, ctx.Err()
		}, noJournal)
		slow, cancelSlow := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.ReloadUnits(slow) }()
		<-entered
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.ReloadUnits(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting for another's connection: %v", err)
		}
		cancelSlow()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("connecting: %v", err)
		}
	})
}

func TestUnitState(t *testing.T) {
	conn := hosttest.NewBus()
	conn.Set("a.service", "active", "running")
	conn.Units["f.mount"] = map[string]any{"LoadState": "loaded", "ActiveState": "failed", "SubState": "failed", "Result": "exit-code"}
	conn.Units["ok.service"] = map[string]any{"LoadState": "loaded", "ActiveState": "inactive", "SubState": "dead", "Result": "success"}
	m := hosttest.Systemd(conn)
	for unit, want := range map[string]apply.UnitState{
		"a.service":       {LoadState: "loaded", ActiveState: "active", SubState: "running"},
		"f.mount":         {LoadState: "loaded", ActiveState: "failed", SubState: "failed", Result: "exit-code"},
		"ok.service":      {LoadState: "loaded", ActiveState: "inactive", SubState: "dead"},
		"missing.service": {LoadState: "not-found", ActiveState: "inactive", SubState: "dead"},
	} {
		if got, err := m.UnitState(t.Context(), unit); err != nil || got != want {
			t.Errorf("%s: got %+v, %v", unit, got, err)
		}
	}
	conn.Units["odd.service"] = map[string]any{}
	if _, err := m.UnitState(t.Context(), "odd.service"); err == nil {
		t.Error("an answer without a state is taken")
	}
}

func TestBootTimes(t *testing.T) {
	conn := hosttest.NewBus()
	conn.Units["manager"] = map[string]any{
		"KernelTimestamp":             uint64(1_700_000_000_000_001),
		"UserspaceTimestampMonotonic": uint64(1_999_999),
		"FinishTimestampMonotonic":    uint64(0),
		"FirmwareTimestampMonotonic":  uint64(3_000_000),
		"Version":                     "252",
	}
	m := hosttest.Systemd(conn)
	got, err := m.BootTimes(t.Context())
	want := systemd.BootTimes{
		Kernel: time.UnixMicro(1_700_000_000_000_001).UTC(), UserspaceAfter: 1_999_999 * time.Microsecond, FirmwareBefore: 3 * time.Second,
	}
	if err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}

	conn.Units["ran.service"] = map[string]any{"ExecMainStartTimestamp": uint64(1_700_000_003_000_000)}
	conn.Units["never.service"] = map[string]any{"ExecMainStartTimestamp": uint64(0)}
	for unit, want := range map[string]time.Time{
		"ran.service": time.UnixMicro(1_700_000_003_000_000).UTC(), "never.service": {}, "missing.service": {},
	} {
		if got, err := m.ServiceStart(t.Context(), unit); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v", unit, got, err)
		}
	}
	for _, unit := range []string{"dev.mount", "plain"} {
		if _, err := m.ServiceStart(t.Context(), unit); err == nil || !strings.Contains(err.Error(), unit) {
			t.Errorf("%s: %v", unit, err)
		}
	}
}

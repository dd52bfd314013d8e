package host

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// fakeBus is a connection to a systemd that does what a test says.
type fakeBus struct {
	mu    sync.Mutex
	calls []string
	units map[string]map[string]any // by name: properties, of all interfaces together
	// onJob, if any, decides what becomes of a job; "" leaves it without a result.
	onJob   func(method, unit string) (string, error)
	results []chan<- string // of the jobs without one
	changed chan struct{}
	gone    chan struct{}
	err     error // of every question
}

func newFakeBus() *fakeBus {
	return &fakeBus{units: map[string]map[string]any{}, changed: make(chan struct{}, 1), gone: make(chan struct{})}
}

func (f *fakeBus) note(call string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, call)
	return f.err
}

func (f *fakeBus) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

func (f *fakeBus) enqueue(_ context.Context, method, unit string, result chan<- string) error {
	if err := f.note(method + " " + unit); err != nil {
		return err
	}
	text, err := "done", error(nil)
	if f.onJob != nil {
		text, err = f.onJob(method, unit)
	}
	if err == nil && text != "" {
		result <- text
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.results = append(f.results, result)
	return err
}

func (f *fakeBus) reload(context.Context) error { return f.note("Reload") }

func (f *fakeBus) loaded(_ context.Context, unit string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.units[unit]; !ok && f.err == nil {
		return errNoUnit
	}
	return f.err
}

func (f *fakeBus) properties(_ context.Context, object, iface string) (map[string]any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for unit, properties := range f.units {
		if object == unitObject(unit) {
			return properties, f.err
		}
	}
	if object == managerObject {
		return f.units["manager"], f.err
	}
	return map[string]any{"LoadState": "not-found", "ActiveState": "inactive", "SubState": "dead"}, f.err
}

func (f *fakeBus) set(unit, active, sub string) {
	f.put(unit, map[string]any{"LoadState": "loaded", "ActiveState": active, "SubState": sub})
}

// put gives a unit other properties, and notifies whoever watches it.
func (f *fakeBus) put(unit string, properties map[string]any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.units[unit] = properties
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

func (f *fakeBus) watch(context.Context, string) (<-chan struct{}, func(), error) {
	return f.changed, func() {}, f.note("watch")
}

func (f *fakeBus) lost() <-chan struct{} { return f.gone }
func (f *fakeBus) close()                {}

// systemdAt is systemd at the other end of the given connections, one after the other.
func systemdAt(conns ...bus) *systemd {
	return newSystemd(func(context.Context) (bus, error) {
		if len(conns) == 0 {
			return nil, errors.New("no systemd here")
		}
		conn := conns[0]
		conns = conns[1:]
		return conn, nil
	})
}

func TestJobs(t *testing.T) {
	conn := newFakeBus()
	m, _ := newMachine(t, conn)
	must(t, m.ReloadUnits(t.Context()))
	must(t, m.StartUnit(t.Context(), "containerd.service"))
	must(t, m.RestartUnit(t.Context(), "kubelet.service"))
	want := []string{"Reload", "StartUnit containerd.service", "RestartUnit kubelet.service"}
	if got := conn.seen(); !slices.Equal(got, want) {
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
		conn := newFakeBus()
		conn.units["kubelet.service"] = map[string]any{
			"LoadState": "loaded", "ActiveState": test.active, "SubState": "x", "Job": []any{test.job, "/"},
		}
		m, _ := newMachine(t, conn)
		state, err := m.UnitState(t.Context(), "kubelet.service")
		must(t, err)
		if state.Starting != test.want {
			t.Errorf("%s, job %d: starting is %v", test.active, test.job, state.Starting)
		}
	}
}

func TestNeedReload(t *testing.T) {
	const unit, own, vendor = "containerd.service", resource.UnitDir + "/containerd.service", "/usr/lib/systemd/system/containerd.service"
	loaded := func(fragment string, changed bool) map[string]any {
		return map[string]any{"LoadState": "loaded", "FragmentPath": fragment, "NeedDaemonReload": changed}
	}
	for _, test := range []struct {
		name  string
		has   map[string]any // what systemd has in memory; nil for nothing
		files []string
		want  bool
	}{
		{"not read yet", nil, []string{own}, false},
		{"as it is", loaded(own, false), []string{own}, false},
		{"changed", loaded(own, true), []string{own}, true},
		{"the vendor's, and no other", loaded(vendor, false), nil, false},
		{"the vendor's, and its own by now", loaded(vendor, false), []string{own}, true},
		{"looked for and not found", map[string]any{"LoadState": "not-found", "FragmentPath": ""}, []string{own}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			conn := newFakeBus()
			if test.has != nil {
				conn.units[unit] = test.has
			}
			m, at := newMachine(t, conn)
			for _, file := range test.files {
				write(t, at(file), "")
			}
			got, err := m.NeedReload(t.Context(), []string{"other.service", unit})
			must(t, err)
			if got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
			if calls := conn.seen(); len(calls) > 0 {
				t.Errorf("asking changed something: %q", calls)
			}
		})
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
		{"", errNoUnit, nil, []string{"start kubelet.service: no unit file has this name"}},
		{"", errMasked, nil, []string{"start kubelet.service: the unit is masked"}},
		{"", errors.New("systemd: refused"), map[string]any{"LoadState": "bad-setting", "ActiveState": "inactive", "SubState": "dead"},
			[]string{"start kubelet.service: systemd: refused", "load state bad-setting"}},
	} {
		conn := newFakeBus()
		conn.onJob = func(string, string) (string, error) { return test.result, test.err }
		if test.unit != nil {
			conn.units["kubelet.service"] = test.unit
		}
		wantError(t, systemdAt(conn).job(t.Context(), startMethod, "kubelet.service"), test.want...)
	}
}

func TestJobCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := newFakeBus()
		conn.onJob = func(string, string) (string, error) { return "", nil }
		conn.set("kubelet.service", "activating", "start")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		err := systemdAt(conn).job(ctx, startMethod, "kubelet.service")
		wantError(t, err, "start kubelet.service", "not done", "activating (start)")
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > time.Minute+explainTimeout {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

func TestLostConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// systemd executes itself again while it restarts a unit: the job is joined, not done twice.
		first, second := newFakeBus(), newFakeBus()
		second.units["kubelet.service"] = unitWith("deactivating", 5, "old")
		first.onJob = func(string, string) (string, error) {
			time.AfterFunc(time.Second, func() { close(first.gone) })
			return "", nil
		}
		must(t, systemdAt(first, second).job(t.Context(), restartMethod, "kubelet.service"))
		if got := first.seen(); !slices.Equal(got, []string{"RestartUnit kubelet.service"}) {
			t.Errorf("first: %q", got)
		}
		if got := second.seen(); !slices.Equal(got, []string{"StartUnit kubelet.service"}) {
			t.Errorf("second: %q", got)
		}

		// The connection was gone already, and nobody had noticed: the restart is still to be asked for.
		stale, fresh := newFakeBus(), newFakeBus()
		stale.err = errLost
		time.AfterFunc(time.Second, func() { close(stale.gone) })
		must(t, systemdAt(stale, fresh).job(t.Context(), restartMethod, "kubelet.service"))
		if got := fresh.seen(); !slices.Equal(got, []string{"RestartUnit kubelet.service"}) {
			t.Errorf("after a stale connection: %q", got)
		}

		// It does not come back.
		lost := newFakeBus()
		lost.err = errLost
		close(lost.gone)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		wantError(t, systemdAt(lost).reload(ctx), "reload systemd's units", "no systemd here")

		// It was never there.
		start := time.Now()
		_, err := systemdAt().state(t.Context(), "kubelet.service")
		wantError(t, err, "state of kubelet.service: connect to systemd: no systemd here")
		if took := time.Since(start); took > 0 {
			t.Errorf("took %s", took)
		}
	})
}

func TestConnectIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		entered := make(chan struct{})
		s := newSystemd(func(ctx context.Context) (bus, error) {
			close(entered)
			<-ctx.Done()
			return nil, ctx.Err()
		})
		slow, cancelSlow := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.reload(slow) }()
		<-entered
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.reload(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting for another's connection: %v", err)
		}
		cancelSlow()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("connecting: %v", err)
		}
	})
}

func TestUnitState(t *testing.T) {
	conn := newFakeBus()
	conn.set("a.service", "active", "running")
	conn.units["f.mount"] = map[string]any{"LoadState": "loaded", "ActiveState": "failed", "SubState": "failed", "Result": "exit-code"}
	conn.units["ok.service"] = map[string]any{"LoadState": "loaded", "ActiveState": "inactive", "SubState": "dead", "Result": "success"}
	m, _ := newMachine(t, conn)
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
	conn.units["odd.service"] = map[string]any{}
	if _, err := m.UnitState(t.Context(), "odd.service"); err == nil {
		t.Error("an answer without a state is taken")
	}
}

func TestProbeUnit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		probe := func(conn bus, timeout time.Duration) error {
			m, _ := newMachine(t, conn)
			return m.Probe(t.Context(), &resource.Check{UnitActive: "kubelet.service", Timeout: resource.Duration(timeout)})
		}
		conn := newFakeBus()
		for active, want := range map[string]string{
			"active": "", "reloading": "", "inactive": "is inactive (sub)", "failed": "is failed (sub)",
		} {
			conn.set("kubelet.service", active, "sub")
			err := probe(conn, time.Minute)
			if want == "" {
				must(t, err)
				continue
			}
			var checkErr *apply.CheckError
			if wantError(t, err, "unit: kubelet.service: "+want); !errors.As(err, &checkErr) || checkErr.Cause != resource.CauseUnit {
				t.Errorf("%s: %v", active, err)
			}
		}
		if slices.Contains(conn.seen(), "watch") {
			t.Error("a unit at rest is watched")
		}

		conn = newFakeBus()
		conn.set("kubelet.service", "activating", "auto-restart")
		wantError(t, probe(conn, time.Second), "is activating (auto-restart)", "deadline")
		time.AfterFunc(time.Second, func() { conn.set("kubelet.service", "deactivating", "stop") })
		time.AfterFunc(2*time.Second, func() { conn.set("kubelet.service", "activating", "start") })
		time.AfterFunc(3*time.Second, func() { conn.set("kubelet.service", "active", "running") })
		must(t, probe(conn, time.Minute))

		conn = newFakeBus()
		conn.set("kubelet.service", "activating", "start")
		time.AfterFunc(time.Second, func() { conn.set("kubelet.service", "failed", "failed") })
		wantError(t, probe(conn, time.Minute), "is failed")

		wantError(t, probe(newFakeBus(), time.Minute), "no unit file has this name")
	})
}

func TestProbePath(t *testing.T) {
	m, at := newMachine(t, nil)
	check := &resource.Check{PathExists: "/var/lib/kubelet/kubeconfig", Timeout: resource.Duration(time.Second)}
	err := m.Probe(t.Context(), check)
	var checkErr *apply.CheckError
	if !errors.As(err, &checkErr) || checkErr.Cause != resource.CauseMissing || checkErr.Endpoint != check.PathExists {
		t.Errorf("got %v", err)
	}
	wantError(t, err, "does not exist")
	check.Timeout = resource.Duration(time.Minute)
	go m.WriteFileAtomic(file(check.PathExists, "", 0o600))
	must(t, m.Probe(t.Context(), check))
	if _, err := m.ReadFile(check.PathExists, 1); err != nil {
		t.Errorf("%s: %v", at(check.PathExists), err)
	}
	wantError(t, m.Probe(t.Context(), &resource.Check{Label: "empty"}), "empty", "checks nothing")
}

func TestBootTimes(t *testing.T) {
	conn := newFakeBus()
	conn.units["manager"] = map[string]any{
		"KernelTimestamp":             uint64(1_700_000_000_000_001),
		"UserspaceTimestamp":          uint64(1_700_000_002_000_000),
		"UserspaceTimestampMonotonic": uint64(1_999_999),
		"FinishTimestamp":             uint64(0),
		"FirmwareTimestampMonotonic":  uint64(3_000_000),
		"Version":                     "252",
	}
	m, _ := newMachine(t, conn)
	got, err := m.BootTimes(t.Context())
	want := BootTimes{
		Kernel: time.UnixMicro(1_700_000_000_000_001).UTC(), Userspace: time.UnixMicro(1_700_000_002_000_000).UTC(),
		UserspaceAfter: 1_999_999 * time.Microsecond, FirmwareBefore: 3 * time.Second,
	}
	if err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}

	conn.units["ran.service"] = map[string]any{"ExecMainStartTimestamp": uint64(1_700_000_003_000_000)}
	conn.units["never.service"] = map[string]any{"ExecMainStartTimestamp": uint64(0)}
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

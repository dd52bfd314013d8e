package host

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
)

const faultyUnit = "kubelet.service"

// operations are all that is done to a unit, or asked of it.
var operations = map[string]func(context.Context, *Machine) error{
	"start":   func(ctx context.Context, m *Machine) error { return m.StartUnit(ctx, faultyUnit) },
	"restart": func(ctx context.Context, m *Machine) error { return m.RestartUnit(ctx, faultyUnit) },
	"stop":    func(ctx context.Context, m *Machine) error { return m.StopUnit(ctx, faultyUnit) },
	"state": func(ctx context.Context, m *Machine) error {
		_, err := m.UnitState(ctx, faultyUnit)
		return err
	},
	"check": func(ctx context.Context, m *Machine) error {
		return m.Probe(ctx, &resource.Check{UnitActive: faultyUnit, Timeout: resource.Duration(time.Minute)})
	},
	"reload needed": func(ctx context.Context, m *Machine) error {
		_, err := m.NeedReload(ctx, []string{faultyUnit})
		return err
	},
}

// faulty wants every operation to fail on a machine, soon after its deadline, in an error that names the
// unit.
func faulty(t *testing.T, machine func(t *testing.T) *Machine, names []string, texts ...string) {
	t.Helper()
	const deadline, grace = 80 * time.Millisecond, explainTimeout + lateLogTimeout + 500*time.Millisecond
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := machine(t)
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			start := time.Now()
			err := operations[name](ctx, m)
			wantError(t, err, append(texts, faultyUnit)...)
			if took := time.Since(start); took > deadline+grace {
				t.Errorf("took %s", took)
			}
		})
	}
}

var (
	jobs = []string{"start", "restart", "stop"}
	all  = []string{"start", "restart", "stop", "state", "check", "reload needed"}
)

func unitIs(load, active, sub, result string) map[string]any {
	return map[string]any{"LoadState": load, "ActiveState": active, "SubState": sub, "Result": result}
}

func TestSystemdJobFails(t *testing.T) {
	for _, result := range []string{"failed", "timeout"} {
		faulty(t, func(t *testing.T) *Machine {
			conn := newFakeBus()
			conn.onJob = func(string, string) (string, error) { return result, nil }
			conn.units[faultyUnit] = unitIs("loaded", "failed", "failed", "exit-code")
			m, _ := newMachine(t, conn)
			return m
		}, jobs, "result "+result, "result exit-code")
	}
}

// A job that has no end, as of a service of type notify that never says it is ready.
func TestSystemdUnitHangs(t *testing.T) {
	faulty(t, func(t *testing.T) *Machine {
		conn := newFakeBus()
		conn.onJob = func(string, string) (string, error) { return "", nil }
		conn.units[faultyUnit] = unitIs("loaded", "activating", "start", "")
		m, _ := newMachine(t, conn)
		return m
	}, []string{"start", "restart", "stop", "check"}, "activating (start)", "deadline exceeded")
}

func TestSystemdUnitMaskedOrMissing(t *testing.T) {
	machine := func(err error, load string) func(t *testing.T) *Machine {
		return func(t *testing.T) *Machine {
			conn := newFakeBus()
			conn.onJob = func(string, string) (string, error) { return "", err }
			conn.units[faultyUnit] = unitIs(load, "inactive", "dead", "")
			m, _ := newMachine(t, conn)
			return m
		}
	}
	faulty(t, machine(errMasked, "masked"), []string{"start", "restart", "check"}, "masked")
	faulty(t, machine(errNoUnit, "not-found"), []string{"start", "restart", "check"}, "there is no unit file of that name")
}

// The connection is lost in the middle of a job, and there is a new one: the job is joined.
func TestSystemdReconnects(t *testing.T) {
	for name, want := range map[string]string{"start": "StartUnit", "restart": "StartUnit", "stop": "StopUnit"} {
		first, second := newFakeBus(), newFakeBus()
		first.onJob = func(string, string) (string, error) {
			time.AfterFunc(5*time.Millisecond, func() { close(first.gone) })
			return "", nil
		}
		m, _ := newMachine(t, nil)
		m.systemd = systemdAt(first, second)
		m.systemd.delay = time.Millisecond
		must(t, operations[name](t.Context(), m))
		if got := second.seen(); !slices.Equal(got, []string{want + " " + faultyUnit}) {
			t.Errorf("%s: over the second connection %q", name, got)
		}
	}
	// And the job has failed meanwhile: to ask for it again tells so.
	faulty(t, func(t *testing.T) *Machine {
		first, second := newFakeBus(), newFakeBus()
		first.onJob = func(string, string) (string, error) {
			close(first.gone)
			return "", nil
		}
		second.onJob = func(string, string) (string, error) { return "failed", nil }
		second.units[faultyUnit] = unitIs("loaded", "failed", "failed", "signal")
		m, _ := newMachine(t, nil)
		m.systemd = systemdAt(first, second)
		m.systemd.delay = time.Millisecond
		return m
	}, jobs, "result failed", "result signal")
}

// The connection is lost in the middle of a job, and there is no other: not in time, or not at all.
func TestSystemdIsGone(t *testing.T) {
	lost := func() *fakeBus {
		conn := newFakeBus()
		conn.units[faultyUnit] = unitIs("loaded", "activating", "start", "")
		conn.onJob = func(string, string) (string, error) {
			close(conn.gone)
			return "", nil
		}
		return conn
	}
	faulty(t, func(t *testing.T) *Machine {
		m, _ := newMachine(t, nil)
		m.systemd = systemdAt(lost())
		m.systemd.delay = time.Millisecond
		return m
	}, jobs, "no systemd here")
	// Every question breaks the connection off, and so does each that follows.
	faulty(t, func(t *testing.T) *Machine {
		m, _ := newMachine(t, nil)
		m.systemd = newSystemd(func(context.Context) (bus, error) {
			conn := newFakeBus()
			conn.units[faultyUnit] = unitIs("loaded", "activating", "start", "")
			conn.err = errLost
			close(conn.gone)
			return conn, nil
		})
		return m
	}, all, "connection to systemd was lost")
	// Connecting hangs.
	faulty(t, func(t *testing.T) *Machine {
		m, _ := newMachine(t, nil)
		m.systemd = newSystemd(func(ctx context.Context) (bus, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		return m
	}, all, "deadline exceeded")
	// It was never there: nobody waits for it.
	faulty(t, func(t *testing.T) *Machine {
		m, _ := newMachine(t, nil)
		m.systemd = systemdAt()
		return m
	}, all, "connect to systemd: no systemd here")
}

// Gone for good, and time enough: it ends by itself.
func TestSystemdGivesUp(t *testing.T) {
	conn := newFakeBus()
	conn.onJob = func(string, string) (string, error) {
		close(conn.gone)
		return "", nil
	}
	m, _ := newMachine(t, nil)
	m.systemd = systemdAt(conn)
	m.systemd.delay = time.Millisecond
	wantError(t, m.StartUnit(t.Context(), faultyUnit), "start "+faultyUnit, "no systemd here")
}

// silentBus is connected to a systemd that has stopped answering.
type silentBus struct{ *fakeBus }

func (silentBus) enqueue(ctx context.Context, _, _ string, _ chan<- string) error {
	<-ctx.Done()
	return ctx.Err()
}

func (silentBus) loaded(ctx context.Context, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}

func (silentBus) properties(ctx context.Context, _, _ string) (map[string]any, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestSystemdIsSilent(t *testing.T) {
	faulty(t, func(t *testing.T) *Machine {
		m, _ := newMachine(t, silentBus{newFakeBus()})
		return m
	}, all, "deadline exceeded")
}

func TestStopUnit(t *testing.T) {
	conn := newFakeBus()
	m, _ := newMachine(t, conn)
	must(t, m.StopUnit(t.Context(), faultyUnit))
	if got := conn.seen(); !slices.Equal(got, []string{"StopUnit " + faultyUnit}) {
		t.Errorf("got %q", got)
	}
	conn.onJob = func(string, string) (string, error) { return "", errNoUnit }
	must(t, m.StopUnit(t.Context(), "missing.service"))
	conn.onJob = func(string, string) (string, error) { return "canceled", nil }
	wantError(t, m.StopUnit(t.Context(), faultyUnit), "stop "+faultyUnit, "result canceled")
	wantError(t, m.StopUnit(t.Context(), "kubelet"), "stop", "not a unit's name")

	// It returns when the job is done, and not before.
	conn.onJob = func(string, string) (string, error) { return "", nil }
	var mu sync.Mutex
	var done bool
	time.AfterFunc(20*time.Millisecond, func() {
		mu.Lock()
		done = true
		mu.Unlock()
		conn.mu.Lock()
		defer conn.mu.Unlock()
		conn.results[len(conn.results)-1] <- "done"
	})
	must(t, m.StopUnit(t.Context(), faultyUnit))
	mu.Lock()
	defer mu.Unlock()
	if !done {
		t.Error("it returns before the job is done")
	}
}

func TestDBusStop(t *testing.T) {
	p := newPeer(t)
	m := p.machine()
	must(t, m.StopUnit(t.Context(), "done.service"))
	must(t, m.StopUnit(t.Context(), "missing.service"))
	wantError(t, m.StopUnit(t.Context(), "failed.service"), "stop failed.service: its job failed")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if err := m.StopUnit(ctx, "never.service"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

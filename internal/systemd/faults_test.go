package systemd_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/probe"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/systemd"
	"github.com/slipway-dev/slipway/test/hosttest"
)

const faultyUnit = "kubelet.service"

// operations are all changes of a unit and all questions about it.
var operations = map[string]func(context.Context, *systemd.Manager) error{
	"start":   func(ctx context.Context, m *systemd.Manager) error { return m.StartUnit(ctx, faultyUnit) },
	"restart": func(ctx context.Context, m *systemd.Manager) error { return m.RestartUnit(ctx, faultyUnit) },
	"stop":    func(ctx context.Context, m *systemd.Manager) error { return m.StopUnit(ctx, faultyUnit) },
	"state": func(ctx context.Context, m *systemd.Manager) error {
		_, err := m.UnitState(ctx, faultyUnit)
		return err
	},
	"check": func(ctx context.Context, m *systemd.Manager) error {
		return probe.Wait(ctx, nil, m, &resource.Check{UnitActive: faultyUnit, Timeout: resource.Duration(time.Minute)})
	},
	"reload needed": func(ctx context.Context, m *systemd.Manager) error {
		_, err := m.Stale(ctx, faultyUnit, "")
		return err
	},
}

// faulty requires that every operation fails on a machine, soon after its deadline, with an error that names the unit.
func faulty(t *testing.T, machine func(t *testing.T) *systemd.Manager, names []string, texts ...string) {
	t.Helper()
	const deadline, grace = 2 * time.Second, systemd.ExplainTimeout + systemd.LateLogTimeout
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
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
		faulty(t, func(t *testing.T) *systemd.Manager {
			conn := hosttest.NewBus()
			conn.OnJob = func(string, string) (string, error) { return result, nil }
			conn.Units[faultyUnit] = unitIs("loaded", "failed", "failed", "exit-code")
			m := hosttest.Systemd(conn)
			return m
		}, jobs, "result "+result, "result exit-code")
	}
}

// A job that never ends, for example of a service of type notify that never reports that it is ready.
func TestSystemdUnitHangs(t *testing.T) {
	faulty(t, func(t *testing.T) *systemd.Manager {
		conn := hosttest.NewBus()
		conn.OnJob = func(string, string) (string, error) { return "", nil }
		conn.Units[faultyUnit] = unitIs("loaded", "activating", "start", "")
		m := hosttest.Systemd(conn)
		return m
	}, []string{"start", "restart", "stop", "check"}, "activating (start)", "deadline exceeded")
}

func TestSystemdUnitMaskedOrMissing(t *testing.T) {
	machine := func(err error, load string) func(t *testing.T) *systemd.Manager {
		return func(t *testing.T) *systemd.Manager {
			conn := hosttest.NewBus()
			conn.OnJob = func(string, string) (string, error) { return "", err }
			conn.Units[faultyUnit] = unitIs(load, "inactive", "dead", "")
			m := hosttest.Systemd(conn)
			return m
		}
	}
	faulty(t, machine(systemd.ErrMasked, "masked"), []string{"start", "restart", "check"}, "masked")
	faulty(t, machine(systemd.ErrNoUnit, "not-found"), []string{"start", "restart", "check"}, "no unit file has this name")
}

// unitWith is a unit's state, with the number of its job and the ID of its start.
func unitWith(active string, job uint32, invocation string) map[string]any {
	properties := unitIs("loaded", active, "sub", "success")
	properties["Job"], properties["InvocationID"] = []any{job, "/job"}, []byte(invocation)
	return properties
}

// systemd re-executes very often during a job: after each new connection, the caller finds out the job's state. Nothing
// is done twice, and nothing is lost.
func TestSystemdExecutesItselfAgain(t *testing.T) {
	const times = 40
	for _, c := range []struct {
		name      string
		unheard   bool           // each request is lost before systemd has read it
		meanwhile map[string]any // the unit's state after each loss
		want      string         // the requests over the second connection, and over the last
		fails     string
	}{
		{"start", false, unitWith("activating", 7, "new"), "StartUnit StartUnit", ""},
		{"restart", false, unitWith("deactivating", 7, "old"), "StartUnit StartUnit", ""},
		{"restart", true, unitWith("active", 0, "old"), "RestartUnit RestartUnit", ""},
		{"restart", true, unitWith("activating", 0, "old"), "RestartUnit RestartUnit", ""}, // by itself
		{"start", true, unitWith("inactive", 0, "old"), "StartUnit StartUnit", ""},
		{"stop", false, unitWith("deactivating", 7, "old"), "StopUnit StopUnit", ""},
		// The job has ended when there is a connection again.
		{"start", false, unitWith("active", 0, "new"), "", ""},
		{"restart", false, unitWith("active", 0, "new"), "", ""},
		{"start", false, unitWith("inactive", 0, "new"), "", ""}, // of type oneshot
		{"start", false, unitWith("failed", 0, "new"), "", "result failed"},
		{"restart", false, unitWith("failed", 0, "new"), "", "result failed"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var conns []systemd.Bus
			for i := range times {
				conn := hosttest.NewBus()
				conn.Units[faultyUnit] = unitWith("active", 0, "old")
				if i > 0 {
					conn.Units[faultyUnit] = c.meanwhile
				}
				if i < times-1 {
					conn.OnJob = func(string, string) (string, error) {
						close(conn.Gone)
						if c.unheard {
							return "", systemd.ErrLost
						}
						return "", nil
					}
				}
				conns = append(conns, conn)
			}
			m := hosttest.Systemd(conns...)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			err := operations[c.name](ctx, m)
			cancel()
			if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
				t.Errorf("%+v: %v", c, err)
			}
			var got []string
			for _, conn := range []systemd.Bus{conns[1], conns[times-1]} {
				for _, call := range conn.(*hosttest.Bus).Seen() {
					got = append(got, strings.TrimSuffix(call, " "+faultyUnit))
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%+v: over the new connections %q", c, got)
			}
		})
	}
}

// The connection is lost during a job, and there is no other: not in time, or never.
func TestSystemdIsGone(t *testing.T) {
	lost := func() *hosttest.Bus {
		conn := hosttest.NewBus()
		conn.Units[faultyUnit] = unitIs("loaded", "activating", "start", "")
		conn.OnJob = func(string, string) (string, error) {
			close(conn.Gone)
			return "", nil
		}
		return conn
	}
	faulty(t, func(t *testing.T) *systemd.Manager {
		m := hosttest.Systemd(lost())
		return m
	}, jobs, "no systemd here")
	// Every request breaks the connection, also the repeated ones.
	faulty(t, func(t *testing.T) *systemd.Manager {
		m := systemd.New(func(context.Context) (systemd.Bus, error) {
			conn := hosttest.NewBus()
			conn.Units[faultyUnit] = unitIs("loaded", "activating", "start", "")
			conn.Err = systemd.ErrLost
			close(conn.Gone)
			return conn, nil
		}, noJournal)
		return m
	}, all, "connection to systemd was lost")
	// Connecting hangs.
	faulty(t, func(t *testing.T) *systemd.Manager {
		m := systemd.New(func(ctx context.Context) (systemd.Bus, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, noJournal)
		return m
	}, all, "deadline exceeded")
	// systemd was never there, so no operation waits for it.
	faulty(t, func(t *testing.T) *systemd.Manager {
		m := hosttest.Systemd()
		return m
	}, all, "connect to systemd: no systemd here")
}

// systemd is gone for good, and the call has no deadline: it gives up.
func TestSystemdGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := hosttest.NewBus()
		conn.OnJob = func(string, string) (string, error) {
			close(conn.Gone)
			return "", nil
		}
		m := hosttest.Systemd(conn)
		wantError(t, m.StartUnit(t.Context(), faultyUnit), "start "+faultyUnit, "no systemd here")
	})
}

// silentBus is a connection to a systemd that has stopped answering.
type silentBus struct{ *hosttest.Bus }

func (silentBus) Enqueue(ctx context.Context, _, _ string, _ chan<- string) error {
	<-ctx.Done()
	return ctx.Err()
}

func (silentBus) UnitFile(ctx context.Context, _, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}

func (silentBus) Loaded(ctx context.Context, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}

func (silentBus) Unit(ctx context.Context, _ string) (systemd.Listed, error) {
	<-ctx.Done()
	return systemd.Listed{}, ctx.Err()
}

func (silentBus) Properties(ctx context.Context, _, _ string, _ ...string) (map[string]any, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestSystemdIsSilent(t *testing.T) {
	faulty(t, func(t *testing.T) *systemd.Manager {
		m := hosttest.Systemd(silentBus{hosttest.NewBus()})
		return m
	}, all, "deadline exceeded")
}

func TestStopUnit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := hosttest.NewBus()
		m := hosttest.Systemd(conn)
		must(t, m.StopUnit(t.Context(), faultyUnit))
		if got := conn.Seen(); !slices.Equal(got, []string{"StopUnit " + faultyUnit}) {
			t.Errorf("got %q", got)
		}
		conn.OnJob = func(string, string) (string, error) { return "", systemd.ErrNoUnit }
		must(t, m.StopUnit(t.Context(), "missing.service"))
		conn.OnJob = func(string, string) (string, error) { return "canceled", nil }
		wantError(t, m.StopUnit(t.Context(), faultyUnit), "stop "+faultyUnit, "result canceled")
		wantError(t, m.StopUnit(t.Context(), "kubelet"), "stop", "is not a unit name")

		// The operation returns when the job is done, and not before.
		conn.OnJob = func(string, string) (string, error) { return "", nil }
		var done atomic.Bool
		time.AfterFunc(time.Second, func() {
			done.Store(true)
			conn.Finish("done")
		})
		must(t, m.StopUnit(t.Context(), faultyUnit))
		if !done.Load() {
			t.Error("it returns before the job is done")
		}
	})
}

func TestDBusStop(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	m := p.manager()
	must(t, m.StopUnit(t.Context(), "done.service"))
	must(t, m.StopUnit(t.Context(), "missing.service"))
	wantError(t, m.StopUnit(t.Context(), "failed.service"), "stop failed.service: its job failed")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := m.StopUnit(ctx, "never.service"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

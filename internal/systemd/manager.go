package systemd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/poll"
)

// ManagerObject is the D-Bus object of systemd itself.
const ManagerObject = "/org/freedesktop/systemd1"

// The names of systemd's interfaces.
const (
	managerInterface = "org.freedesktop.systemd1.Manager"
	unitInterface    = "org.freedesktop.systemd1.Unit"
	// propertiesInterface is D-Bus's (D-Bus specification, "org.freedesktop.DBus.Properties").
	propertiesInterface = "org.freedesktop.DBus.Properties"
)

// ErrLost means that the connection to systemd ended, or that systemd did not answer over it. systemd closes it when it
// re-executes, as during an upgrade of its package; its jobs continue.
var ErrLost = errors.New("the connection to systemd was lost")

const (
	// connectTimeout limits one attempt to connect to systemd, which takes milliseconds.
	connectTimeout = 10 * time.Second
	// reconnects is how often a lost connection is restored for one call without a deadline. A call with one is tried
	// until then.
	reconnects = 30
	// reconnectDelay is the pause before the first of them. It doubles each time, up to maxReconnectDelay times its
	// length.
	reconnectDelay    = 100 * time.Millisecond
	maxReconnectDelay = 20
	// linger is how long an unused connection stays open.
	linger = 20 * time.Millisecond
	// firstLook is the pause before another look at a unit. It doubles each time, up to maxLook.
	firstLook, maxLook = 50 * time.Millisecond, time.Second
	// explainTimeout limits the request for the reason of a failure, after the call's time is over.
	explainTimeout = 500 * time.Millisecond
)

// Bus is an open connection to systemd. Its methods return [ErrLost] when it ends.
type Bus interface {
	// Enqueue requests a job on a unit by one of the manager's methods (StartUnit, RestartUnit, ...). The job's result
	// is sent to result, which must have space for it.
	Enqueue(ctx context.Context, method, unit string, result chan<- string) error
	// Run requests a transient service that runs commands, one after the other. Its job's result is sent to result,
	// which must have space for it.
	Run(ctx context.Context, service string, commands [][]string, result chan<- string) error
	// Reload makes systemd read its unit files again.
	Reload(ctx context.Context) error
	// UnitFile changes, by one of the manager's methods, whether a unit starts at boot, or can start at all.
	UnitFile(ctx context.Context, method, unit string) error
	// List returns the units that systemd has in memory, or those of them in one of some states (systemctl(1), --state).
	List(ctx context.Context, states ...string) ([]Listed, error)
	// Loaded returns [ErrNoUnit] if systemd does not have a unit in memory. It does not make systemd read the unit.
	Loaded(ctx context.Context, unit string) error
	// Unit returns a unit's state. If systemd does not have the unit in memory, it reads it once.
	Unit(ctx context.Context, unit string) (Listed, error)
	// Properties returns named properties of an object's interface. If systemd does not have a unit in memory, it reads
	// it for each of the names.
	Properties(ctx context.Context, object, iface string, names ...string) (map[string]any, error)
	// Lost is closed when the connection has ended.
	Lost() <-chan struct{}
	Close()
}

// Listed is a unit's state, as systemd lists it. The unit's properties include it, too, but collecting them takes
// systemd as long as reading the unit.
type Listed struct {
	Name, Load, Active, Sub string
	// Job is the number of the unit's waiting or running job, or 0.
	Job uint32
}

// Manager is the machine's systemd, with a connection during requests. Several goroutines may use it at once.
type Manager struct {
	connect func(context.Context) (Bus, error)
	journal Journal
	turn    chan struct{} // held while connecting; in contrast to a mutex, waiting for it can be cancelled
	delay   time.Duration // before the first reconnect

	mu   sync.Mutex
	conn *shared
	met  bool // whether there was a connection, so systemd exists
}

// shared is a connection, and the number of its users.
type shared struct {
	Bus
	users int
	idle  *time.Timer // closes it when it fires
}

// New returns a systemd with a function that connects to it, which is [Connect] on a machine, and one that reads
// journals.
func New(connect func(context.Context) (Bus, error), journal Journal) *Manager {
	return &Manager{connect: connect, journal: journal, turn: make(chan struct{}, 1), delay: reconnectDelay}
}

// bus returns the connection. It connects if there is no connection or it was lost. The caller calls release after its last
// use.
func (m *Manager) bus(ctx context.Context) (conn Bus, release func(), err error) {
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	used := m.use()
	if used == nil {
		attempt, cancel := context.WithTimeout(ctx, connectTimeout)
		defer cancel()
		conn, err := m.connect(attempt)
		m.mu.Lock()
		defer m.mu.Unlock()
		switch {
		case err == nil:
		case errors.Is(attempt.Err(), context.DeadlineExceeded):
			return nil, nil, silentError{err}
		case m.met:
			return nil, nil, fmt.Errorf("%w: connect to systemd: %w", ErrLost, err)
		default:
			return nil, nil, fmt.Errorf("connect to systemd: %w", err)
		}
		used = &shared{Bus: conn, users: 1}
		m.conn, m.met = used, true
	}
	return used, func() { m.release(used) }, nil
}

// use returns the open connection and counts another user. It returns nil if no connection is open.
func (m *Manager) use() *shared {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn == nil {
		return nil
	}
	if m.conn.idle != nil {
		m.conn.idle.Stop()
	}
	select {
	case <-m.conn.Lost():
		m.conn.Close()
		m.conn = nil
		return nil
	default:
		m.conn.users++
		return m.conn
	}
}

// release closes a connection that has become unused. systemd sends every change of every unit to each connection of
// its socket, also unrequested (systemd v252 src/core/dbus.c, bus_foreach_bus), and sends nothing without a connection
// (dbus-unit.c, bus_unit_send_change_signal). During a boot that is most of an agent's cost.
func (m *Manager) release(used *shared) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if used.users--; used.users == 0 && used == m.conn {
		used.idle = time.AfterFunc(linger, func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			if used.users == 0 && used == m.conn {
				m.conn.Close()
				m.conn = nil
			}
		})
	}
}

// silentError is a connection that was not made in time. systemd exists, but hangs like its machine, or reads its units
// from a slow disk: the error is an [ErrLost], after which the request is repeated.
type silentError struct{ error }

func (e silentError) Error() string { return "systemd does not answer: " + e.error.Error() }

func (silentError) Is(target error) bool { return target == ErrLost }

func (e silentError) Unwrap() error { return e.error }

// do calls systemd. If the connection is lost, or systemd does not answer, do calls again over a new connection, until
// ctx is done. If the first connection is refused, do returns an error at once: there may be no systemd.
func (m *Manager) do(ctx context.Context, call func(conn Bus) error) error {
	_, bounded := ctx.Deadline()
	delay := m.delay
	for attempt := 0; ; attempt++ {
		conn, release, err := m.bus(ctx)
		if err == nil {
			delay = m.delay
			err = call(conn)
			release()
		}
		if !errors.Is(err, ErrLost) || attempt == reconnects && !bounded || ctx.Err() != nil {
			return err
		}
		if !poll.Sleep(ctx, delay) {
			return fmt.Errorf("%w: %w", err, ctx.Err())
		}
		delay = min(2*delay, maxReconnectDelay*m.delay)
	}
}

// Close ends the connection, if there is one.
func (m *Manager) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn != nil {
		m.conn.Close()
		m.conn = nil
	}
}

// ReloadUnits makes systemd read its unit files again, and returns when it has.
func (m *Manager) ReloadUnits(ctx context.Context) error {
	err := m.do(ctx, func(conn Bus) error {
		return failpoint.Pass(failpoint.Change{Kind: failpoint.Reload}, func() error { return conn.Reload(ctx) })
	})
	if err != nil {
		return fmt.Errorf("reload systemd's units: %w", err)
	}
	return nil
}

// Stale reports whether systemd has an outdated version of a unit in memory. fragment is the unit's present file, if
// known: systemd notices changes of the file that it has read, and new drop-ins, but not that another file now takes
// precedence.
func (m *Manager) Stale(ctx context.Context, unit, fragment string) (bool, error) {
	if err := checkUnit(unit); err != nil {
		return false, err
	}
	properties, err := m.loaded(ctx, unit, unitInterface, "NeedDaemonReload", "FragmentPath", "LoadState")
	if errors.Is(err, ErrNoUnit) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("unit file of %s: %w", unit, err)
	}
	changed, _ := properties["NeedDaemonReload"].(bool)
	path, _ := properties["FragmentPath"].(string)
	return changed || properties["LoadState"] != "loaded" || fragment != "" && path != fragment, nil
}

// UnitState returns a unit's state. A missing unit has ActiveState "inactive" and LoadState "not-found".
func (m *Manager) UnitState(ctx context.Context, unit string) (apply.UnitState, error) {
	if err := checkUnit(unit); err != nil {
		return apply.UnitState{}, err
	}
	var state apply.UnitState
	err := m.do(ctx, func(conn Bus) (err error) {
		state, err = readState(ctx, conn, unit)
		return err
	})
	if err != nil {
		return apply.UnitState{}, fmt.Errorf("state of %s: %w", unit, err)
	}
	return state, nil
}

// UnitEnabled reports whether a boot starts a unit through the unit's link (systemctl(1), is-enabled).
func (m *Manager) UnitEnabled(ctx context.Context, unit string) (bool, error) {
	if err := checkUnit(unit); err != nil {
		return false, err
	}
	properties, err := m.properties(ctx, UnitObject(unit), unitInterface, "UnitFileState")
	if errors.Is(err, ErrNoUnit) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("whether a boot starts %s: %w", unit, err)
	}
	state, _ := properties["UnitFileState"].(string)
	return strings.HasPrefix(state, "enabled"), nil
}

func readState(ctx context.Context, conn Bus, unit string) (apply.UnitState, error) {
	listed, err := conn.Unit(ctx, unit)
	if errors.Is(err, ErrNoUnit) {
		return apply.UnitState{LoadState: "not-found", ActiveState: "inactive", SubState: "dead"}, nil
	}
	if err != nil {
		return apply.UnitState{}, err
	}
	state := apply.UnitState{LoadState: listed.Load, ActiveState: listed.Active, SubState: listed.Sub}
	if state.LoadState == "" || state.ActiveState == "" {
		return apply.UnitState{}, errors.New("systemd's answer has no unit state")
	}
	state.Starting = state.ActiveState == "activating" || state.ActiveState == "inactive" && listed.Job != 0 // a job that starts it
	if iface := typeInterface(unit); state.ActiveState == "failed" && iface != "" {
		properties, err := conn.Properties(ctx, UnitObject(unit), iface, "Result")
		if err != nil {
			return apply.UnitState{}, err
		}
		state.Result, _ = properties["Result"].(string)
	}
	return state, nil
}

// jobNumber is the number of the unit's waiting or running job, or 0.
func jobNumber(properties map[string]any) uint32 {
	job, _ := properties["Job"].([]any)
	if len(job) == 0 {
		return 0
	}
	number, _ := job[0].(uint32)
	return number
}

// WaitActive waits until a unit is active. It returns an error with the unit's state if the unit will not become active
// by itself, or has not when ctx is done.
func (m *Manager) WaitActive(ctx context.Context, unit string) error {
	if err := checkUnit(unit); err != nil {
		return err
	}
	var last apply.UnitState
	err := m.look(ctx, func(conn Bus) (enough bool, err error) {
		state, err := readState(ctx, conn, unit)
		if err == nil {
			last = state
		}
		return !changing(state), err
	})
	switch {
	case err == nil && IsActive(last):
		return nil
	case err == nil:
		return fmt.Errorf("is %s", Describe(last))
	case last != apply.UnitState{}:
		return fmt.Errorf("is %s: %w", Describe(last), err)
	}
	return err
}

// look asks systemd repeatedly until see has seen enough. There is no connection between two looks, because systemd
// sends all changes to every connection.
func (m *Manager) look(ctx context.Context, see func(conn Bus) (enough bool, err error)) error {
	return poll.Until(ctx, firstLook, maxLook, func() (enough bool, err error) {
		err = m.do(ctx, func(conn Bus) (err error) {
			enough, err = see(conn)
			return err
		})
		return enough, err
	})
}

// IsActive reports whether a unit runs, also while it reloads its configuration.
func IsActive(state apply.UnitState) bool {
	return slices.Contains([]string{"active", "reloading", "refreshing"}, state.ActiveState)
}

// changing reports whether a unit's state will soon change by itself.
func changing(state apply.UnitState) bool {
	return state.ActiveState == "activating" || state.ActiveState == "deactivating"
}

// Describe describes a unit's state for people: "failed (failed), result exit-code".
func Describe(state apply.UnitState) string {
	switch state.LoadState {
	case "not-found":
		return "missing: no unit file has this name"
	case "masked":
		return "masked"
	case "loaded", "":
	default:
		return fmt.Sprintf("%s, its unit file has load state %s", state.ActiveState, state.LoadState)
	}
	text := state.ActiveState
	if state.SubState != "" && state.SubState != state.ActiveState {
		text += " (" + state.SubState + ")"
	}
	if state.Result != "" && state.Result != "success" {
		text += ", result " + state.Result
	}
	return text
}

// checkUnit requires a unit's full name: "containerd.service".
func checkUnit(unit string) error {
	if i := strings.LastIndexByte(unit, '.'); i <= 0 || i == len(unit)-1 || strings.ContainsAny(unit, "/\x00 \n") {
		return fmt.Errorf("unit %q: is not a unit name, such as kubelet.service", unit)
	}
	return nil
}

// typeInterface is the interface of a unit's type if that has a result, or "".
func typeInterface(unit string) string {
	switch kind := unit[strings.LastIndexByte(unit, '.')+1:]; kind {
	case "service", "socket", "mount", "automount", "swap", "timer", "path", "scope":
		return "org.freedesktop.systemd1." + strings.ToUpper(kind[:1]) + kind[1:]
	}
	return ""
}

package systemd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	systemdName = "org.freedesktop.systemd1"
	// privateSocket is systemd's socket for the superuser: it works earlier than the message bus, and without it.
	privateSocket = "/run/systemd/private"
	systemSocket  = "/run/dbus/system_bus_socket"
	// firstKnock is how long to wait for systemd's answer before the request is repeated. It doubles each time, up to
	// maxKnock.
	firstKnock, maxKnock = 4 * time.Millisecond, 250 * time.Millisecond
)

// ErrNoUnit means that systemd knows no unit by this name, and ErrMasked that it must not start the unit.
var (
	ErrNoUnit = errors.New("no unit file has this name")
	ErrMasked = errors.New("the unit is masked")
)

// lostAnswers are a message bus's errors if systemd is missing, or was not there long enough to answer (D-Bus
// specification, "org.freedesktop.DBus.Error"): it is re-executing.
var lostAnswers = []string{
	"org.freedesktop.DBus.Error.NoReply",
	"org.freedesktop.DBus.Error.Disconnected",
	"org.freedesktop.DBus.Error.ServiceUnknown",
	"org.freedesktop.DBus.Error.NameHasNoOwner",
	"org.freedesktop.DBus.Error.NoServer",
}

// Connect connects to systemd, by its socket or else by the message bus.
func Connect(ctx context.Context) (Bus, error) {
	private, err := dialSystemd(ctx, privateSocket, false)
	if err == nil {
		return private, nil
	}
	system, systemErr := dialSystemd(ctx, systemSocket, true)
	if systemErr == nil {
		return system, nil
	}
	return nil, fmt.Errorf("%w; %w", err, systemErr)
}

// connection is a bus over D-Bus.
type connection struct {
	conn *dbus.Conn
	// life is the connection's context: it is done when the connection ends, and cancelling it ends the connection.
	life context.Context
	end  context.CancelFunc
	mu   sync.Mutex
	jobs map[dbus.ObjectPath][]chan<- string // the waiters for each job's result
}

// dialSystemd connects to systemd at a socket. A message bus in between needs a greeting. ctx limits only the
// connecting.
func dialSystemd(ctx context.Context, socket string, hello bool) (*connection, error) {
	c := &connection{jobs: make(map[dbus.ObjectPath][]chan<- string)}
	// A D-Bus connection lives as long as its context, and this one must outlive the call. But ctx cancels every step
	// of connecting.
	c.life, c.end = context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, c.end)()
	err := c.dial(socket, hello)
	if err == nil && c.life.Err() != nil {
		c.conn.Close()
		err = ErrLost
	}
	if err != nil {
		// Something listened and hung up: systemd exists.
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
			err = fmt.Errorf("%w: %w", ErrLost, err)
		}
		c.end()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("%s: %w", socket, err)
	}
	context.AfterFunc(c.conn.Context(), c.end)
	return c, nil
}

func (c *connection) dial(socket string, hello bool) error {
	var dialer net.Dialer
	raw, err := dialer.DialContext(c.life, "unix", socket)
	if err != nil {
		return err
	}
	conn, err := dbus.NewConn(newSignalFilter(raw), dbus.WithContext(c.life))
	if err != nil {
		raw.Close()
		return err
	}
	// systemd sends its signals to every connection on its socket; a message bus passes on only the requested ones.
	signals := make(chan *dbus.Signal, 64)
	conn.Signal(signals)
	// The user is given by number: a name would need a look-up.
	err = conn.Auth([]dbus.Auth{dbus.AuthExternal(strconv.Itoa(os.Getuid()))})
	switch {
	case err != nil:
	case hello:
		err = conn.Hello()
	default:
		err = c.failure(ping(c.life, conn))
	}
	if err == nil && hello {
		err = conn.AddMatchSignalContext(c.life, dbus.WithMatchInterface(managerInterface), dbus.WithMatchMember(jobRemoved))
	}
	if err != nil {
		conn.Close()
		return err
	}
	c.conn = conn
	go func() {
		for signal := range signals { // until the connection is closed
			c.hear(signal)
		}
	}()
	return nil
}

// ping waits until systemd answers on its socket. systemd reads what arrives together with the last line of the
// greeting, but processes it only when other data comes or goes (systemd v252 src/libsystemd/sd-bus/bus-socket.c,
// bus_socket_auth_verify_server and bus_socket_read_auth): a first call can stay unanswered as long as nothing else
// happens on the machine. So ping repeats it.
func ping(ctx context.Context, conn *dbus.Conn) error {
	const ping = "org.freedesktop.DBus.Peer.Ping"
	systemd := conn.Object(systemdName, ManagerObject)
	first := systemd.GoWithContext(ctx, ping, 0, make(chan *dbus.Call, 1))
	for delay := firstKnock; ; delay = min(2*delay, maxKnock) {
		select {
		case answer := <-first.Done:
			return answer.Err
		case <-time.After(delay):
			systemd.GoWithContext(ctx, ping, dbus.FlagNoReplyExpected, nil)
		}
	}
}

func (c *connection) Lost() <-chan struct{} { return c.life.Done() }

func (c *connection) Close() {
	c.conn.Close()
	c.end()
}

// jobRemoved is the signal that a job has ended: its number, object and unit, and its result (org.freedesktop.systemd1(5)).
const jobRemoved = "JobRemoved"

// hear passes a job's result to its waiters.
func (c *connection) hear(signal *dbus.Signal) {
	if signal.Name != managerInterface+"."+jobRemoved || len(signal.Body) < 4 {
		return
	}
	job, _ := signal.Body[1].(dbus.ObjectPath)
	result, _ := signal.Body[3].(string)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, waits := range c.jobs[job] {
		waits <- result
	}
	delete(c.jobs, job)
}

// job starts a job with the manager. It receives no results until it knows the job's object.
func (c *connection) job(ctx context.Context, result chan<- string, method string, args ...any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var job dbus.ObjectPath
	if err := c.manager(ctx, method, args...).Store(&job); err != nil {
		return c.failure(err)
	}
	c.jobs[job] = append(c.jobs[job], result)
	return nil
}

// manager calls a method of systemd's manager.
func (c *connection) manager(ctx context.Context, method string, args ...any) *dbus.Call {
	return c.conn.Object(systemdName, ManagerObject).CallWithContext(ctx, managerInterface+"."+method, 0, args...)
}

func (c *connection) Enqueue(ctx context.Context, method, unit string, result chan<- string) error {
	return c.job(ctx, result, method, unit, "replace")
}

// property is one of a unit that has no file, as systemd takes it: (sv).
type property struct {
	Name  string
	Value dbus.Variant
}

// auxiliary is an additional unit of such a unit. It is always empty.
type auxiliary struct {
	Name       string
	Properties []property
}

// command is one of a service's, as systemd takes it: a(sasb).
type command struct {
	Path string
	Argv []string
	// MayFail reports whether the service continues if the command fails.
	MayFail bool
}

func (c *connection) Run(ctx context.Context, service string, commands [][]string, result chan<- string) error {
	var list []command
	for _, argv := range commands {
		list = append(list, command{Path: argv[0], Argv: argv})
	}
	return c.job(ctx, result, "StartTransientUnit", service, "fail", []property{
		// Everyone can read the description, and an argument may be a credential.
		{"Description", dbus.MakeVariant("Slipway: " + commands[len(commands)-1][0])},
		{"Type", dbus.MakeVariant("oneshot")},
		{"DefaultDependencies", dbus.MakeVariant(false)},
		{"CollectMode", dbus.MakeVariant("inactive-or-failed")},
		{"ExecStart", dbus.MakeVariant(list)},
	}, []auxiliary{})
}

func (c *connection) Reload(ctx context.Context) error {
	return c.failure(c.manager(ctx, "Reload").Err)
}

// unitFileArgs are each method's arguments after the units: whether it is for this boot only, and whether it replaces
// existing links.
var unitFileArgs = map[string][]any{
	maskMethod: {false, false}, unmaskMethod: {false}, enableMethod: {false, false}, disableMethod: {false},
}

func (c *connection) UnitFile(ctx context.Context, method, unit string) error {
	return c.failure(c.manager(ctx, method, append([]any{[]string{unit}}, unitFileArgs[method]...)...).Err)
}

func (c *connection) Loaded(ctx context.Context, unit string) error {
	return c.failure(c.manager(ctx, "GetUnit", unit).Err)
}

// listed is a unit as systemd lists it: (ssssssouso).
type listed struct {
	Name, Description, Load, Active, Sub, Following string
	Object                                          dbus.ObjectPath
	Job                                             uint32
	JobType                                         string
	JobObject                                       dbus.ObjectPath
}

func (u *listed) state() Listed { return Listed{u.Name, u.Load, u.Active, u.Sub, u.Job} }

func (c *connection) List(ctx context.Context, states ...string) ([]Listed, error) {
	var units []listed
	if err := c.manager(ctx, "ListUnitsFiltered", states).Store(&units); err != nil {
		return nil, c.failure(err)
	}
	all := make([]Listed, len(units))
	for i := range units {
		all[i] = units[i].state()
	}
	return all, nil
}

func (c *connection) Unit(ctx context.Context, unit string) (Listed, error) {
	var units []listed
	if err := c.manager(ctx, "ListUnitsByNames", []string{unit}).Store(&units); err != nil {
		return Listed{}, c.failure(err)
	}
	if len(units) == 0 {
		return Listed{}, ErrNoUnit
	}
	return units[0].state(), nil
}

// Properties sends all requests before it reads the first answer.
func (c *connection) Properties(ctx context.Context, object, iface string, names ...string) (map[string]any, error) {
	calls := make([]*dbus.Call, len(names))
	for i, name := range names {
		calls[i] = c.conn.Object(systemdName, dbus.ObjectPath(object)).
			GoWithContext(ctx, propertiesInterface+".Get", 0, make(chan *dbus.Call, 1), iface, name)
	}
	properties := make(map[string]any, len(names))
	var first error
	for i, call := range calls {
		var variant dbus.Variant
		if err := (<-call.Done).Store(&variant); err != nil && first == nil {
			first = c.failure(err)
		}
		properties[names[i]] = variant.Value()
	}
	return properties, first
}

// UnitObject returns a unit's object path: every character that is not a letter or digit, and a digit at the start, is
// written in hexadecimal (sd_bus_path_encode(3)).
func UnitObject(unit string) string {
	object := []byte(ManagerObject + "/unit/")
	if unit == "" {
		return string(append(object, '_'))
	}
	for i := range len(unit) {
		b := unit[i]
		if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || i > 0 && b >= '0' && b <= '9' {
			object = append(object, b)
		} else {
			object = fmt.Appendf(object, "_%02x", b)
		}
	}
	return string(object)
}

// failure converts a failed call's error to this package's errors.
func (c *connection) failure(err error) error {
	if err == nil {
		return nil
	}
	var answer dbus.Error
	var broken *net.OpError
	var errno syscall.Errno
	switch {
	case errors.As(err, &answer):
		switch answer.Name {
		case "org.freedesktop.systemd1.NoSuchUnit":
			return ErrNoUnit
		case "org.freedesktop.systemd1.UnitMasked":
			return ErrMasked
		}
		err = fmt.Errorf("systemd: %s (%s)", answer.Error(), answer.Name)
		if slices.Contains(lostAnswers, answer.Name) {
			c.end()
			err = fmt.Errorf("%w: %w", ErrLost, err)
		}
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case c.life.Err() != nil, errors.As(err, &broken), errors.As(err, &errno), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.Is(err, dbus.ErrClosed):
		c.end() // in case the loss was not noticed yet
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return err
}

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
	"strings"
	"syscall"

	sd "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"
)

const (
	systemdName = "org.freedesktop.systemd1"
	// privateAddress is systemd's own socket, for the superuser: it works before the message bus
	// does, and without it.
	privateAddress = "unix:path=/run/systemd/private"
	systemAddress  = "unix:path=/run/dbus/system_bus_socket"
)

// ErrNoUnit says that systemd knows no unit of a name, and ErrMasked that it must not start it.
var (
	ErrNoUnit = errors.New("no unit file has this name")
	ErrMasked = errors.New("the unit is masked")
)

// lostAnswers are the errors by which a message bus says that systemd is not there, or was not long enough to
// answer (D-Bus specification, "org.freedesktop.DBus.Error"): it executes itself again.
var lostAnswers = []string{
	"org.freedesktop.DBus.Error.NoReply",
	"org.freedesktop.DBus.Error.Disconnected",
	"org.freedesktop.DBus.Error.ServiceUnknown",
	"org.freedesktop.DBus.Error.NameHasNoOwner",
	"org.freedesktop.DBus.Error.NoServer",
}

// Connect connects to systemd, by its own socket or else by the message bus.
func Connect(ctx context.Context) (Bus, error) {
	private, err := dialSystemd(ctx, privateAddress, false)
	if err == nil {
		return private, nil
	}
	system, systemErr := dialSystemd(ctx, systemAddress, true)
	if systemErr == nil {
		return system, nil
	}
	return nil, fmt.Errorf("%w; %w", err, systemErr)
}

// connection is a bus over D-Bus.
type connection struct {
	address string
	hello   bool
	conn    *sd.Conn
	calls   *dbus.Conn // of the two that conn has, the one that calls are made on
	// life ends when one of the two connections does, and ends both.
	life context.Context
	end  context.CancelFunc
}

// dialSystemd connects to systemd at an address. Where a message bus is in between, it must be
// greeted. ctx bounds the connecting only.
func dialSystemd(ctx context.Context, address string, hello bool) (*connection, error) {
	c := &connection{address: address, hello: hello}
	// A D-Bus connection lives as long as its context, and this one is to outlive the call; but
	// while it is being made every step of it is given up with ctx.
	c.life, c.end = context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, c.end)()
	conn, err := sd.NewConnection(func() (*dbus.Conn, error) {
		conn, err := dial(c.life, address, hello)
		if err != nil {
			return nil, err
		}
		if c.calls == nil {
			c.calls = conn
		}
		context.AfterFunc(conn.Context(), c.end)
		return conn, nil
	})
	if err == nil && c.life.Err() != nil {
		conn.Close()
		err = ErrLost
	}
	if err != nil {
		// Somebody was there, and hung up: it is not for want of a systemd.
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
			err = fmt.Errorf("%w: %w", ErrLost, err)
		}
		c.end()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("%s: %w", strings.TrimPrefix(address, "unix:path="), err)
	}
	c.conn = conn
	return c, nil
}

func dial(life context.Context, address string, hello bool) (*dbus.Conn, error) {
	conn, err := dbus.Dial(address, dbus.WithContext(life))
	if err != nil {
		return nil, err
	}
	// By number: a name would have to be looked up.
	err = conn.Auth([]dbus.Auth{dbus.AuthExternal(strconv.Itoa(os.Getuid()))})
	if err == nil && hello {
		err = conn.Hello()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

func (c *connection) Lost() <-chan struct{} { return c.life.Done() }

func (c *connection) Close() {
	c.conn.Close()
	c.end()
}

func (c *connection) Enqueue(ctx context.Context, method, unit string, result chan<- string) error {
	call := c.conn.StartUnitContext
	switch method {
	case restartMethod:
		call = c.conn.RestartUnitContext
	case stopMethod:
		call = c.conn.StopUnitContext
	case reloadMethod:
		call = c.conn.ReloadOrRestartUnitContext
	}
	_, err := call(ctx, unit, "replace", result)
	return c.failure(err)
}

// command is one of a service's, as systemd takes it: a(sasb).
type command struct {
	Path string
	Argv []string
	// MayFail says that the service goes on where the command fails.
	MayFail bool
}

func (c *connection) Run(ctx context.Context, service string, commands [][]string, result chan<- string) error {
	var list []command
	for _, argv := range commands {
		list = append(list, command{Path: argv[0], Argv: argv})
	}
	_, err := c.conn.StartTransientUnitContext(ctx, service, "fail", []sd.Property{
		// Everybody can read it, and an argument may be a credential.
		sd.PropDescription("Slipway: " + commands[len(commands)-1][0]),
		sd.PropType("oneshot"),
		{Name: "DefaultDependencies", Value: dbus.MakeVariant(false)},
		{Name: "CollectMode", Value: dbus.MakeVariant("inactive-or-failed")},
		{Name: "ExecStart", Value: dbus.MakeVariant(list)},
	}, result)
	return c.failure(err)
}

func (c *connection) Reload(ctx context.Context) error { return c.failure(c.conn.ReloadContext(ctx)) }

func (c *connection) UnitFile(ctx context.Context, method, unit string) error {
	units, runtime := []string{unit}, false // for good, and not until the next boot
	var err error
	switch method {
	case maskMethod:
		_, err = c.conn.MaskUnitFilesContext(ctx, units, runtime, false)
	case unmaskMethod:
		_, err = c.conn.UnmaskUnitFilesContext(ctx, units, runtime)
	case enableMethod:
		_, _, err = c.conn.EnableUnitFilesContext(ctx, units, runtime, false)
	case disableMethod:
		_, err = c.conn.DisableUnitFilesContext(ctx, units, runtime)
	}
	return c.failure(err)
}

func (c *connection) Loaded(ctx context.Context, unit string) error {
	call := c.calls.Object(systemdName, ManagerObject).CallWithContext(ctx, managerInterface+".GetUnit", 0, unit)
	return c.failure(call.Err)
}

func (c *connection) Properties(ctx context.Context, object, iface string) (map[string]any, error) {
	var variants map[string]dbus.Variant
	err := c.calls.Object(systemdName, dbus.ObjectPath(object)).
		CallWithContext(ctx, "org.freedesktop.DBus.Properties.GetAll", 0, iface).Store(&variants)
	if err != nil {
		return nil, c.failure(err)
	}
	properties := make(map[string]any, len(variants))
	for name, variant := range variants {
		properties[name] = variant.Value()
	}
	return properties, nil
}

// UnitObject names a unit's object.
func UnitObject(unit string) string { return ManagerObject + "/unit/" + sd.PathBusEscape(unit) }

// Watch uses a connection of its own: one has room for a single subscriber, and cannot be quiet
// again once it is subscribed.
func (c *connection) Watch(ctx context.Context, unit string) (<-chan struct{}, func(), error) {
	w, err := dialSystemd(ctx, c.address, c.hello)
	if err != nil {
		return nil, nil, err
	}
	// Updates come for every unit, and those that there is no room for are dropped with an error.
	updates := make(chan *sd.PropertiesUpdate, 1024)
	dropped := make(chan error, 1)
	w.conn.SetPropertiesSubscriber(updates, dropped)
	giveUp := context.AfterFunc(ctx, w.end)
	err = w.conn.Subscribe()
	giveUp()
	if err != nil {
		w.Close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, nil, fmt.Errorf("subscribe to systemd: %w", w.failure(err))
	}
	changed := make(chan struct{}, 1)
	go func() {
		defer close(changed)
		for {
			select {
			case update := <-updates:
				if update.UnitName != unit {
					continue
				}
			case <-dropped: // it may have been the one
			case <-w.life.Done():
				return
			}
			select {
			case changed <- struct{}{}:
			default: // a change is already waiting to be seen
			}
		}
	}()
	return changed, w.Close, nil
}

// failure is a failed call's error, as the rest of the package knows it.
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
		c.end() // if it was not noticed yet
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return err
}

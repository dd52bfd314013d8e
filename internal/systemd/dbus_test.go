package systemd_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/systemd"
)

// peer is a systemd at the other end of a socket, without a message bus, like its private socket.
type peer struct {
	t      *testing.T
	socket string
	mu     sync.Mutex
	conns  []*dbus.Conn
	state  string // ActiveState of every unit
	jobs   int
	// errors are the answers to the next calls of any kind.
	errors []string
	looks  int
	// transient are the properties of the last transient unit.
	transient []property
	// onJob is called with the number of a job that never ends, onLook with the number of looks at a unit.
	onJob, onLook func(n int)
}

type property struct {
	Name  string
	Value dbus.Variant
}

type auxiliary struct {
	Unit       string
	Properties []property
}

func newPeer(t *testing.T) *peer {
	socket := filepath.Join(t.TempDir(), "private")
	listener, err := net.Listen("unix", socket)
	must(t, err)
	p := &peer{t: t, socket: socket, state: "inactive"}
	t.Cleanup(func() {
		listener.Close()
		p.hangUp()
	})
	go func() {
		for {
			raw, err := listener.Accept()
			if err != nil {
				return
			}
			go p.accept(raw)
		}
	}()
	return p
}

// accept authenticates a client and answers it. The library implements only a client's half of the protocol, so the
// test implements the server's half, also towards the library.
func (p *peer) accept(raw net.Conn) {
	in := bufio.NewReader(raw)
	if zero, err := in.ReadByte(); err != nil || zero != 0 {
		return
	}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		reply := ""
		switch strings.TrimSpace(line) {
		case "BEGIN":
		case "NEGOTIATE_UNIX_FD":
			reply = "ERROR\r\n"
		default:
			reply = authReply(line)
		}
		if reply == "" {
			break // BEGIN
		}
		if _, err := io.WriteString(raw, reply); err != nil {
			return
		}
	}
	conn, err := dbus.NewConn(&letIn{Reader: in, Conn: raw})
	if err != nil {
		p.t.Error(err)
		return
	}
	manager := map[string]any{
		"StartUnit":   func(unit, mode string) (dbus.ObjectPath, *dbus.Error) { return p.job("start", unit, mode) },
		"RestartUnit": func(unit, mode string) (dbus.ObjectPath, *dbus.Error) { return p.job("restart", unit, mode) },
		"StopUnit":    func(unit, mode string) (dbus.ObjectPath, *dbus.Error) { return p.job("stop", unit, mode) },
		"StartTransientUnit": func(unit, mode string, properties []property, _ []auxiliary) (dbus.ObjectPath, *dbus.Error) {
			p.mu.Lock()
			p.transient = properties
			p.mu.Unlock()
			return p.job("run", unit, map[string]string{"fail": "replace"}[mode])
		},
		"Reload":           p.unanswered,
		"GetUnit":          p.getUnit,
		"ListUnitsByNames": p.list,
		"ListUnitsFiltered": func([]string) ([]systemd.ListedUnit, *dbus.Error) {
			return p.list([]string{"kubelet.service", "a.slice", "a.mount"})
		},
		"Subscribe": func() *dbus.Error { return nil },
	}
	conn.ExportMethodTable(manager, systemd.ManagerObject, systemd.ManagerInterface)
	conn.ExportSubtreeMethodTable(map[string]any{"Get": p.get}, systemd.ManagerObject, "org.freedesktop.DBus.Properties")
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := conn.Auth([]dbus.Auth{dbus.AuthAnonymous()}); err != nil {
		p.t.Error(err)
	}
	p.conns = append(p.conns, conn)
}

// letIn is a server that authenticates every client, until the client begins. It holds back the first data after that
// until more has come, as systemd does with data that it read together with the client's BEGIN.
type letIn struct {
	net.Conn
	Reader *bufio.Reader
	begun  bool
	reply  strings.Reader
	held   []byte // the first data
	woken  bool   // whether more has come
}

func (l *letIn) Write(data []byte) (int, error) {
	if l.begun {
		return l.Conn.Write(data)
	}
	switch text := string(data); text {
	case "\x00":
	case "BEGIN\r\n":
		l.begun = true
	default:
		l.reply.Reset(authReply(text))
	}
	return len(data), nil
}

// authReply lists the authentication methods, or accepts any.
func authReply(line string) string {
	if strings.TrimSpace(line) == "AUTH" {
		return "REJECTED EXTERNAL ANONYMOUS\r\n"
	}
	return "OK 0123456789abcdef0123456789abcdef\r\n"
}

func (l *letIn) Read(data []byte) (int, error) {
	if !l.begun {
		return l.reply.Read(data)
	}
	if !l.woken {
		l.woken = true
		first := make([]byte, 256-len("BEGIN\r\n"))
		n, err := l.Reader.Read(first)
		if err == nil {
			_, err = l.Reader.Peek(1)
		}
		if err != nil {
			return 0, err
		}
		l.held = first[:n]
	}
	if n := copy(data, l.held); n > 0 {
		l.held = l.held[n:]
		return n, nil
	}
	return l.Reader.Read(data)
}

// job finishes a job a moment after its request.
func (p *peer) job(kind, unit, mode string) (dbus.ObjectPath, *dbus.Error) {
	if mode != "replace" {
		p.t.Errorf("job mode %q", mode)
	}
	switch unit {
	case "missing.service":
		return "", dbus.NewError("org.freedesktop.systemd1.NoSuchUnit", []any{"Unit missing.service not found."})
	case "masked.service":
		return "", dbus.NewError("org.freedesktop.systemd1.UnitMasked", []any{"Unit masked.service is masked."})
	case "odd.service":
		return "", dbus.NewError("org.freedesktop.systemd1.BadUnitSetting", []any{"Unit odd.service has a bad unit file setting."})
	}
	if err := p.unanswered(); err != nil {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.jobs++
	id, object := uint32(p.jobs), dbus.ObjectPath(systemd.ManagerObject+"/job/"+kind)
	result := strings.TrimSuffix(unit, ".service")
	if result == "never" {
		if p.onJob != nil {
			go p.onJob(p.jobs)
		}
		return object, nil
	}
	go func() { // before the answer, or after it
		p.emit(systemd.ManagerObject, systemd.ManagerInterface+".JobRemoved", id+100, dbus.ObjectPath(systemd.ManagerObject+"/job/other"), "other.service", "failed")
		p.emit(systemd.ManagerObject, systemd.ManagerInterface+".JobRemoved", id, object, unit, result)
	}()
	return object, nil
}

// unanswered returns the next of the errors, if any is left.
func (p *peer) unanswered() *dbus.Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.errors) == 0 {
		return nil
	}
	name := p.errors[0]
	p.errors = p.errors[1:]
	return dbus.NewError(name, []any{"Message recipient disconnected from message bus without replying"})
}

// While systemd re-executes, a message bus answers for it: the request is repeated.
func TestDBusAnswersInSystemdsPlace(t *testing.T) {
	p := newPeer(t)
	m := p.manager()
	m.Reconnect(1) // a lost connection costs no time here
	for _, name := range systemd.LostAnswers {
		for range 2 * systemd.Reconnects {
			p.errors = append(p.errors, name)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	left := func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.errors)
	}
	must(t, m.StartUnit(ctx, "done.service"))
	if left() > 0 || p.jobs != 1 {
		t.Errorf("%d answers are left, %d jobs", left(), p.jobs)
	}
	p.errors = []string{systemd.LostAnswers[0], systemd.LostAnswers[0]}
	if _, err := m.UnitState(ctx, "done.service"); err != nil || left() > 0 {
		t.Errorf("a question: %v, %d answers are left", err, left())
	}
	p.errors = []string{systemd.LostAnswers[0], systemd.LostAnswers[0]}
	must(t, m.ReloadUnits(ctx))
}

// getUnit knows no unit whose name begins with "new".
func (p *peer) getUnit(unit string) (dbus.ObjectPath, *dbus.Error) {
	if strings.HasPrefix(unit, "new") {
		return "", dbus.NewError("org.freedesktop.systemd1.NoSuchUnit", []any{"Unit " + unit + " not loaded."})
	}
	return dbus.ObjectPath(systemd.UnitObject(unit)), nil
}

// list returns units as systemd does, all in the same state.
func (p *peer) list(names []string) ([]systemd.ListedUnit, *dbus.Error) {
	if err := p.unanswered(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.looks++; p.onLook != nil {
		defer func(n int) { go p.onLook(n) }(p.looks)
	}
	var units []systemd.ListedUnit
	for _, name := range names {
		units = append(units, systemd.ListedUnit{
			Name: name, Load: "loaded", Active: p.state, Sub: "sub", Object: dbus.ObjectPath(systemd.UnitObject(name)), JobObject: "/",
		})
	}
	return units, nil
}

// get returns a property. A missing one has not happened.
func (p *peer) get(message dbus.Message, iface, name string) (dbus.Variant, *dbus.Error) {
	if err := p.unanswered(); err != nil {
		return dbus.Variant{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var properties map[string]any
	object := message.Headers[dbus.FieldPath].Value().(dbus.ObjectPath)
	switch {
	case iface == systemd.ManagerInterface && object == systemd.ManagerObject:
		properties = map[string]any{"KernelTimestamp": uint64(5_000_000)}
	case iface == systemd.UnitInterface && strings.HasPrefix(string(object), systemd.ManagerObject+"/unit/"):
		properties = map[string]any{"LoadState": "loaded", "ActiveState": p.state, "SubState": "sub"}
	case iface == "org.freedesktop.systemd1.Service" && object == dbus.ObjectPath(systemd.UnitObject("kubelet.service")):
		properties = map[string]any{
			"Result": "exit-code", "ExecMainCode": int32(1), "ExecMainStatus": int32(7), "ExecMainStartTimestamp": uint64(9_000_000),
		}
	default:
		return dbus.Variant{}, dbus.NewError("org.freedesktop.DBus.Error.UnknownInterface", []any{"Unknown interface " + iface})
	}
	if value, ok := properties[name]; ok {
		return dbus.MakeVariant(value), nil
	}
	return dbus.MakeVariant(uint64(0)), nil
}

func (p *peer) emit(object dbus.ObjectPath, name string, values ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.conns {
		conn.Emit(object, name, values...)
	}
}

// become changes the state of every unit, and sends a signal about one.
func (p *peer) become(unit, state string) {
	p.mu.Lock()
	p.state = state
	p.mu.Unlock()
	p.emit(dbus.ObjectPath(systemd.UnitObject(unit)), "org.freedesktop.DBus.Properties.PropertiesChanged",
		systemd.UnitInterface, map[string]dbus.Variant{"ActiveState": dbus.MakeVariant(state)}, []string{})
}

func (p *peer) hangUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.conns {
		conn.Close()
	}
	p.conns = nil
}

// lastTransient returns the properties of the last transient unit.
func (p *peer) lastTransient() []property {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.transient
}

// manager connects to the peer as a systemd.
func (p *peer) manager() *systemd.Manager {
	m := systemd.New(func(ctx context.Context) (systemd.Bus, error) { return systemd.Dial(ctx, p.socket, false) }, noJournal)
	p.t.Cleanup(m.Close)
	return m
}

func noJournal(context.Context, systemd.JournalQuery) ([]byte, bool, error) {
	return nil, false, nil
}

func TestDBusJobs(t *testing.T) {
	m := newPeer(t).manager()
	must(t, m.ReloadUnits(t.Context()))
	must(t, m.StartUnit(t.Context(), "done.service"))
	must(t, m.RestartUnit(t.Context(), "done.service"))
	for unit, want := range map[string]string{
		"dependency.service": "start dependency.service: a unit that it depends on failed (result dependency)",
		"missing.service":    "start missing.service: no unit file has this name",
		"masked.service":     "start masked.service: the unit is masked",
		"odd.service":        "start odd.service: systemd: Unit odd.service has a bad unit file setting. (org.freedesktop.systemd1.BadUnitSetting)",
	} {
		wantError(t, m.StartUnit(t.Context(), unit), want)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if err := m.StartUnit(t.Context(), "done.service"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// Commands run as a transient service, with systemd's types (org.freedesktop.systemd1(5)).
func TestDBusRun(t *testing.T) {
	p := newPeer(t)
	m := p.manager()
	change := failpoint.Change{Kind: failpoint.Mount, Name: "/b"}
	must(t, m.Run(t.Context(), change, "done.service", []string{"/bin/mkdir", "/b"}, []string{"/bin/mount", "/a", "/b"}))
	got := make(map[string]string)
	for _, property := range p.lastTransient() {
		got[property.Name] = property.Value.String()
		if want := map[string]string{"ExecStart": "a(sasb)", "DefaultDependencies": "b"}[property.Name]; property.Value.Signature().String() != cmp.Or(want, "s") {
			t.Errorf("%s has the type %s", property.Name, property.Value.Signature())
		}
	}
	if got["Type"] != `"oneshot"` || got["CollectMode"] != `"inactive-or-failed"` || got["DefaultDependencies"] != "false" ||
		strings.Count(got["ExecStart"], `"/bin/mount"`) != 2 || strings.Count(got["ExecStart"], `"/bin/mkdir"`) != 2 {
		t.Errorf("%q", got)
	}
	wantError(t, m.Run(t.Context(), change, "failed.service", []string{"/bin/false"}), "failed")
	wantError(t, m.Run(t.Context(), change, "missing.service", []string{"/bin/false"}), systemd.ErrNoUnit.Error())
	wantError(t, m.Run(t.Context(), change, "../a", []string{"/bin/false"}), "not a unit name")
}

func TestDBusStale(t *testing.T) {
	m := newPeer(t).manager()
	for _, c := range []struct {
		unit, fragment string
		want           bool
	}{
		{"new.service", "", false},
		{"done.service", "", false},
		{"new.service", "/etc/systemd/system/new.service", false},
		{"done.service", "/etc/systemd/system/done.service", true}, // memory has another file
	} {
		if got, err := m.Stale(t.Context(), c.unit, c.fragment); err != nil || got != c.want {
			t.Errorf("%+v: got %v, %v", c, got, err)
		}
	}
}

func TestDBusProperties(t *testing.T) {
	p := newPeer(t)
	m := p.manager()
	p.become("kubelet.service", "failed")
	state, err := m.UnitState(t.Context(), "kubelet.service")
	if err != nil || state.ActiveState != "failed" || state.LoadState != "loaded" || state.Result != "exit-code" {
		t.Errorf("got %+v, %v", state, err)
	}
	times, err := m.BootTimes(t.Context())
	if err != nil || !times.Kernel.Equal(time.Unix(5, 0)) {
		t.Errorf("got %+v, %v", times, err)
	}
	start, err := m.ServiceStart(t.Context(), "kubelet.service")
	if err != nil || !start.Equal(time.Unix(9, 0)) {
		t.Errorf("got %v, %v", start, err)
	}
	_, err = m.ServiceStart(t.Context(), "other.service")
	wantError(t, err, "start time of other.service", "UnknownInterface")
}

func TestDBusOutlivesTheCall(t *testing.T) {
	m := newPeer(t).manager()
	ctx, cancel := context.WithCancel(t.Context())
	must(t, m.ReloadUnits(ctx))
	first, release, err := m.Connection(t.Context())
	must(t, err)
	defer release()
	cancel()
	must(t, m.ReloadUnits(t.Context()))
	second, releaseSecond, err := m.Connection(t.Context())
	if err != nil || second != first {
		t.Errorf("connected twice: %v", err)
	}
	releaseSecond()
	if err := m.ReloadUnits(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a call whose ctx is done: %v", err)
	}
}

func TestDBusJobWithoutAnEnd(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	m := p.manager()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.onJob = func(int) { cancel() }
	err := m.StartUnit(ctx, "never.service")
	wantError(t, err, "start never.service: its job is not done", "inactive (sub)")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v is not ctx's error", err)
	}
}

func TestDBusConnectionLost(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	m := p.manager()
	must(t, m.ReloadUnits(t.Context()))
	p.hangUp()
	must(t, m.StartUnit(t.Context(), "done.service"))
	// While it waits for a job, it requests it again.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.onJob = func(n int) {
		if n == 2 {
			p.hangUp()
		} else {
			cancel()
		}
	}
	wantError(t, m.StartUnit(ctx, "never.service"), "start never.service: its job is not done")
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.jobs != 3 {
		t.Errorf("%d jobs", p.jobs)
	}
}

func TestDBusWaitActive(t *testing.T) {
	t.Parallel()
	for name, onLook := range map[string]func(p *peer, n int){
		"becomes active": func(p *peer, n int) {
			if n == 2 {
				p.become("other.service", "activating")
				p.become("kubelet.service", "active")
			}
		},
		"connection lost": func(p *peer, n int) {
			switch n {
			case 2:
				p.hangUp()
			case 4:
				p.become("kubelet.service", "active")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t)
			p.become("kubelet.service", "activating")
			p.onLook = func(n int) { onLook(p, n) }
			must(t, p.manager().WaitActive(t.Context(), "kubelet.service"))
		})
	}

	p := newPeer(t)
	p.become("kubelet.service", "activating")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	err := p.manager().WaitActive(ctx, "kubelet.service")
	wantError(t, err, "is activating (sub)")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v is not ctx's error", err)
	}
}

func TestDBusConnectIsBounded(t *testing.T) {
	// It accepts, and sends nothing.
	socket := filepath.Join(t.TempDir(), "private")
	listener, err := net.Listen("unix", socket)
	must(t, err)
	defer listener.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = systemd.Dial(ctx, socket, false)
	wantError(t, err, socket, "deadline")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v is not ctx's error", err)
	}
	_, err = systemd.Dial(t.Context(), socket+"-missing", true)
	wantError(t, err, socket+"-missing", "no such file")
}

// A snapshot has the units that do something, by name, and systemd's own times.
func TestDBusSnapshot(t *testing.T) {
	s, err := newPeer(t).manager().Snapshot(t.Context())
	must(t, err)
	if s.Manager["KernelTimestamp"] != uint64(5_000_000) || len(s.Units) != 2 {
		t.Fatalf("got %v", s)
	}
	if mount := s.Units[0]; mount["LoadState"] != "loaded" || mount["Result"] != nil {
		t.Errorf("got %v", mount)
	}
	if kubelet := s.Units[1]; kubelet["ExecMainStatus"] != int32(7) || kubelet["Result"] != "exit-code" {
		t.Errorf("got %v", kubelet)
	}
}

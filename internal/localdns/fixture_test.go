package localdns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/slipway-dev/slipway/internal/plan/dnscache"
	"github.com/slipway-dev/slipway/internal/resource"
)

const (
	program     = "/opt/bin/coredns"
	planned     = "/etc/localdns/corefile"
	networkFile = "/run/systemd/network/10-netplan-eth0.network"
	placed      = "/run/systemd/network/10-netplan-eth0.network.d/70-localdns.conf"
)

// machine has a resolver, systemd-networkd, a packet filter and a cache, in a synctest bubble.
type machine struct {
	*testing.T
	mu    sync.Mutex
	files map[string]string
	// servers are the DNS servers that the machine gets from its network.
	servers []string
	// offered are the servers in the last DHCP lease. A machine without a route has no lease.
	offered  []string
	unrouted bool
	// rules are the packet filter's rules, devices its interfaces.
	rules, devices []string
	// events are the changes, in order; told are the messages to systemd.
	events, told []string
	begin        time.Time

	// readyAfter is how long the cache takes to be ready; the constant never means that it never is. sick means that it
	// does not answer, and settles is how long the resolver takes to use new servers.
	readyAfter time.Duration
	sick       bool
	settles    time.Duration
	// failing are the prefixes of commands that fail.
	failing []string
	// records are the addresses of names, by name and type. For a missing one, no server answers.
	records map[string][]string
	asked   []string

	process *process
	log     bytes.Buffer
	super   *Supervisor
}

const never = time.Duration(-1)

// process is the cache.
type process struct {
	*machine
	started time.Time
	running bool
	stays   bool // it ignores the request to end
	done    chan error
}

// onMachine runs a test on a machine.
func onMachine(t *testing.T, test func(m *machine)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := &machine{
			T: t, begin: time.Now(), servers: []string{"10.1.0.4", "10.1.0.5"}, readyAfter: 2 * time.Second, settles: time.Second,
			files: map[string]string{
				program: "program", planned: ".:53 {\n    forward . 168.63.129.16 {\n    }\n}\na:53 {\n    forward . 10.0.0.10 {\n    }\n}\n",
			},
			records: make(map[string][]string),
		}
		m.resolve()
		m.super = &Supervisor{
			Settings: Settings{Program: program, Corefile: planned}, Machine: m, Notifier: m, Log: slog.New(slog.NewTextHandler(&m.log, nil)),
		}
		test(m)
	})
}

// run runs the supervisor for a time, then asks it to end, and returns its result.
func (m *machine) run(d time.Duration, during ...func()) error {
	m.Helper()
	ctx, cancel := context.WithCancel(m.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- m.super.Run(ctx) }()
	select {
	case err := <-done:
		return err
	case <-time.After(d):
	}
	for _, f := range during {
		f()
	}
	cancel()
	return <-done
}

// wait lets time pass.
func (m *machine) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (m *machine) event(format string, args ...any) {
	m.events = append(m.events, fmt.Sprintf(format, args...))
}

// count is how many events begin with a text.
func (m *machine) count(beginning string) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, event := range m.events {
		if strings.HasPrefix(event, beginning) {
			n++
		}
	}
	return n
}

// resolve does the work of systemd-networkd and systemd-resolved.
func (m *machine) resolve() {
	var text strings.Builder
	servers := m.servers
	if _, ok := m.files[placed]; ok {
		servers = []string{dnscache.HostListener}
		if !m.isReady() {
			m.Error("the resolver asks a cache that is not ready")
		}
	}
	for _, s := range servers {
		fmt.Fprintf(&text, "nameserver %s\n", s)
	}
	m.files[inForce] = text.String()
}

func (m *machine) isReady() bool {
	p := m.process
	return p != nil && p.running && m.readyAfter != never && time.Since(p.started) >= m.readyAfter
}

// switched reports whether the resolver uses the cache.
func (m *machine) isSwitched() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Contains(m.files[inForce], dnscache.HostListener)
}

// clean requires that a supervisor has left nothing behind.
func (m *machine) clean() {
	m.Helper()
	m.wait(10 * time.Second)
	m.mu.Lock()
	defer m.mu.Unlock()
	if strings.Contains(m.files[inForce], dnscache.HostListener) || m.files[placed] != "" || m.files[switched] != "" {
		m.Errorf("the resolver is not as it was: %q", m.files[inForce])
	}
	if len(m.rules) > 0 || len(m.devices) > 0 {
		m.Errorf("left are %q and %q", m.rules, m.devices)
	}
	if m.process != nil && m.process.running {
		m.Error("the cache still runs")
	}
}

func (m *machine) ReadFile(path string, _ int64) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text, ok := m.files[path]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

func (m *machine) WriteFileAtomic(file *resource.File) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[file.Path] = string(file.Content)
	m.event("write %s %o", file.Path, file.Mode)
	return nil
}

func (m *machine) Remove(path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.files[path]; ok {
		delete(m.files, path)
		m.event("remove %s", path)
	}
	return nil
}

func (m *machine) Exists(path string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.files[path]
	return ok
}

func (m *machine) Run(_ context.Context, command *resource.Command) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	line := strings.Join(command.Argv, " ")
	for _, prefix := range m.failing {
		if strings.HasPrefix(line, prefix) {
			return []byte("it is\nbroken\n"), errors.New("exit status 2")
		}
	}
	rest, isRule := strings.CutPrefix(line, "iptables -w -t raw -")
	switch {
	case line == "networkctl reload":
		m.event("reload")
		go func() {
			time.Sleep(m.settles)
			m.mu.Lock()
			defer m.mu.Unlock()
			m.resolve()
		}()
	case isRule:
		do, rule, _ := strings.Cut(rest, " ")
		has := slices.Contains(m.rules, rule)
		switch {
		case do == "A":
			m.rules = append(m.rules, rule)
			m.event("rule")
		case !has:
			return nil, errors.New("exit status 1")
		case do == "D":
			at := slices.Index(m.rules, rule)
			m.rules = slices.Delete(m.rules, at, at+1)
			m.event("no rule")
		}
	default:
		m.Errorf("unexpected command %q", line)
	}
	return nil, nil
}

func (m *machine) Start(argv []string) (func(os.Signal) error, <-chan error, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.event("start %s", strings.Join(argv, " "))
	m.process = &process{machine: m, started: time.Now(), running: true, done: make(chan error, 1)}
	return m.process.signal, m.process.done, nil
}

func (m *machine) NetworkFile() (string, error) {
	if len(m.servers) == 0 {
		return "", errors.New("eth0 has no network of systemd-networkd's")
	}
	return networkFile, nil
}

func (m *machine) OfferedServers() (servers []netip.Addr, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.unrouted {
		return nil, errors.New("the machine has no default route")
	}
	for _, s := range m.offered {
		servers = append(servers, netip.MustParseAddr(s))
	}
	return servers, nil
}

func (m *machine) MakeDummy(name string, addresses []netip.Addr) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if device := fmt.Sprint(name, addresses); !slices.Contains(m.devices, device) {
		m.devices = append(m.devices, device)
		m.event("interface %s", device)
	}
	return nil
}

func (m *machine) RemoveInterface(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.devices) > 0 {
		m.devices = nil
		m.event("no interface %s", name)
	}
	return nil
}

func (m *machine) Fetch(ctx context.Context, url string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if url != "http://169.254.10.10:8181/ready" {
		m.Errorf("unexpected URL %q", url)
	}
	if !m.isReady() || m.sick {
		return "", errors.New("503 Service Unavailable")
	}
	return "OK", nil
}

func (m *machine) Exchange(ctx context.Context, server string, message []byte) ([]byte, error) {
	name, kind := questionOf(message)
	asked := netip.MustParseAddrPort(server)
	m.mu.Lock()
	answers, sick := slices.Contains(listeners, asked.Addr()) && m.isReady(), m.sick
	records, known := m.records[fmt.Sprintf("%s %d", name, kind)]
	m.asked = append(m.asked, fmt.Sprintf("%s %s %d", server, name, kind))
	m.mu.Unlock()
	switch {
	case answers && !sick && name == dnscache.HealthName:
		return response(message, dnsmessage.RCodeSuccess, nil), nil
	case !slices.Contains(listeners, asked.Addr()) && known:
		return response(message, dnsmessage.RCodeSuccess, records), nil
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

func (m *machine) Ready()             { m.tell("ready") }
func (m *machine) Status(text string) { m.tell(text) }
func (m *machine) Alive()             { m.tell("alive") }
func (m *machine) Stopping()          { m.tell("stopping") }

func (m *machine) tell(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = append(m.told, what)
	if what == "ready" {
		m.event("ready")
	}
}

func (p *process) signal(s os.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.running:
		return errors.New("process already finished")
	case s == syscall.SIGUSR1:
		p.event("read again")
	case s == os.Kill:
		p.event("kill")
		p.ends(errors.New("signal: killed"))
	default:
		p.event("interrupt")
		if !p.stays {
			p.ends(nil)
		}
	}
	return nil
}

// ends ends the cache. If the supervisor ends it, no resolver uses it any more.
func (p *process) ends(err error) {
	if strings.Contains(p.files[inForce], dnscache.HostListener) {
		p.Error("the cache ends, and the resolver still asks it")
	}
	p.running = false
	p.done <- err
}

// crash ends the cache unexpectedly.
func (m *machine) crash() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.process.running = false
	m.process.done <- errors.New("exit status 1")
}

// questionOf is the question in a message.
func questionOf(message []byte) (name string, kind dnsmessage.Type) {
	var asked dnsmessage.Message
	if err := asked.Unpack(message); err != nil || len(asked.Questions) != 1 {
		panic(fmt.Sprintf("%q: %v", message, err))
	}
	return strings.TrimSuffix(asked.Questions[0].Name.String(), "."), asked.Questions[0].Type
}

// response is the answer to a question.
func response(question []byte, code dnsmessage.RCode, records []string) []byte {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil {
		panic(err)
	}
	m.Response, m.RecursionAvailable, m.RCode, m.Additionals = true, true, code, nil
	for _, text := range records {
		address := netip.MustParseAddr(text)
		r := dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Class: dnsmessage.ClassINET, TTL: 60}}
		if r.Body = (&dnsmessage.AAAAResource{AAAA: address.As16()}); address.Is4() {
			r.Body = &dnsmessage.AResource{A: address.As4()}
		}
		m.Answers = append(m.Answers, r)
	}
	packed, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return packed
}

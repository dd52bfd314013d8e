package localdns

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/plan/dnscache"
)

// hosts are the lines of the file of names.
func (m *machine) hosts() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var lines []string
	for line := range strings.Lines(m.files[dnscache.HostsFile]) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

func (m *machine) record(name string, kind string, addresses ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records[name+" "+kind] = addresses
}

// The names are looked up at the machine's servers, repeatedly. A name without an answer keeps its addresses.
func TestHosts(t *testing.T) {
	onMachine(t, func(m *machine) {
		m.super.Names, m.super.Refresh = []string{"b.example", "a.example", "dead.example"}, 15*time.Minute
		m.files[dnscache.HostsFile] = "192.0.2.9 dead.example\n192.0.2.8 gone.example\nnonsense\n"
		m.record("a.example", "1", "192.0.2.2", "192.0.2.1", "192.0.2.1")
		m.record("a.example", "28", "2001:db8::1")
		m.record("b.example", "1", "192.0.2.3")
		m.record("b.example", "28")
		err := m.run(time.Hour, func() {
			want := []string{"192.0.2.3 b.example", "192.0.2.1 a.example", "192.0.2.2 a.example", "2001:db8::1 a.example", "192.0.2.9 dead.example"}
			if got := m.hosts(); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			if writes := m.count("write /etc/localdns/hosts "); writes != 1 {
				t.Errorf("the file is written %d times, and nothing has changed", writes)
			}
			m.record("b.example", "1", "192.0.2.4")
			m.record("a.example", "1") // it has only IPv6 by now
			m.wait(16 * time.Minute)
			want = []string{"192.0.2.4 b.example", "2001:db8::1 a.example", "192.0.2.9 dead.example"}
			if got := m.hosts(); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
		if err != nil {
			t.Error(err)
		}
		asked := 0
		for _, question := range m.asked {
			if strings.HasSuffix(question, " dead.example 28") {
				asked++
			}
			if strings.HasPrefix(question, dnscache.HostListener) && !strings.Contains(question, dnscache.HealthName) {
				t.Errorf("the cache itself is asked: %s", question)
			}
		}
		// Three rounds at both servers, in each lookup of an hour and a quarter: the pause before a lookup doubles each
		// time, up to fifteen minutes.
		if lookups := asked / (3 * 2); asked%(3*2) != 0 || lookups < 11 || lookups > 13 {
			t.Errorf("a name without an answer is looked up %d times", asked)
		}
	})
}

// The machine may have no network at the moment when the resolver changes: the names are looked up again before the
// next regular time.
func TestHostsAgain(t *testing.T) {
	onMachine(t, func(m *machine) {
		m.super.Names, m.super.Refresh = []string{"a.example"}, 15*time.Minute
		if err := m.run(time.Second, func() {
			if got := m.hosts(); len(got) > 0 {
				t.Errorf("got %q", got)
			}
			m.record("a.example", "1", "192.0.2.1")
			m.wait(time.Minute)
			if got, want := m.hosts(), []string{"192.0.2.1 a.example"}; !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		}); err != nil {
			t.Error(err)
		}
	})
}

// If no server answers for a type, the addresses of that type stay, too.
func TestHostsOfOneType(t *testing.T) {
	onMachine(t, func(m *machine) {
		m.super.Names, m.super.Refresh = []string{"a.example"}, time.Minute
		m.files[dnscache.HostsFile] = "192.0.2.1 a.example\n2001:db8::1 a.example\n"
		m.record("a.example", "1", "192.0.2.2")
		if err := m.run(time.Minute, func() {
			if got, want := m.hosts(), []string{"192.0.2.2 a.example", "2001:db8::1 a.example"}; !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		}); err != nil {
			t.Error(err)
		}
	})
}

// The file exists before the cache starts, so that the cache does not warn about it; an existing file stays.
func TestHostsExist(t *testing.T) {
	onMachine(t, func(m *machine) {
		m.super.Names, m.super.Refresh, m.readyAfter = []string{"a.example"}, time.Minute, never
		if m.run(time.Hour) == nil {
			t.Error("it is ready")
		}
		written := slices.Index(m.events, "write /etc/localdns/hosts 644")
		if started := slices.IndexFunc(m.events, func(e string) bool { return strings.HasPrefix(e, "start ") }); written < 0 || written > started {
			t.Errorf("got %q", m.events)
		}
		m.files[dnscache.HostsFile] = "192.0.2.1 a.example\n"
		m.events = nil
		if m.run(time.Hour) == nil {
			t.Error("it is ready")
		}
		if slices.Contains(m.events, "write /etc/localdns/hosts 644") {
			t.Error("it is emptied")
		}
	})
}

// Without names there are no lookups and no file.
func TestNoHosts(t *testing.T) {
	onMachine(t, func(m *machine) {
		if err := m.run(time.Hour); err != nil {
			t.Error(err)
		}
		if _, ok := m.files[dnscache.HostsFile]; ok {
			t.Error("there is a file of names")
		}
	})
}

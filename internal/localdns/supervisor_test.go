package localdns

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The resolver is switched when the cache is ready, and switched back before the cache ends.
func TestOrder(t *testing.T) {
	onMachine(t, func(m *machine) {
		m.readyAfter = 20 * time.Second
		err := m.run(time.Hour, func() {
			if !m.isSwitched() {
				t.Error("the resolver does not ask the cache")
			}
		})
		if err != nil {
			t.Error(err)
		}
		var order []string
		for _, event := range m.events {
			if len(order) == 0 || order[len(order)-1] != event {
				order = append(order, event)
			}
		}
		want := []string{
			"write /run/localdns/upstream-dns 600", "write /run/localdns/corefile 600",
			"interface localdns[169.254.10.10 169.254.10.11]", "rule", "start /opt/bin/coredns -conf /run/localdns/corefile", "ready",
			"write /run/localdns/resolver 600", "write " + placed + " 644", "reload",
			"remove " + placed, "reload", "remove /run/localdns/resolver", "no rule", "interrupt", "no interface localdns",
		}
		if !slices.Equal(order, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(order, "\n"), strings.Join(want, "\n"))
		}
		m.clean()
		if m.told[0] != "ready" || m.told[len(m.told)-1] != "stopping" || !slices.Contains(m.told, "The DNS cache answers, and asks 10.1.0.4 10.1.0.5") {
			t.Errorf("systemd got %q", m.told)
		}
	})
}

// The machine's values reach the cache, the kernel and the resolver unchanged.
func TestWhatIsWritten(t *testing.T) {
	onMachine(t, func(m *machine) {
		err := m.run(time.Minute, func() {
			want := ".:53 {\n    forward . 10.1.0.4 10.1.0.5 {\n    }\n}\na:53 {\n    forward . 10.0.0.10 {\n    }\n}\n"
			if got := m.files["/run/localdns/corefile"]; got != want {
				t.Errorf("the cache gets\n%s", got)
			}
			if got := m.files[placed]; !strings.HasSuffix(got, "\n[Network]\nDNS=\nDNS=169.254.10.10\n\n[DHCP]\nUseDNS=false\n") {
				t.Errorf("the network gets\n%s", got)
			}
			if len(m.rules) != 8 || m.rules[7] != "PREROUTING -d 169.254.10.11/32 -p udp -m udp --dport 53 -m comment --comment localdns: skip conntrack -j NOTRACK" {
				t.Errorf("the rules are\n%s", strings.Join(m.rules, "\n"))
			}
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// If the cache never becomes ready, the resolver stays unchanged.
func TestNeverReady(t *testing.T) {
	for name, c := range map[string]struct {
		change func(m *machine)
		want   string
		within time.Duration
	}{
		"never ready":       {func(m *machine) { m.readyAfter = never }, "is not ready after 60 tries", 2 * time.Minute},
		"missing":           {func(m *machine) { delete(m.files, program) }, "/opt/bin/coredns is not there", time.Second},
		"no Corefile":       {func(m *machine) { delete(m.files, planned) }, planned, time.Second},
		"no network":        {func(m *machine) { m.servers = nil }, "find the network", time.Second},
		"no packet filter":  {func(m *machine) { m.failing = []string{"iptables"} }, "exit status 2: it is broken", time.Second},
		"no DNS server":     {func(m *machine) { m.files[inForce] = "# none\nsearch a\n" }, "names no DNS server", 2 * time.Minute},
		"no resolver":       {func(m *machine) { delete(m.files, inForce) }, "names no DNS server", 2 * time.Minute},
		"it ends by itself": {func(m *machine) { m.readyAfter = never; time.AfterFunc(3*time.Second, m.crash) }, "has ended: exit status 1", 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			onMachine(t, func(m *machine) {
				c.change(m)
				begin := time.Now()
				err := m.run(time.Hour)
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
				if took := time.Since(begin); took > c.within {
					t.Errorf("it takes %s", took)
				}
				if slices.ContainsFunc(m.events, func(e string) bool { return strings.Contains(e, placed) }) || slices.Contains(m.told, "ready") {
					t.Errorf("the resolver was changed: %q, %q", m.events, m.told)
				}
				m.clean()
			})
		})
	}
}

// If the cache ends or becomes unhealthy, the supervisor gives up and switches the resolver back.
func TestCrashAfterReady(t *testing.T) {
	onMachine(t, func(m *machine) {
		time.AfterFunc(time.Hour, m.crash)
		if err := m.run(2 * time.Hour); err == nil || !strings.Contains(err.Error(), "has ended: exit status 1") {
			t.Error(err)
		}
		m.clean()
	})
}

// Five failures in a row are too many, and ten in ten minutes; fewer are not.
func TestWatchdog(t *testing.T) {
	for name, c := range map[string]struct {
		// sick is for how many rounds out of a number the cache does not answer.
		sick, of int
		want     string
	}{
		"now and then":       {1, 8, ""},
		"four in a row":      {4, 31, ""},
		"five in a row":      {5, 1000, "5 times in a row"},
		"ten in ten minutes": {1, 3, "10 times in 10m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			onMachine(t, func(m *machine) {
				stop := make(chan struct{})
				go func() {
					for round := 0; ; {
						m.mu.Lock()
						if m.isReady() {
							m.sick = round%c.of < c.sick
							round++
						}
						m.mu.Unlock()
						select {
						case <-stop:
							return
						case <-time.After(beat):
						}
					}
				}()
				err := m.run(time.Hour)
				close(stop)
				if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("got %v, want %q", err, c.want)
				}
				m.clean()
			})
		})
	}
}

// The supervisor notifies systemd more often than systemd requires, even if the cache does not answer.
func TestAlive(t *testing.T) {
	onMachine(t, func(m *machine) {
		if err := m.run(time.Hour); err != nil {
			t.Error(err)
		}
		alive := 0
		for _, what := range m.told {
			if what == "alive" {
				alive++
			}
		}
		if alive < 3600/15 {
			t.Errorf("systemd heard of it %d times in an hour", alive)
		}
	})
}

// A killed supervisor has left everything behind: "--stop" switches the resolver back, and so does the next supervisor,
// before it does anything else.
func TestAfterKill(t *testing.T) {
	onMachine(t, func(m *machine) {
		var files map[string]string
		var rules, devices []string
		if err := m.run(time.Minute, func() { files, rules, devices = maps.Clone(m.files), slices.Clone(m.rules), slices.Clone(m.devices) }); err != nil {
			t.Fatal(err)
		}
		kill := func() {
			m.files, m.rules, m.devices, m.events = maps.Clone(files), slices.Clone(rules), slices.Clone(devices), nil
			if !m.isSwitched() {
				t.Fatal("the resolver does not ask the cache")
			}
		}
		kill()
		if err := m.super.Stop(m.Context()); err != nil {
			t.Error(err)
		}
		m.clean()
		kill()
		if err := m.run(time.Minute, func() {
			if want := []string{"remove " + placed, "reload", "remove " + switched}; !slices.Equal(m.events[:3], want) {
				t.Errorf("it begins with %q, want %q", m.events[:3], want)
			}
			if len(m.rules) != 8 || !m.isSwitched() {
				t.Error("it has not taken the cache into use again")
			}
		}); err != nil {
			t.Error(err)
		}
		m.clean()
	})
}

// The second start finds the DNS servers of that time, and does not take the cache for one.
func TestUpstreamChanges(t *testing.T) {
	onMachine(t, func(m *machine) {
		if err := m.run(time.Minute); err != nil {
			t.Fatal(err)
		}
		m.servers = []string{"10.1.0.9", "fe80::1%eth0", "169.254.10.11", "10.1.0.9"}
		m.mu.Lock()
		m.resolve()
		m.mu.Unlock()
		if err := m.run(time.Minute); err != nil {
			t.Fatal(err)
		}
		if got := m.files[corefile]; !strings.Contains(got, "forward . 10.1.0.9 {") {
			t.Errorf("the cache gets\n%s", got)
		}
	})
}

// While it runs, the cache uses the network's new servers instead of the earlier ones. Nothing is restarted, and the
// resolver keeps using the cache.
func TestUpstreamFollowed(t *testing.T) {
	for name, c := range map[string]struct {
		before, after, want string
		read                int
	}{
		"others":          {"10.1.0.4 10.1.0.5", "10.2.0.4", "10.2.0.4", 1},
		"one of two":      {"10.1.0.5", "10.2.0.4", "10.1.0.4 10.2.0.4", 1},
		"one that is":     {"10.1.0.4", "10.1.0.5", "10.1.0.5", 1},
		"none":            {"10.1.0.4 10.1.0.5", "", "10.1.0.4 10.1.0.5", 0},
		"the cache":       {"10.1.0.4 10.1.0.5", "169.254.10.10 10.2.0.4", "10.2.0.4", 1},
		"the cache alone": {"10.1.0.4 10.1.0.5", "169.254.10.10", "10.1.0.4 10.1.0.5", 0},
		"the same":        {"10.1.0.4 10.1.0.5", "10.1.0.4 10.1.0.5", "10.1.0.4 10.1.0.5", 0},
		"they are not":    {"10.9.0.9", "10.2.0.4", "10.1.0.4 10.1.0.5", 0},
		"there were none": {"", "10.2.0.4", "10.1.0.4 10.1.0.5", 0},
	} {
		t.Run(name, func(t *testing.T) {
			onMachine(t, func(m *machine) {
				m.super.Names, m.super.Refresh = []string{"a.example"}, time.Hour
				m.offered = strings.Fields(c.before)
				err := m.run(time.Minute, func() {
					m.mu.Lock()
					m.asked, m.offered = nil, strings.Fields(c.after)
					m.mu.Unlock()
					m.wait(2 * beat)
					m.mu.Lock()
					told, kept, asked := m.files[corefile], m.files[remembered], slices.Clone(m.asked)
					m.mu.Unlock()
					if got, want := told, ".:53 {\n    forward . "+c.want+" {\n"; !strings.HasPrefix(got, want) {
						t.Errorf("the cache gets\n%s", got)
					}
					if got, want := kept, "nameserver "+strings.ReplaceAll(c.want, " ", "\nnameserver ")+"\n"; got != want {
						t.Errorf("remembered are\n%s", got)
					}
					if !m.isSwitched() || !m.isReady() {
						t.Error("the resolver does not ask the cache")
					}
					if first, _, _ := strings.Cut(c.want, " "); c.read > 0 && !slices.ContainsFunc(asked, func(q string) bool { return strings.HasPrefix(q, first+":53 a.example ") }) {
						t.Errorf("names are looked up elsewhere: %q", asked)
					}
					m.wait(10 * beat)
				})
				if err != nil {
					t.Error(err)
				}
				if m.count("read again") != c.read || m.count("start ") != 1 {
					t.Errorf("got %q", m.events)
				}
				m.clean()
			})
		})
	}
}

// A machine without a route for a moment keeps its servers, and its later servers are found.
func TestUpstreamWithoutRoute(t *testing.T) {
	onMachine(t, func(m *machine) {
		m.offered = m.servers
		err := m.run(time.Minute, func() {
			m.mu.Lock()
			m.unrouted, m.offered = true, []string{"10.2.0.4"}
			m.mu.Unlock()
			m.wait(2 * beat)
			if got := m.files[corefile]; !strings.Contains(got, "forward . 10.1.0.4 10.1.0.5 {") {
				t.Errorf("the cache gets\n%s", got)
			}
			m.mu.Lock()
			m.unrouted = false
			m.mu.Unlock()
			m.wait(2 * beat)
			if got := m.files[corefile]; !strings.Contains(got, "forward . 10.2.0.4 {") {
				t.Errorf("the cache gets\n%s", got)
			}
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// If the resolver uses only the cache, the earlier servers are known from the run before.
func TestUpstreamRemembered(t *testing.T) {
	onMachine(t, func(m *machine) {
		if err := m.run(time.Minute); err != nil {
			t.Fatal(err)
		}
		m.files[inForce] = "nameserver 169.254.10.10\n"
		if err := m.run(time.Minute, func() {
			if got := m.files[corefile]; !strings.Contains(got, "forward . 10.1.0.4 10.1.0.5 {") {
				t.Errorf("the cache gets\n%s", got)
			}
		}); err != nil {
			t.Error(err)
		}
	})
}

// A booting machine gets its DNS servers later.
func TestUpstreamLate(t *testing.T) {
	onMachine(t, func(m *machine) {
		delete(m.files, inForce)
		time.AfterFunc(20*time.Second, func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.resolve()
		})
		if err := m.run(time.Minute, func() {
			if !m.isSwitched() {
				t.Error("the resolver does not ask the cache")
			}
		}); err != nil {
			t.Error(err)
		}
	})
}

// Existing rules and interfaces are not created twice, and removing missing ones is no error.
func TestIdempotent(t *testing.T) {
	onMachine(t, func(m *machine) {
		ctx := m.Context()
		for range 2 {
			if err := m.super.listen(ctx); err != nil {
				t.Error(err)
			}
		}
		if len(m.rules) != 8 || len(m.devices) != 1 {
			t.Errorf("there are %d rules and %d interfaces", len(m.rules), len(m.devices))
		}
		m.rules = append(m.rules, m.rules[3])
		for range 2 {
			if err := m.super.Stop(ctx); err != nil {
				t.Error(err)
			}
		}
		m.clean()
	})
}

// If the resolver cannot be switched, nothing of the switch stays behind.
func TestReloadFails(t *testing.T) {
	onMachine(t, func(m *machine) {
		m.failing = []string{"networkctl"}
		if err := m.run(time.Hour); err == nil || !strings.Contains(err.Error(), "it is broken") {
			t.Error(err)
		}
		if m.files[placed] != "" || m.files[switched] == "" {
			t.Error("the drop-in exists, or is not recorded")
		}
		m.failing = nil
		if err := m.super.Stop(m.Context()); err != nil {
			t.Error(err)
		}
		m.clean()
	})
}

// A cache that does not end is killed, after the resolver was switched back.
func TestCacheThatStays(t *testing.T) {
	onMachine(t, func(m *machine) {
		if err := m.run(time.Minute, func() { m.process.stays = true }); err != nil {
			t.Error(err)
		}
		if !slices.Contains(m.events, "kill") {
			t.Errorf("it is not killed: %q", m.events)
		}
		m.clean()
	})
}

// A supervisor that is asked to end does so at any moment.
func TestStopAnyTime(t *testing.T) {
	for _, after := range []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second, 30 * time.Second} {
		onMachine(t, func(m *machine) {
			m.super.Names, m.super.Refresh = []string{"a.example"}, time.Minute
			if after == time.Second {
				delete(m.files, inForce)
			}
			if err := m.run(after); err != nil {
				t.Errorf("after %s: %v", after, err)
			}
			synctest.Wait()
			m.clean()
		})
	}
}

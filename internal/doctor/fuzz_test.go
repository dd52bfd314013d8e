package doctor

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
)

// noFiles has no file.
type noFiles struct{}

func (noFiles) ReadFile(string, int64) ([]byte, error)   { return nil, errNoNode }
func (noFiles) ReadLinked(string, int64) ([]byte, error) { return nil, errNoNode }
func (noFiles) ReadDir(string) ([]string, error)         { return nil, errNoNode }
func (noFiles) Stat(string) (apply.Entry, error)         { return apply.Entry{}, errNoNode }

// FuzzResolvConf: only addresses are asked, and only a few names.
func FuzzResolvConf(f *testing.F) {
	f.Add("# x\nnameserver 10.0.0.1\nnameserver fe80::1%eth0\nsearch a b c d e f g\noptions ndots:5 timeout:2\n", "api.example")
	f.Add("nameserver\nsearch\noptions ndots:-1\n", "")
	f.Fuzz(func(t *testing.T, text, name string) {
		r := parseResolvConf(text)
		for _, server := range r.servers {
			if _, err := netip.ParseAddr(server); err != nil {
				t.Errorf("%q is asked", server)
			}
		}
		if names := r.names(name); len(r.servers) > maxServers || len(names) > maxNames || len(names) == 0 {
			t.Errorf("%d servers are asked for %d names", len(r.servers), len(names))
		}
	})
}

// FuzzHosts: a name has only the addresses of lines with it.
func FuzzHosts(f *testing.F) {
	f.Add("127.0.0.1 localhost\n::1 localhost ip6 # x\nx y\n", "localhost")
	f.Fuzz(func(t *testing.T, text, name string) {
		if got := parseHosts(text, name); len(got) > 0 && !strings.Contains(strings.ToLower(text), strings.ToLower(strings.TrimSuffix(name, "."))) && !strings.ContainsFunc(name, func(r rune) bool { return r > 127 }) {
			t.Errorf("%q is not in the file, and has %v", name, got)
		}
	})
}

// FuzzKubeconfig: what is read has a server, and no error repeats the token.
func FuzzKubeconfig(f *testing.F) {
	f.Add("current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\nclusters: [{name: k, cluster: {server: https://a, certificate-authority-data: YQ==}}]\nusers: [{name: u, user: {token: t, exec: {command: x, args: [a], env: [{name: A, value: b}]}}}]\n")
	f.Add(`{"current-context":"c"}`)
	f.Fuzz(func(t *testing.T, text string) {
		a, err := parseKubeconfig([]byte(text))
		if (a == nil) == (err == nil) || a != nil && a.Server == "" {
			t.Errorf("got %v, %v", a, err)
		}
		if a != nil {
			_ = a.Kind()
		}
	})
}

// FuzzHostsToml: every mirror has a host and a port, and there are not too many.
func FuzzHostsToml(f *testing.F) {
	f.Add("server = \"https://a\"\nca = \"x\"\n[host.\"http://b:5000\"]\nskip_verify = true\n")
	f.Fuzz(func(t *testing.T, text string) {
		mirrors, _ := parseHostsToml(noFiles{}, "/etc/containerd/certs.d/a", text)
		for _, m := range mirrors {
			if m.host == "" || m.port == "" {
				t.Errorf("got %+v", m)
			}
		}
		if len(mirrors) > maxMirrors {
			t.Errorf("%d mirrors", len(mirrors))
		}
	})
}

// FuzzNode: whatever a server sends is a Node, or refused.
func FuzzNode(f *testing.F) {
	f.Add([]byte(`{"kind":"Node","metadata":{"name":"a","creationTimestamp":"2026-11-28T12:00:00Z"},"spec":{"taints":[{"key":"a"}]},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		n, err := parseNode(body)
		if err != nil {
			return
		}
		for _, e := range n.evidence() {
			if len(e.What)+len(e.Got) > 1000 || strings.ContainsAny(e.Got, "\n\x1b") {
				t.Errorf("the evidence is %q", e)
			}
		}
	})
}

// FuzzTokenExpiry: a time is a year that people write.
func FuzzTokenExpiry(f *testing.F) {
	f.Add("eyJhbGciOiJSUzI1NiJ9.eyJleHAiOjE3NjQzMzEyMDB9.c2ln")
	f.Add("abcdef.0123456789abcdef")
	f.Fuzz(func(t *testing.T, token string) {
		if until, is := tokenExpiry(token); is && (until.Year() < 1970 || until.Year() > 5200) {
			t.Errorf("got %s", until)
		}
	})
}

// FuzzUptime: a process has not run for longer than its machine, and not for less than no time.
func FuzzUptime(f *testing.F) {
	f.Add("812 (kube let) S 1 812 812 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 10 0 1000 123 456", "7200.00 7000.00\n")
	f.Fuzz(func(t *testing.T, stat, machine string) {
		if age, known := parseUptime(stat, machine); known && (age < 0 || age > 1e9*time.Second) {
			t.Errorf("got %s", age)
		}
	})
}

// FuzzFlag: a command line has a flag only if one of its words has the flag's name.
func FuzzFlag(f *testing.F) {
	f.Add("kubelet\x00--config=/a\x00--hostname_override\x00b\x00", "hostname-override")
	f.Fuzz(func(t *testing.T, line, name string) {
		s := Service{Words: split([]byte(line))}
		if _, has := s.Flag(name); has && !strings.Contains(strings.ReplaceAll(line, "_", "-"), "--"+name) {
			t.Errorf("%q has --%s", line, name)
		}
	})
}

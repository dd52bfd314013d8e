package doctor

import (
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
		for _, e := range n.shown().Evidence {
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

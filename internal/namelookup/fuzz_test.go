package namelookup

import (
	"net/netip"
	"strings"
	"testing"
)

// FuzzResolvConf: only addresses are asked, and only a few names.
func FuzzResolvConf(f *testing.F) {
	f.Add("# x\nnameserver 10.0.0.1\nnameserver fe80::1%eth0\nsearch a b c d e f g\noptions ndots:5 timeout:2\n", "api.example")
	f.Add("nameserver\nsearch\noptions ndots:-1\n", "")
	f.Fuzz(func(t *testing.T, text, name string) {
		r := parseResolvConf(text)
		for _, server := range r.Servers {
			if _, err := netip.ParseAddr(server); err != nil {
				t.Errorf("%q is asked", server)
			}
		}
		if names := r.names(name); len(r.Servers) > MaxServers || len(names) > maxNames || len(names) == 0 {
			t.Errorf("%d servers are asked for %d names", len(r.Servers), len(names))
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

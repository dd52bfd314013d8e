package localdns

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// FuzzNameservers: whatever the resolver's file holds, the cache gets only addresses, and never its address.
func FuzzNameservers(f *testing.F) {
	f.Add("# x\nnameserver 10.0.0.1\nnameserver 169.254.10.10\noptions edns0\nnameserver fe80::1%eth0\nnameserver 2001:db8::1 x\n")
	f.Fuzz(func(t *testing.T, text string) {
		servers := nameservers([]byte(text))
		for word := range strings.FieldsSeq(joined(servers)) {
			if _, err := netip.ParseAddr(word); err != nil || strings.ContainsAny(word, "{}%\"$#") {
				t.Errorf("the cache gets %q", word)
			}
		}
		if len(servers) > maxServers || slices.Contains(servers, hostAddress) || slices.Contains(servers, podsAddress) {
			t.Errorf("got %v", servers)
		}
	})
}

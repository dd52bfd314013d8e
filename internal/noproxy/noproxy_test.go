package noproxy

import "testing"

// The results equal containerd's.
func TestHas(t *testing.T) {
	for _, c := range []struct {
		entry, host, port string
		want              bool
	}{
		{"example.com", "example.com", "443", true},
		{"example.com", "a.Example.com.", "443", true},
		{"example.com", "badexample.com", "443", false},
		{".example.com", "a.example.com", "443", true},
		{".example.com", "example.com", "443", false},
		{"*.example.com", "a.example.com", "443", true},
		{"*.example.com", "example.com", "443", false},
		{"*", "a.example", "443", true},
		{"example.com:443", "example.com", "443", true},
		{"example.com:443", "example.com", "5000", false},
		{"10.0.0.0/8", "10.1.2.3", "443", true},
		{"10.0.0.0/8", "11.1.2.3", "443", false},
		{"10.0.0.0/8", "a.example", "443", false},
		{"10.1.2.3", "10.1.2.3", "443", true},
		{"10.1.2.3:5000", "10.1.2.3", "443", false},
		{"::1", "fd00::2", "443", false},
		{"[fd00::2]:5000", "fd00::2", "5000", true},
		{"fd00::/8", "fd00::2", "443", true},
		{"x", "localhost", "443", true},
		{"x", "127.0.0.9", "443", true},
		{"", "a.example", "443", false},
		{":443", "a.example", "443", false},
		{".", "a.example", "443", false},
	} {
		if got := Has([]string{"other.invalid", c.entry}, c.host, c.port); got != c.want {
			t.Errorf("%q and %s:%s: %v", c.entry, c.host, c.port, got)
		}
	}
}

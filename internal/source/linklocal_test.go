package source

import "testing"

func TestLinkLocal(t *testing.T) {
	for address, want := range map[string]bool{
		"169.254.169.254:80": true, "[fe80::1]:80": true,
		"10.0.0.1:80": false, "127.0.0.1:80": false, "[::ffff:10.0.0.1]:80": false, "nothing": false,
	} {
		if err := linkLocal("tcp", address, nil); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
}

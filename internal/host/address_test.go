package host

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

func TestWaitForAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		later := func(list ...string) func() ([]netip.Addr, error) {
			looks = 0
			return func() ([]netip.Addr, error) {
				if looks++; looks < 3 {
					return nil, errors.New("there is no default route")
				}
				var addresses []netip.Addr
				for _, a := range list {
					addresses = append(addresses, netip.MustParseAddr(a))
				}
				return addresses, nil
			}
		}
		for _, c := range []struct {
			name  string
			list  []string
			known []string
			want  bool
		}{
			{"one", []string{"10.0.0.4"}, nil, true},
			{"of the link only", []string{"fe80::1", "169.254.1.1"}, nil, false},
			{"known already", []string{"10.0.0.4"}, []string{"10.0.0.4"}, false},
			{"one more", []string{"10.0.0.4", "fd00::4"}, []string{"10.0.0.4"}, true},
			{"none", nil, nil, false},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if got := waitForAddress(ctx, later(c.list...), c.known); got != c.want {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
			cancel()
			if looks < 3 {
				t.Errorf("%s: %d looks", c.name, looks)
			}
		}
	})
}

package host

import (
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// A network that comes up: each look finds one thing more.
func TestNetworkComesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		since := func(d time.Duration) bool { return time.Since(begin) >= d }
		n := &network{
			starting: func(context.Context, string) (bool, error) { return !since(time.Second), nil },
			name: func() (string, error) {
				if since(2 * time.Second) {
					return "node-1", nil
				}
				return "localhost", nil
			},
			addresses: func() (list []netip.Addr, err error) {
				if since(3 * time.Second) {
					list = append(list, netip.MustParseAddr("10.0.0.4"))
				}
				if since(4 * time.Second) { // it is not tentative any more
					list = append(list, netip.MustParseAddr("fd00::4"))
				}
				return list, nil
			},
			routed: func() bool { return since(5 * time.Second) },
			read: func(path string, _ int64) ([]byte, error) {
				switch {
				case !since(6 * time.Second):
					return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
				case !since(7 * time.Second):
					return []byte("# no server yet\nsearch example\nnameserver\n"), nil
				}
				return []byte("search example\nnameserver 10.0.0.1\n"), nil
			},
		}
		all := &resource.Network{
			After: "network-online.target", HostName: true, Addresses: []string{"10.0.0.4", "fd00::4"}, Resolver: "/run/resolv.conf",
		}
		for _, c := range []struct {
			want *resource.Network
			// at is when everything is there, in seconds.
			at int
		}{
			{&resource.Network{}, 0},
			{&resource.Network{After: "network-online.target"}, 1},
			{&resource.Network{HostName: true}, 2},
			{&resource.Network{Addresses: []string{"0.0.0.0"}}, 5},
			{all, 7},
		} {
			if err := n.wait(t.Context(), c.want); err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(begin); waited < time.Duration(c.at)*time.Second || waited > time.Duration(c.at)*time.Second+addressInterval {
				t.Errorf("%+v was there after %s, want %d s", c.want, waited, c.at)
			}
		}
	})
}

// The error names what never comes.
func TestNetworkThatIsMissing(t *testing.T) {
	whole := network{
		starting: func(context.Context, string) (bool, error) { return false, nil },
		name:     func() (string, error) { return "node-1", nil },
		addresses: func() ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("10.0.0.4"), netip.MustParseAddr("fe80::1")}, nil
		},
		routed: func() bool { return true },
		read:   func(string, int64) ([]byte, error) { return []byte("nameserver 10.0.0.1\n"), nil },
	}
	addressed := &resource.Network{Addresses: []string{"10.0.0.4"}, Resolver: "/etc/resolv.conf", HostName: true, After: "network-online.target"}
	for _, c := range []struct {
		name string
		edit func(*network)
		want *resource.Network
		err  string
	}{
		{"all is there", func(*network) {}, addressed, ""},
		{"another address", func(*network) {}, &resource.Network{Addresses: []string{"10.0.0.4", "10.0.0.5"}}, "does not have the address 10.0.0.5"},
		{"an address of the link only", func(*network) {}, &resource.Network{Addresses: []string{"::"}}, "does not have the address ::"},
		{"no name", func(n *network) { n.name = func() (string, error) { return "", nil } }, addressed, "the host has no name"},
		{"no route", func(n *network) { n.routed = func() bool { return false } }, addressed, "no default route"},
		{"no resolver", func(n *network) { n.read = func(string, int64) ([]byte, error) { return nil, nil } }, addressed, "/etc/resolv.conf names no DNS server"},
		{"a target that is on its way", func(n *network) {
			n.starting = func(context.Context, string) (bool, error) { return true, nil }
		}, addressed, "network-online.target is not reached"},
		{"systemd does not answer", func(n *network) {
			n.starting = func(context.Context, string) (bool, error) { return false, errors.New("no answer") }
		}, addressed, "no answer"},
		{"the kernel does not answer", func(n *network) {
			n.addresses = func() ([]netip.Addr, error) { return nil, errors.New("no answer") }
		}, addressed, "addresses: no answer"},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := whole
			c.edit(&n)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err := n.wait(ctx, c.want)
			if c.err == "" {
				if err != nil {
					t.Errorf("%s: %v", c.name, err)
				}
				return
			}
			check, ok := errors.AsType[*apply.CheckError](err)
			if !ok || check.Cause != resource.CauseMissing || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", c.name, err, c.err)
			}
		})
	}
}

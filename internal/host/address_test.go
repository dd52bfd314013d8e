package host

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

func TestWaitForAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		later := func(list ...string) func() ([]netip.Addr, error) {
			looks = 0
			return func() ([]netip.Addr, error) {
				if looks++; looks < 3 {
					return nil, errors.New("the machine has no default route")
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

// told is the kernel's message about an address (rtnetlink(7)).
func told(index uint32, flags uint32, address, local string) []byte {
	var body []byte
	attribute := func(kind uint16, value []byte) {
		body = binary.NativeEndian.AppendUint16(body, uint16(4+len(value)))
		body = binary.NativeEndian.AppendUint16(body, kind)
		body = append(body, value...)
	}
	family := byte(syscall.AF_INET)
	if a := netip.MustParseAddr(address); a.Is6() {
		family = syscall.AF_INET6
	}
	body = append(body, family, 24, byte(flags), 0)
	body = binary.NativeEndian.AppendUint32(body, index)
	attribute(syscall.IFA_ADDRESS, netip.MustParseAddr(address).AsSlice())
	if local != "" {
		attribute(syscall.IFA_LOCAL, netip.MustParseAddr(local).AsSlice())
	}
	attribute(unix.IFA_FLAGS, binary.NativeEndian.AppendUint32(nil, flags))
	var message []byte
	message = binary.NativeEndian.AppendUint32(message, uint32(syscall.SizeofNlMsghdr+len(body)))
	message = binary.NativeEndian.AppendUint16(message, syscall.RTM_NEWADDR)
	message = append(message, make([]byte, 10)...)
	return append(message, body...)
}

func TestLastingAddresses(t *testing.T) {
	table := slices.Concat(
		told(2, unix.IFA_F_PERMANENT, "10.0.0.4", "10.0.0.4"),
		told(2, unix.IFA_F_SECONDARY, "10.0.0.5", ""),
		told(2, unix.IFA_F_DEPRECATED, "10.0.0.6", ""),
		told(2, unix.IFA_F_PERMANENT, "10.9.9.9", "10.0.0.7"),
		told(3, unix.IFA_F_PERMANENT, "10.0.0.8", ""),
		told(2, unix.IFA_F_TENTATIVE, "fd00::1", ""),
		told(2, unix.IFA_F_DADFAILED|unix.IFA_F_PERMANENT, "fd00::2", ""),
		told(2, unix.IFA_F_TEMPORARY, "fd00::3", ""),
		told(2, unix.IFA_F_MANAGETEMPADDR, "fd00::4", ""),
	)
	if got := fmt.Sprint(lasting(table, 2)); got != "[10.0.0.4 10.0.0.5 10.0.0.7 fd00::4]" {
		t.Errorf("got %s", got)
	}
	for n := range table {
		lasting(table[:n], 2) // a truncated table is not read beyond its end
	}
}

// The present kernel's messages are read: loopback's addresses are lasting.
func TestLastingAddressesOfTheKernel(t *testing.T) {
	table, err := syscall.NetlinkRIB(syscall.RTM_GETADDR, syscall.AF_UNSPEC)
	must(t, err)
	all, err := net.Interfaces()
	must(t, err)
	for _, i := range all {
		networks, err := i.Addrs()
		must(t, err)
		got := lasting(table, i.Index)
		if len(got) > len(networks) || i.Flags&net.FlagLoopback != 0 && len(got) != len(networks) {
			t.Errorf("%s has %v, and %v", i.Name, networks, got)
		}
	}
}

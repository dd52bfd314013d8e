package metadata

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// Dial connects to an address.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

var (
	// wireServer is Azure's wire server. It has a public address that each host answers itself:
	// https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
	wireServer = netip.MustParseAddr("168.63.129.16")
	// ec2OverIPv6 is EC2's metadata service for machines without IPv4, a unique local address: EC2 User
	// Guide, "How Instance Metadata Service Version 2 works".
	ec2OverIPv6 = netip.MustParseAddr("fd00:ec2::254")
)

// reach reports whether a client may connect to an address.
type reach func(netip.Addr) bool

// onLink are addresses on the machine's link, where metadata services are.
func onLink(to netip.Addr) bool { return to.IsLinkLocalUnicast() }

// onLinkOrEC2 also allows EC2's IPv6 address.
func onLinkOrEC2(to netip.Addr) bool { return onLink(to) || to == ec2OverIPv6 }

// onlyWireServer allows the wire server's address.
func onlyWireServer(to netip.Addr) bool { return to == wireServer }

// anywhere allows any address, for one that the machine's firmware or its boot loader gives.
func anywhere(netip.Addr) bool { return true }

// control refuses connections to other addresses. It is called with the address for the kernel, so a name or a route
// around the dialer's check does not help.
func (r reach) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !r(to.Addr()) {
		return &notAllowed{address}
	}
	return nil
}

// notAllowed is an address to which the client does not connect.
type notAllowed struct{ address string }

func (e *notAllowed) Error() string {
	return fmt.Sprintf("%s is not an address of the service", e.address)
}

// unconnected is a dialer's error.
type unconnected struct{ error }

func (e unconnected) Unwrap() error { return e.error }

// newClient creates a client for these addresses. The dialer is nil except in tests. connect limits the time for
// connecting; 0 means only the request's limit.
func newClient(to reach, dial Dial, connect time.Duration) *http.Client {
	if dial == nil {
		dial = (&net.Dialer{Control: to.control}).DialContext
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Client{
		// A nil Proxy means no proxy, also if the environment has one: Azure's and EC2's services must not be asked
		// through a proxy, whose answer would not be the machine's.
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				if connect > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, connect)
					defer cancel()
				}
				conn, err := dial(ctx, network, address)
				if err != nil {
					return nil, unconnected{err}
				}
				return conn, nil
			},
			DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxHeader, Protocols: protocols,
		},
		// An answer that redirects refers to something that is not the machine's.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

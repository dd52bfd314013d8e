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
	// wireServer is Azure's. It is a public address that each host answers at itself:
	// https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
	wireServer = netip.MustParseAddr("168.63.129.16")
	// ec2OverIPv6 is EC2's metadata service for machines without IPv4, a unique local address: EC2 User
	// Guide, "How Instance Metadata Service Version 2 works".
	ec2OverIPv6 = netip.MustParseAddr("fd00:ec2::254")
)

// reach says which addresses may be connected to.
type reach func(netip.Addr) bool

// onLink are addresses on the machine's own link, which is where metadata services are.
func onLink(to netip.Addr) bool { return to.IsLinkLocalUnicast() }

// onLinkOrEC2 is EC2's IPv6 address besides.
func onLinkOrEC2(to netip.Addr) bool { return onLink(to) || to == ec2OverIPv6 }

// onlyWireServer is the wire server's address.
func onlyWireServer(to netip.Addr) bool { return to == wireServer }

// anywhere is for an address that the machine's firmware or its boot loader gives.
func anywhere(netip.Addr) bool { return true }

// control refuses to connect to other addresses. It is called with the address that the kernel will be
// given, so neither a name nor a route around the dialer's leads elsewhere.
func (r reach) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !r(to.Addr()) {
		return &notAllowed{address}
	}
	return nil
}

// notAllowed is an address that is not connected to.
type notAllowed struct{ address string }

func (e *notAllowed) Error() string {
	return fmt.Sprintf("%s is not an address of the service", e.address)
}

// unconnected is an error of a dialer's.
type unconnected struct{ error }

func (e unconnected) Unwrap() error { return e.error }

// newClient makes a client that goes to these addresses. The dialer is nil but in tests; connect bounds a
// connection being made, 0 for no bound but the request's.
func newClient(to reach, dial Dial, connect time.Duration) *http.Client {
	if dial == nil {
		dial = (&net.Dialer{Control: to.control}).DialContext
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Client{
		// A Proxy that is nil is none, whatever the environment says: Azure's and EC2's services must not be
		// asked through one, and what a proxy answers is not the machine's.
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
		// Whoever answers with another address wants something that is not the machine's own.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

package facts

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"iter"
	"net/netip"
	"strconv"
	"strings"
)

// Interface is a network interface that has addresses.
type Interface struct {
	Name string `json:"name"`
	// MAC is its hardware address, in lower case with colons; empty where it has none.
	MAC string `json:"mac,omitempty"`
	// Addresses are its own with the length of the network's prefix: "10.224.0.4/16".
	Addresses []string `json:"addresses,omitempty"`
}

// Route is a default route.
type Route struct {
	// Family is "ipv4" or "ipv6".
	Family string `json:"family"`
	// Gateway is empty where the network itself answers for every address.
	Gateway   string `json:"gateway,omitempty"`
	Interface string `json:"interface"`
	Metric    uint32 `json:"metric,omitempty"`
}

const (
	// MaxInterfaces bounds how many interfaces are looked at.
	MaxInterfaces = 64
	// maxInterfaceAddresses bounds the addresses of each that are kept.
	maxInterfaceAddresses = 64
	// maxRoutes bounds the default routes that are kept.
	maxRoutes = 64
	// maxRouteTable bounds a routing table that is read, in bytes.
	maxRouteTable = 4 << 20
)

// interfaces are those with an address that another machine can reach. Loopback and link-local addresses are
// left out, and with them the interfaces that have no others: on a node those are the pods', which come and go.
func (g gatherer) interfaces() []Interface {
	all, err := g.Interfaces()
	if err != nil {
		return nil
	}
	var kept []Interface
	for _, i := range all[:min(len(all), MaxInterfaces)] {
		own := Interface{Name: printable(i.Name), MAC: printable(i.MAC)}
		for _, text := range i.Addresses {
			prefix, err := netip.ParsePrefix(text)
			if err != nil || !prefix.Addr().IsGlobalUnicast() || len(own.Addresses) == maxInterfaceAddresses {
				continue
			}
			own.Addresses = append(own.Addresses, prefix.String())
		}
		if own.Name != "" && own.Addresses != nil {
			kept = append(kept, own)
		}
	}
	return kept
}

func (g gatherer) routes() []Route {
	var list []Route
	for route := range DefaultRoutes(g.ReadFile) {
		if len(list) == maxRoutes {
			break
		}
		list = append(list, route)
	}
	return list
}

// routeTable is one of the kernel's routing tables, with the columns that matter.
type routeTable struct {
	family, path                                      string
	destination, mask, gateway, metric, flags, device int
	// any and anyMask are the destination of a default route.
	any, anyMask string
	// metricBase is the base that the metric is written in.
	metricBase int
	address    func(hex string) netip.Addr
}

// Sources: proc_pid_net(5); net/ipv4/fib_trie.c, fib_route_seq_show; net/ipv6/route.c, rt6_info_route.
var routeTables = []routeTable{
	{"ipv4", "/proc/net/route", 1, 7, 2, 6, 3, 0, "00000000", "00000000", 10, routeIPv4},
	{"ipv6", "/proc/net/ipv6_route", 0, 1, 4, 5, 8, 9, "00000000000000000000000000000000", "00", 16, routeIPv6},
}

// The flags of a route (include/uapi/linux/route.h).
const (
	routeUp     = 0x0001
	routeReject = 0x0200
)

// DefaultRoutes returns the default routes that lead somewhere, IPv4's first, each family's as the kernel has
// them: the best first. The tables are read with read, the second only when it is asked for.
func DefaultRoutes(read func(path string, limit int64) ([]byte, error)) iter.Seq[Route] {
	return func(yield func(Route) bool) {
		for _, table := range routeTables {
			content, err := read(table.path, maxRouteTable)
			if err != nil {
				continue // a kernel without that family
			}
			for line := range bytes.Lines(content) {
				route, ok := table.parse(strings.Fields(string(line)))
				if ok && !yield(route) {
					return
				}
			}
		}
	}
}

// parse reads a line, and reports whether it is a default route that leads somewhere.
func (t *routeTable) parse(columns []string) (Route, bool) {
	if len(columns) <= max(t.mask, t.device) || columns[t.destination] != t.any || columns[t.mask] != t.anyMask {
		return Route{}, false
	}
	flags, err := strconv.ParseUint(columns[t.flags], 16, 32)
	if err != nil || flags&routeUp == 0 || flags&routeReject != 0 {
		return Route{}, false
	}
	route := Route{Family: t.family, Interface: printable(columns[t.device])}
	if metric, err := strconv.ParseUint(columns[t.metric], t.metricBase, 32); err == nil {
		route.Metric = uint32(metric)
	}
	if gateway := t.address(columns[t.gateway]); gateway.IsValid() && !gateway.IsUnspecified() {
		route.Gateway = gateway.String()
	}
	return route, route.Interface != "" && route.Interface != "lo"
}

// routeIPv4 reads an address as the table has it: a number of the machine's own byte order.
func routeIPv4(text string) netip.Addr {
	number, err := strconv.ParseUint(text, 16, 32)
	if err != nil {
		return netip.Addr{}
	}
	var address [4]byte
	binary.NativeEndian.PutUint32(address[:], uint32(number))
	return netip.AddrFrom4(address)
}

func routeIPv6(text string) netip.Addr {
	var address [16]byte
	if len(text) != hex.EncodedLen(len(address)) {
		return netip.Addr{}
	}
	if _, err := hex.Decode(address[:], []byte(text)); err != nil {
		return netip.Addr{}
	}
	return netip.AddrFrom16(address)
}

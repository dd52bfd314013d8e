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
	// MAC is its hardware address, in lower case with colons. It may be empty.
	MAC string `json:"mac,omitempty"`
	// Addresses are its addresses with the length of the network's prefix: "10.224.0.4/16".
	Addresses []string `json:"addresses,omitempty"`
}

// Route is a default route.
type Route struct {
	// Family is "ipv4" or "ipv6".
	Family string `json:"family"`
	// Gateway is empty if the network itself answers for every address.
	Gateway   string `json:"gateway,omitempty"`
	Interface string `json:"interface"`
	Metric    uint32 `json:"metric,omitempty"`
}

const (
	// MaxInterfaces limits the number of interfaces.
	MaxInterfaces = 64
	// maxInterfaceAddresses limits the recorded addresses of each.
	maxInterfaceAddresses = 64
	// maxRoutes limits the recorded default routes.
	maxRoutes = 64
	// maxRouteTable limits a routing table, in bytes.
	maxRouteTable = 4 << 20
)

// interfaces are those with an address that another machine can reach. Loopback and link-local addresses are left out,
// and interfaces that have no others: on a node those are the pods', which come and go.
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

// DefaultRoutes returns the default routes with a target, IPv4's first, each family's in the kernel's order: the best
// first. It reads the tables with read, and the second one only if the caller needs it.
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

// parse parses a line, and reports whether it is a default route with a target.
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

// routeIPv4 parses an address of the table: a number in the machine's byte order.
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

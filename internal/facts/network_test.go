package facts

import (
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The tables are from machines of little-endian byte order, as are all that Slipway is built for.
const (
	routeTitle = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
	ipv4Routes = routeTitle +
		"eth0\t00000000\t0100E00A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n" +
		"eth0\t0000E00A\t00000000\t0001\t0\t0\t100\t0000FFFF\t0\t0\t0\n" +
		"eth0\t10813FA8\t0100E00A\t0007\t0\t0\t100\tFFFFFFFF\t0\t0\t0\n"
	ipv6Routes = "fd000000000000000000000000000000 40 " + noIPv6 + " 00 " + noIPv6 + " 00000100 00000001 00000000 00000001     eth0\n" +
		anyIPv6 + " fe800000000000000000123456789abc 00000400 00000001 00000000 00450003     eth0\n" +
		anyIPv6 + " " + noIPv6 + " ffffffff 00000001 00000000 00200200       lo\n"
	anyIPv6 = noIPv6 + " 00 " + noIPv6 + " 00"
	noIPv6  = "00000000000000000000000000000000"
)

// tables is a reader of routing tables, which may be missing.
func tables(v4, v6 string) func(string, int64) ([]byte, error) {
	return func(path string, limit int64) ([]byte, error) {
		content := map[string]string{"/proc/net/route": v4, "/proc/net/ipv6_route": v6}[path]
		if content == "" || int64(len(content)) > limit {
			return nil, fs.ErrNotExist
		}
		return []byte(content), nil
	}
}

func TestDefaultRoutes(t *testing.T) {
	v4 := func(device, gateway, flags, metric string) string {
		return device + "\t00000000\t" + gateway + "\t" + flags + "\t0\t0\t" + metric + "\t00000000\t0\t0\t0\n"
	}
	v6 := func(gateway, metric, flags, device string) string {
		return anyIPv6 + " " + gateway + " " + metric + " 00000001 00000000 " + flags + " " + device + "\n"
	}
	for _, c := range []struct {
		name, v4, v6 string
		want         []Route
	}{
		{"none", "", "", nil},
		{"of both families", ipv4Routes, ipv6Routes, []Route{
			{"ipv4", "10.224.0.1", "eth0", 100}, {"ipv6", "fe80::1234:5678:9abc", "eth0", 1024}}},
		{"several, the best first", v4("eth0", "010200C0", "0003", "100") + v4("eth1", "010200C0", "0003", "200"), "", []Route{
			{"ipv4", "192.0.2.1", "eth0", 100}, {"ipv4", "192.0.2.1", "eth1", 200}}},
		{"without a gateway", v4("tun0", "00000000", "0001", "0"), v6(noIPv6, "00000001", "00000001", "tun0"), []Route{
			{"ipv4", "", "tun0", 0}, {"ipv6", "", "tun0", 1}}},
		{"half of everything", strings.Replace(v4("eth0", "010200C0", "0003", "0"), "\t00000000\t0\t0\t0\n", "\t00000080\t0\t0\t0\n", 1), "", nil},
		{"of loopback", v4("lo", "00000000", "0003", "0"), v6(noIPv6, "ffffffff", "00200201", "lo"), nil},
		{"leads nowhere", v4("*", "00000000", "0201", "0"), v6(noIPv6, "ffffffff", "00200200", "eth0"), nil},
		{"down", v4("eth0", "010200C0", "0002", "0"), "", nil},
		{"an invalid number", v4("eth0", "x", "0003", "-1"), v6("x", "x", "00000003", "eth0"), []Route{
			{"ipv4", "", "eth0", 0}, {"ipv6", "", "eth0", 0}}},
		{"flags that are none", v4("eth0", "010200C0", "up", "0"), "", nil},
		{"an invalid name", v4("eth\x1b", "010200C0", "0003", "0"), "", nil},
		{"lines that end early", "eth0\t00000000\t010200C0\n\n\t\n" + v4("eth0", "010200C0", "0003", "0")[:20], anyIPv6, nil},
	} {
		if got := slices.Collect(DefaultRoutes(tables(c.v4, c.v6))); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// If the caller needs one route only, the second table is not read.
func TestDefaultRoutesReadsWhatIsAskedFor(t *testing.T) {
	var asked []string
	read := func(path string, limit int64) ([]byte, error) {
		asked = append(asked, path)
		return tables(ipv4Routes, ipv6Routes)(path, limit)
	}
	for range DefaultRoutes(read) {
		break
	}
	if len(asked) != 1 {
		t.Errorf("read %v", asked)
	}
}

func TestInterfaces(t *testing.T) {
	for _, c := range []struct {
		name      string
		addresses []string
		want      []string
	}{
		{"none", nil, nil},
		{"of both families", []string{"10.0.0.4/24", "fd00::4/64"}, []string{"10.0.0.4/24", "fd00::4/64"}},
		{"of the link only", []string{"fe80::1/64", "169.254.1.1/16"}, nil},
		{"loopback", []string{"127.0.0.1/8", "::1/128"}, nil},
		{"none that is one", []string{"", "10.0.0.4", "10.0.0.4/99", "x"}, nil},
		{"one that is one", []string{"\x00", "10.0.0.4/24"}, []string{"10.0.0.4/24"}},
	} {
		g := gatherer{machine{interfaces: []Interface{{Name: "eth0", Addresses: c.addresses}}}}
		got := g.interfaces()
		if (got == nil) != (c.want == nil) || got != nil && !slices.Equal(got[0].Addresses, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// The record stays small, however many there are.
func TestNetworkIsBounded(t *testing.T) {
	var many []Interface
	var addresses []string
	for i := range 1000 {
		addresses = append(addresses, fmt.Sprintf("10.0.%d.%d/16", i/250, i%250))
	}
	for i := range 1000 {
		many = append(many, Interface{Name: fmt.Sprintf("eth%d", i), Addresses: addresses})
	}
	routes := strings.Repeat("eth0\t00000000\t0100E00A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n", 1000)
	got := Gather(machine{interfaces: many, files: map[string]string{"/proc/net/route": routes}})
	if len(got.Interfaces) != MaxInterfaces || got.Interfaces[0].Name != "eth0" || len(got.Interfaces[0].Addresses) != maxInterfaceAddresses || len(got.Routes) != maxRoutes {
		t.Errorf("%d interfaces, %d routes", len(got.Interfaces), len(got.Routes))
	}
}

// FuzzDefaultRoutes: whatever the tables hold, a route has an interface name that can be shown.
func FuzzDefaultRoutes(f *testing.F) {
	f.Add(ipv4Routes, ipv6Routes)
	f.Fuzz(func(t *testing.T, v4, v6 string) {
		for route := range DefaultRoutes(tables(v4, v6)) {
			if route.Interface == "" || printable(route.Interface) == "" || route.Family != "ipv4" && route.Family != "ipv6" {
				t.Fatalf("%+v", route)
			}
		}
	})
}

package host

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"testing"
)

// routed is a machine with a default route over one of the interfaces here, and these files of systemd-networkd.
func routed(t *testing.T, state, lease string) *Machine {
	t.Helper()
	links, err := net.Interfaces()
	must(t, err)
	at := slices.IndexFunc(links, func(i net.Interface) bool { return i.Flags&net.FlagLoopback == 0 })
	if at < 0 {
		t.Skip("there is no interface but loopback")
	}
	link := links[at]
	m, file := newMachine(t, nil)
	for name, text := range map[string]string{
		"/proc/net/route": "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n" + link.Name + "\t00000000\t01004D0A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n",
		fmt.Sprintf("/run/systemd/netif/links/%d", link.Index):  state,
		fmt.Sprintf("/run/systemd/netif/leases/%d", link.Index): lease,
	} {
		if text == "" {
			continue
		}
		write(t, file(name), text)
	}
	return m
}

func TestNetworkFile(t *testing.T) {
	for text, want := range map[string]string{
		"NETWORK_FILE=/run/systemd/network/10-netplan-eth0.network\n": "/run/systemd/network/10-netplan-eth0.network",
		"ADMIN_STATE=unmanaged\n":                                     "",
		"NETWORK_FILE=../a.network\n":                                 "",
		"NETWORK_FILE=/run/../a.network\n":                            "",
		"NETWORK_FILE_DROPINS=/etc/a.conf\n":                          "",
		"":                                                            "",
	} {
		got, err := routed(t, "# This is private data. Do not parse.\nADMIN_STATE=configured\n"+text, "").NetworkFile()
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
	if _, err := routed(t, "", "").NetworkFile(); err == nil {
		t.Error("systemd-networkd does not know the interface, and it has a network")
	}
}

func TestOfferedServers(t *testing.T) {
	for lease, want := range map[string][]netip.Addr{
		"# This is private data. Do not parse.\nADDRESS=10.77.0.11\nDNS=10.77.0.2 10.77.0.1\nNTP=10.77.0.9\n": {
			netip.MustParseAddr("10.77.0.2"), netip.MustParseAddr("10.77.0.1"),
		},
		"DNS=nonsense 10.77.0.2\n": {netip.MustParseAddr("10.77.0.2")},
		"DNS=\n":                   nil,
		"ADDRESS=10.77.0.11\n":     nil,
		"":                         nil,
	} {
		got, err := routed(t, "", lease).OfferedServers()
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %v, %v", lease, got, err)
		}
	}
	m, _ := newMachine(t, nil)
	if got, err := m.OfferedServers(); err == nil {
		t.Errorf("a machine without a route is offered %v", got)
	}
}

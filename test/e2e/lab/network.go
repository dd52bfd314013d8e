package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/slipway-dev/slipway/test/fakecloud"
)

// The network of the sandbox. One machine runs at a time, and has one address, or a second one at a second interface. Machines that
// a provisioner starts run beside each other ([Machine.Place]).
const (
	bridge = "br0"
	// bridgeMAC is the same in every run: a machine that was saved in an earlier run has it in its ARP cache. With another one, its
	// packets would be lost for 10 s.
	bridgeMAC = "02:00:0a:4d:00:01"
	tap       = "tap0"
	secondTap = "tap1"
	thirdTap  = "tap2"
	// HostAddress is the sandbox's own address, with the API server.
	HostAddress = "10.77.0.1"
	// PrivateServer is the API server's name as for a private link. No DNS server knows it.
	PrivateServer = "e2e.privatelink.eastus.azmk8s.io"
	// RoutedServer is the API server's name in the sandbox's DNS server. Its address is in no network of the machines: they reach it by
	// their default route.
	RoutedServer  = "api.e2e.test"
	routedAddress = "10.78.0.1"
	// ClusterDNS is another address of the sandbox's DNS server, for pods: it knows the name of the API server's Service.
	ClusterDNS  = MirrorAddress
	serviceName = "kubernetes.default.svc.cluster.local"
	// KnownName and OtherName are the names that the sandbox's DNS server knows, with KnownAddress and OtherAddress.
	KnownName    = "known.e2e.test"
	KnownAddress = "192.0.2.7"
	OtherName    = "other.e2e.test"
	OtherAddress = "192.0.2.8"
	// NobodysAddress is an unused address.
	NobodysAddress = "10.77.0.250"
	// NodeAddress and NodeMAC are the machine's, unless it gets another address.
	NodeAddress = "10.77.0.11"
	NodeMAC     = "52:54:00:77:00:11"
	// SecondAddress and SecondMAC are those of its second interface, or of a second machine.
	SecondAddress = "10.77.0.13"
	SecondMAC     = "52:54:00:77:00:13"
	thirdAddress  = "10.77.0.15"
	thirdMAC      = "52:54:00:77:00:15"
	// AcceleratedMAC is that of its hardware interface.
	AcceleratedMAC = "52:54:00:77:00:14"
	// PodRange is the range of the pods' addresses.
	PodRange = "10.88.0.0/24"
	prefix   = 24
)

// place is a machine's place in the network.
type place struct{ tap, mac, address string }

// places limits how many machines can run beside each other. The first machine can have another address ([Lab.SetAddress]).
var places = []place{{tap, NodeMAC, NodeAddress}, {secondTap, SecondMAC, SecondAddress}, {thirdTap, thirdMAC, thirdAddress}}

// Places returns how many machines can run beside each other.
func Places() int { return len(places) }

// ip runs the ip command, once for each line.
func ip(ctx context.Context, lines ...string) error {
	for _, line := range lines {
		if out, err := exec.CommandContext(ctx, "ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", line, err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}

// network makes the sandbox's network, and starts DHCP and the cloud's services on it.
func (l *Lab) network(ctx context.Context) error {
	err := ip(ctx,
		"link set lo up",
		"link add "+bridge+" address "+bridgeMAC+" type bridge forward_delay 0",
		"addr add "+HostAddress+"/24 dev "+bridge,
		"addr add "+MirrorAddress+"/24 dev "+bridge,
		"addr add "+isolatedAddress+"/24 dev "+bridge,
		"addr add "+ecrAddress+"/24 dev "+bridge,
		"addr add "+routedAddress+"/32 dev "+bridge,
		"addr add "+fakecloud.MetadataAddress+"/32 dev "+bridge,
		"addr add "+fakecloud.WireServerAddress+"/32 dev "+bridge,
		"link set "+bridge+" up",
	)
	for _, p := range places {
		err = errors.Join(err, ip(ctx, "tuntap add dev "+p.tap+" mode tap", "link set "+p.tap+" master "+bridge, "link set "+p.tap+" up"))
	}
	if err != nil {
		return fmt.Errorf("make the network: %w", err)
	}
	// The server has the address from its start on: a signal that comes before its signal handlers would end it.
	if err := l.giveAddress(ctx, NodeAddress); err != nil {
		return err
	}
	if err := l.nameServer(HostAddress); err != nil {
		return err
	}
	if err := l.dhcp(ctx); err != nil {
		return err
	}
	return l.CloudUp()
}

// SetAddress gives the machine an address from its next start on, in the network and in its cloud's metadata.
func (l *Lab) SetAddress(ctx context.Context, address string) error {
	if address == l.address {
		return nil
	}
	if err := l.giveAddress(ctx, address); err != nil {
		return err
	}
	return l.readAgain()
}

// SetNameserver makes the network's DHCP server name another DNS server from its next answer on. It is the same server, at another
// of its addresses.
func (l *Lab) SetNameserver(address string) error {
	if err := l.nameServer(address); err != nil {
		return err
	}
	return l.readAgain()
}

// readAgain makes the DHCP server read its files again.
func (l *Lab) readAgain() error {
	if err := l.dnsmasq.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		return fmt.Errorf("have the DHCP server read its files again: %w", err)
	}
	return nil
}

// nameServer sets the network's DNS server, but does not notify a running DHCP server.
func (l *Lab) nameServer(address string) error {
	return os.WriteFile(l.optionsFile(), []byte("option:dns-server,"+address+"\n"), 0o644)
}

// giveAddress sets the machine's address, but does not notify a running DHCP server.
func (l *Lab) giveAddress(ctx context.Context, address string) error {
	if err := os.MkdirAll(filepath.Dir(l.hostsFile()), 0o755); err != nil {
		return err
	}
	hosts := NodeMAC + "," + address + "\n"
	for _, p := range places[1:] {
		hosts += p.mac + "," + p.address + "\n"
	}
	if err := os.WriteFile(l.hostsFile(), []byte(hosts), 0o644); err != nil {
		return err
	}
	l.Cloud.SetAddress(address)
	l.address = address
	return ip(ctx, "route replace "+PodRange+" via "+address)
}

// hostsFile is the path of the file with the machines' addresses (dnsmasq(8), --dhcp-hostsfile).
func (l *Lab) hostsFile() string { return filepath.Join(l.dir, "dhcp", "hosts") }

// optionsFile is the path of the file with the network's other options (dnsmasq(8), --dhcp-optsfile).
func (l *Lab) optionsFile() string { return filepath.Join(l.dir, "dhcp", "options") }

// dhcp starts a DHCP server that knows the machine by its interfaces, and sends it Azure's option 245 with the wire server's
// address. It also starts a DNS server that knows a few names, and answers for all others that they do not exist: a DNS server
// without an answer costs seconds.
func (l *Lab) dhcp(ctx context.Context) error {
	dir := filepath.Dir(l.hostsFile())
	var err error
	l.dnsmasq, err = l.start(ctx, "dnsmasq", nil, "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--user=root", "--no-resolv", "--no-hosts",
		"--interface="+bridge, "--bind-dynamic", "--no-ping", "--log-dhcp", "--host-record="+KnownName+","+KnownAddress, "--host-record="+OtherName+","+OtherAddress,
		"--host-record="+RoutedServer+","+routedAddress, "--host-record="+serviceName+","+serviceAddress,
		"--host-record="+isolatedHost+","+isolatedAddress, "--host-record="+ecrAPI+","+ecrHost+","+eksHost+","+ecrAddress,
		"--dhcp-leasefile="+filepath.Join(dir, "leases"), "--pid-file=",
		"--dhcp-range=10.77.0.0,static,255.255.255.0,12h", "--dhcp-hostsfile="+l.hostsFile(), "--dhcp-optsfile="+l.optionsFile(),
		"--dhcp-option=3,"+HostAddress, "--dhcp-option-force=245,a8:3f:81:10",
		"--dhcp-option=121,168.63.129.16/32,"+HostAddress+",169.254.169.254/32,"+HostAddress+",0.0.0.0/0,"+HostAddress)
	return err
}

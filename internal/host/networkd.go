package host

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"path"
	"strings"
)

const (
	// linkStates and leases are where systemd-networkd writes an interface's state and its DHCP lease, by the
	// interface's number. networkd's library reads the first (systemd: sd-network.c), cloud-init and Azure's agent the
	// second.
	linkStates = "/run/systemd/netif/links"
	leases     = "/run/systemd/netif/leases"
	// maxLinkState limits each of these files.
	maxLinkState = 64 << 10
)

// NetworkFile is the path of the file with which systemd-networkd has configured the interface with the default route.
func (m *Machine) NetworkFile() (string, error) {
	link, err := m.defaultLink()
	if err != nil {
		return "", err
	}
	state, err := m.ReadFile(fmt.Sprintf("%s/%d", linkStates, link.Index), maxLinkState)
	if err != nil {
		return "", fmt.Errorf("systemd-networkd does not know the interface %s: %w", link.Name, err)
	}
	if file := networkdValue(state, "NETWORK_FILE"); path.IsAbs(file) && path.Clean(file) == file {
		return file, nil
	}
	return "", fmt.Errorf("the interface %s is not configured by systemd-networkd", link.Name)
}

// OfferedServers are the DNS servers in the last DHCP lease of the interface with the default route. The resolver may
// use others. The list is empty if the interface's address is not from DHCP.
func (m *Machine) OfferedServers() ([]netip.Addr, error) {
	link, err := m.defaultLink()
	if err != nil {
		return nil, err
	}
	lease, err := m.ReadFile(fmt.Sprintf("%s/%d", leases, link.Index), maxLinkState)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the DHCP lease of the interface %s: %w", link.Name, err)
	}
	return serversOf(lease), nil
}

func (m *Machine) defaultLink() (*net.Interface, error) {
	name, err := m.defaultInterface()
	if err != nil {
		return nil, err
	}
	link, err := net.InterfaceByName(name)
	if err != nil {
		return nil, fmt.Errorf("interface %s: %w", name, err)
	}
	return link, nil
}

// serversOf are the DNS servers of a lease.
func serversOf(lease []byte) (servers []netip.Addr) {
	for _, word := range strings.Fields(networkdValue(lease, "DNS")) {
		if server, err := netip.ParseAddr(word); err == nil {
			servers = append(servers, server)
		}
	}
	return servers
}

// networkdValue is a value in one of systemd-networkd's files, or empty.
func networkdValue(state []byte, name string) string {
	for line := range strings.Lines(string(state)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
			return value
		}
	}
	return ""
}

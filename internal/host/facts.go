package host

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sort"
	"syscall"

	"github.com/slipway-dev/slipway/internal/facts"
)

var (
	_ facts.Machine = (*Machine)(nil)
	_ facts.Machine = (*Directory)(nil)
)

// Addresses returns the addresses of the interface with the IPv4 default route, or with IPv6's if there is no IPv4
// route. It leaves out addresses that the machine may lose.
func (m *Machine) Addresses() ([]netip.Addr, error) {
	link, err := m.defaultLink()
	if err != nil {
		return nil, err
	}
	table, err := syscall.NetlinkRIB(syscall.RTM_GETADDR, syscall.AF_UNSPEC)
	if err != nil {
		return nil, fmt.Errorf("addresses of %s: %w", link.Name, err)
	}
	return lasting(table, link.Index), nil
}

// Addresses returns nothing: a directory has no network.
func (d *Directory) Addresses() ([]netip.Addr, error) { return nil, nil }

// defaultInterface is the interface of the first default route.
func (m *Machine) defaultInterface() (string, error) {
	for route := range facts.DefaultRoutes(m.ReadFile) {
		return route.Interface, nil
	}
	return "", errors.New("the machine has no default route")
}

// Interfaces returns the network interfaces without loopback, in the order in which the kernel created them, so the
// machine's come before the pods'. It reads the addresses of at most facts.MaxInterfaces interfaces.
func (m *Machine) Interfaces() ([]facts.Interface, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("network interfaces: %w", err)
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Index < all[j].Index })
	all = slices.DeleteFunc(all, func(i net.Interface) bool { return i.Flags&net.FlagLoopback != 0 })
	var list []facts.Interface
	for _, i := range all[:min(len(all), facts.MaxInterfaces)] {
		networks, err := i.Addrs()
		if err != nil {
			continue // it has disappeared meanwhile
		}
		own := facts.Interface{Name: i.Name, MAC: i.HardwareAddr.String()}
		for _, network := range networks {
			own.Addresses = append(own.Addresses, network.String())
		}
		list = append(list, own)
	}
	return list, nil
}

// Interfaces returns nothing: a directory has no network.
func (d *Directory) Interfaces() ([]facts.Interface, error) { return nil, nil }

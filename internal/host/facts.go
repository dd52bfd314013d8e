package host

import (
	"bufio"
	"bytes"
	"debug/buildinfo"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/facts"
)

var (
	_ facts.Machine = (*Machine)(nil)
	_ facts.Machine = (*Directory)(nil)
)

// ReadDir lists the names in a directory, sorted.
func (t *Tree) ReadDir(path string) ([]string, error) {
	if err := checkPath(path); err != nil {
		return nil, failed("list", path, err)
	}
	dir, err := t.openDir(path, false)
	if err != nil {
		return nil, failed("list", path, err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, failed("list", path, err)
	}
	slices.Sort(names)
	return names, nil
}

// BuildInfo reads what the Go tool chain recorded in a binary. The binary is not run.
func (t *Tree) BuildInfo(path string) (*debug.BuildInfo, error) {
	p, err := t.find(path)
	if err != nil {
		return nil, failed("read build record of", path, err)
	}
	defer p.close()
	file, err := p.openFile(unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, failed("read build record of", path, err)
	}
	defer file.Close()
	info, err := buildinfo.Read(file)
	if err != nil {
		return nil, failed("read build record of", path, err)
	}
	return info, nil
}

// Addresses returns the addresses of the interface that has the default route: IPv4's, or IPv6's
// where there is no route of the other family.
func (m *Machine) Addresses() ([]netip.Addr, error) {
	name, err := m.defaultInterface()
	if err != nil {
		return nil, err
	}
	iface, err := net.InterfaceByName(name)
	if err != nil {
		return nil, fmt.Errorf("addresses of %s: %w", name, err)
	}
	networks, err := iface.Addrs()
	if err != nil {
		return nil, fmt.Errorf("addresses of %s: %w", name, err)
	}
	var addresses []netip.Addr
	for _, network := range networks {
		if prefix, err := netip.ParsePrefix(network.String()); err == nil {
			addresses = append(addresses, prefix.Addr().Unmap())
		}
	}
	return addresses, nil
}

// Addresses are none: a directory is in no network.
func (d *Directory) Addresses() ([]netip.Addr, error) { return nil, nil }

// routeTables are the kernel's routing tables, with the columns that matter (proc_pid_net(5)).
var routeTables = []struct {
	path              string
	destination, mask int
	device            int
	any               string
	anyMask           string
}{
	{"/proc/net/route", 1, 7, 0, "00000000", "00000000"},
	{"/proc/net/ipv6_route", 0, 1, 9, "00000000000000000000000000000000", "00"},
}

// maxRoutes bounds a routing table that is read.
const maxRoutes = 4 << 20

// defaultInterface is the interface of the first default route that does not lead nowhere.
func (m *Machine) defaultInterface() (string, error) {
	for _, table := range routeTables {
		content, err := m.ReadFile(table.path, maxRoutes)
		if err != nil {
			continue // a kernel without that family
		}
		lines := bufio.NewScanner(bytes.NewReader(content))
		for lines.Scan() {
			columns := strings.Fields(lines.Text())
			if len(columns) <= max(table.mask, table.device) || columns[table.device] == "lo" {
				continue
			}
			if columns[table.destination] == table.any && columns[table.mask] == table.anyMask {
				return columns[table.device], nil
			}
		}
	}
	return "", errors.New("there is no default route")
}

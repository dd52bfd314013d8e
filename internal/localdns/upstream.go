package localdns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"strings"
	"syscall"

	"github.com/slipway-dev/slipway/internal/plan/dnscache"
	"github.com/slipway-dev/slipway/internal/resource"
)

// network is what the machine's network has said of DNS.
type network struct {
	// file is the one by which systemd-networkd has configured it.
	file string
	// offered are the DNS servers that DHCP has named, and servers those that the cache asks.
	offered, servers []netip.Addr
}

// findNetwork finds the machine's network, and its DNS servers.
func (s *Supervisor) findNetwork(ctx context.Context) (n network, err error) {
	if n.file, err = s.Machine.NetworkFile(); err != nil {
		return n, fmt.Errorf("find the network whose DNS server is to be the cache: %w", err)
	}
	// Before the servers in force: what changes in between is found later. Who does not say has none.
	n.offered, _ = s.Machine.OfferedServers()
	n.servers, err = s.upstream(ctx)
	return n, err
}

// follow has the cache ask the DNS servers that DHCP names by now in place of those that it has named before, and reports whether
// they are others: a network can get new ones while the machine runs, and with the cache in force the resolver does not see them.
func (s *Supervisor) follow(n *network, process *cache) (changed bool, err error) {
	offered, err := s.Machine.OfferedServers()
	if err != nil || len(offered) == 0 || slices.Equal(offered, n.offered) {
		return false, nil // without a route there is no network for the moment
	}
	servers := replaced(n.servers, n.offered, offered)
	if changed = !slices.Equal(servers, n.servers); changed {
		if err := s.remember(servers); err != nil {
			return false, err
		}
		if err := s.prepare(servers); err != nil {
			return false, err
		}
		// It goes on answering, with the old settings where it does not take the new ones (CoreDNS manual, Reload).
		if err := process.signal(syscall.SIGUSR1); err != nil {
			return false, fmt.Errorf("have the DNS cache read its settings again: %w", err)
		}
	}
	n.offered, n.servers = offered, servers
	return changed, nil
}

// replaced are servers with those of one list in place of those of another. If none of the old ones is asked, the machine does not
// ask those of its network, and nothing changes; nor if none of the new ones can be asked.
func replaced(servers, old, with []netip.Addr) []netip.Addr {
	var all []netip.Addr
	for _, server := range servers {
		if slices.Contains(old, server) {
			all = append(all, with...)
		} else {
			all = append(all, server)
		}
	}
	if all = nameservers(resolverText(all)); len(all) == 0 {
		return servers
	}
	return all
}

// resolverText names servers as resolv.conf(5) does.
func resolverText(servers []netip.Addr) []byte {
	var text bytes.Buffer
	for _, server := range servers {
		fmt.Fprintf(&text, "nameserver %s\n", server)
	}
	return text.Bytes()
}

// nameservers are the DNS servers that a file names (resolv.conf(5)), each once, and without the cache itself. One that
// can be reached by a link alone is left out: CoreDNS does not know the link.
func nameservers(text []byte) (servers []netip.Addr) {
	for line := range bytes.Lines(text) {
		words := strings.Fields(string(line))
		if len(words) < 2 || words[0] != "nameserver" {
			continue
		}
		address, err := netip.ParseAddr(words[1])
		if err != nil || address.Zone() != "" || slices.Contains(listeners, address) || slices.Contains(servers, address) {
			continue
		}
		servers = append(servers, address)
	}
	return servers[:min(len(servers), maxServers)]
}

// upstream finds the machine's DNS servers: those in force, or, where only the cache is, those that were before it.
func (s *Supervisor) upstream(ctx context.Context) ([]netip.Addr, error) {
	known, err := s.recall()
	if err != nil {
		return nil, err
	}
	patience := upstreamPatience
	if len(known) > 0 {
		patience = settlePatience
	}
	var servers []netip.Addr
	err = pollFor(ctx, patience, func() (bool, error) {
		text, err := s.Machine.ReadFile(inForce, maxResolver)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		servers = nameservers(text)
		return len(servers) > 0, err
	})
	switch {
	case err == nil:
		return servers, s.remember(servers)
	case errors.Is(err, errPatience) && len(known) > 0:
		return known, nil
	case errors.Is(err, errPatience):
		return nil, fmt.Errorf("%s names no DNS server: the machine has none, or does not look names up with systemd-resolved", inForce)
	}
	return nil, err
}

// remember keeps the servers in force, for a supervisor that finds the cache alone in force.
func (s *Supervisor) remember(servers []netip.Addr) error {
	return s.Machine.WriteFileAtomic(&resource.File{Path: remembered, Mode: 0o600, Content: resolverText(servers)})
}

// recall are the servers that were in force before the cache.
func (s *Supervisor) recall() ([]netip.Addr, error) {
	text, err := s.Machine.ReadFile(remembered, maxResolver)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return nameservers(text), err
}

// withServers is a Corefile that asks the machine's own DNS servers where the planner's asks Azure's: on Azure, those of
// the virtual network (AKS: localdns.sh).
func withServers(text []byte, servers []netip.Addr) []byte {
	const azure = "forward . " + dnscache.AzureDNS + " {"
	return bytes.ReplaceAll(text, []byte(azure), []byte("forward . "+joined(servers)+" {"))
}

func joined(servers []netip.Addr) string {
	var words []string
	for _, server := range servers {
		words = append(words, server.String())
	}
	return strings.Join(words, " ")
}

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

// network is the DNS configuration of the machine's network.
type network struct {
	// file is the file with which systemd-networkd has configured it.
	file string
	// offered are the DNS servers in the DHCP lease, and servers those that the cache uses.
	offered, servers []netip.Addr
}

// findNetwork finds the machine's network, and its DNS servers.
func (s *Supervisor) findNetwork(ctx context.Context) (n network, err error) {
	if n.file, err = s.Machine.NetworkFile(); err != nil {
		return n, fmt.Errorf("find the network whose DNS server is to be the cache: %w", err)
	}
	// This precedes reading the servers in use, so that a change in between is found later. Without an answer there are
	// none.
	n.offered, _ = s.Machine.OfferedServers()
	n.servers, err = s.upstream(ctx)
	return n, err
}

// follow makes the cache use the present DNS servers of the DHCP lease instead of the earlier ones, and reports whether
// they differ: a network can change them while the machine runs, and with the cache in use the resolver does not see
// that.
func (s *Supervisor) follow(n *network, process *cache) (changed bool, err error) {
	offered, err := s.Machine.OfferedServers()
	if err != nil || len(offered) == 0 || slices.Equal(offered, n.offered) {
		return false, nil // without a route the network is down for the moment
	}
	servers := replaced(n.servers, n.offered, offered)
	if changed = !slices.Equal(servers, n.servers); changed {
		if err := s.remember(servers); err != nil {
			return false, err
		}
		if err := s.prepare(servers); err != nil {
			return false, err
		}
		// It keeps answering. If it rejects the new settings, it keeps the old ones (CoreDNS manual, Reload).
		if err := process.signal(syscall.SIGUSR1); err != nil {
			return false, fmt.Errorf("have the DNS cache read its settings again: %w", err)
		}
	}
	n.offered, n.servers = offered, servers
	return changed, nil
}

// replaced replaces the servers of one list by those of another. If none of the old ones is in use, the machine does
// not use its network's servers, and nothing changes. Nor does it if none of the new ones can be used.
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

// resolverText formats servers for resolv.conf(5).
func resolverText(servers []netip.Addr) []byte {
	var text bytes.Buffer
	for _, server := range servers {
		fmt.Fprintf(&text, "nameserver %s\n", server)
	}
	return text.Bytes()
}

// nameservers are the DNS servers in a file (resolv.conf(5)), each once, and without the cache itself. A link-local one
// is left out: CoreDNS does not know the link.
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

// upstream finds the machine's DNS servers: those in use, or, if that is only the cache, the earlier ones.
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

// remember records the servers in use, for a later supervisor that finds only the cache in use.
func (s *Supervisor) remember(servers []netip.Addr) error {
	return s.Machine.WriteFileAtomic(&resource.File{Path: remembered, Mode: 0o600, Content: resolverText(servers)})
}

// recall returns the servers that were in use before the cache.
func (s *Supervisor) recall() ([]netip.Addr, error) {
	text, err := s.Machine.ReadFile(remembered, maxResolver)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return nameservers(text), err
}

// withServers replaces Azure's DNS server in the planner's Corefile by the machine's DNS servers: on Azure, those of
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

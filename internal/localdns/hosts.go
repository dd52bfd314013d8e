package localdns

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/slipway-dev/slipway/internal/parallel"
	"github.com/slipway-dev/slipway/internal/plan/dnscache"
	"github.com/slipway-dev/slipway/internal/poll"
	"github.com/slipway-dev/slipway/internal/resource"
)

const (
	// lookupRounds is how often a name is looked up if no server answers (AKS: aks-localdns-hosts-setup).
	lookupRounds = 3
	// lookupsAtOnce is how many names are looked up in parallel.
	lookupsAtOnce = 8
	maxHosts      = 1 << 20
	// hostsRetry is the pause before the next lookup if a name did not resolve. It doubles each time, up to Refresh:
	// while systemd-networkd switches to the cache, the machine has no address for a second.
	hostsRetry = 5 * time.Second
)

// addresses are a name's addresses, by type.
type addresses map[dnsmessage.Type][]string

// types are the types of addresses, in the order of the file.
var types = []dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA}

// keepHosts looks the names up, now and every Refresh, until ctx is done, and sooner if one did not resolve.
func (s *Supervisor) keepHosts(ctx context.Context, servers []netip.Addr) {
	if len(s.Names) == 0 {
		return
	}
	retry := min(hostsRetry, s.Refresh)
	for {
		all, err := s.refreshHosts(ctx, servers)
		if err != nil {
			s.Log.Warn("the addresses of critical names are not renewed", "path", dnscache.HostsFile, "error", err)
		}
		wait := s.Refresh
		if all && err == nil {
			retry = min(hostsRetry, s.Refresh)
		} else {
			wait, retry = retry, min(2*retry, s.Refresh)
		}
		if !poll.Sleep(ctx, wait) {
			return
		}
	}
}

// refreshHosts looks the names up once, and replaces the file if anything has changed. If a name does not exist, or no
// server answers, its addresses in the file stay, and all is false.
func (s *Supervisor) refreshHosts(ctx context.Context, servers []netip.Addr) (all bool, err error) {
	have, err := s.Machine.ReadFile(dnscache.HostsFile, maxHosts)
	if err != nil {
		return false, err
	}
	old := parseHosts(have)
	found, known := make([]addresses, len(s.Names)), make([]bool, len(s.Names))
	parallel.Each(len(s.Names), lookupsAtOnce, func(i int) { found[i], known[i] = s.lookUp(ctx, servers, s.Names[i], old[s.Names[i]]) })
	if ctx.Err() != nil {
		return false, nil
	}
	all = !slices.Contains(known, false)
	var text bytes.Buffer
	text.WriteString("# Written by slipway-node local-dns: names that must resolve although DNS is down.\n")
	for i, name := range s.Names {
		for _, kind := range types {
			for _, address := range found[i][kind] {
				fmt.Fprintf(&text, "%s %s\n", address, name)
			}
		}
	}
	if bytes.Equal(text.Bytes(), have) {
		return all, nil
	}
	return all, s.Machine.WriteFileAtomic(&resource.File{Path: dnscache.HostsFile, Mode: 0o644, Content: text.Bytes()})
}

// parseHosts returns a file's addresses, by name (hosts(5)).
func parseHosts(text []byte) map[string]addresses {
	all := make(map[string]addresses)
	for line := range bytes.Lines(text) {
		words := strings.Fields(string(line))
		if len(words) != 2 {
			continue
		}
		address, err := netip.ParseAddr(words[0])
		if err != nil {
			continue
		}
		if all[words[1]] == nil {
			all[words[1]] = make(addresses)
		}
		kind := dnsmessage.TypeAAAA
		if address.Is4() {
			kind = dnsmessage.TypeA
		}
		all[words[1]][kind] = append(all[words[1]][kind], address.String())
	}
	return all
}

// lookUp looks a name up, and reports whether it resolves. If not, it returns the old addresses. If the name has
// addresses of one type only, the result has none of the other.
func (s *Supervisor) lookUp(ctx context.Context, servers []netip.Addr, name string, old addresses) (found addresses, known bool) {
	found = make(addresses)
	for _, kind := range types {
		got, answered := s.lookUpType(ctx, servers, name, kind)
		if !answered {
			got = old[kind]
		} else if len(got) > 0 {
			known = true
		}
		// An answer's order changes each time, so the addresses are sorted; the cache sets the order of its answers.
		slices.Sort(got)
		found[kind] = slices.Compact(got)
	}
	if !known {
		s.Log.Warn("a critical name does not resolve, and keeps its addresses", "name", name)
		return old, false
	}
	return found, true
}

// lookUpType asks each of the servers in turn for the addresses of a name, and reports whether one has answered.
func (s *Supervisor) lookUpType(ctx context.Context, servers []netip.Addr, name string, kind dnsmessage.Type) (found []string, answered bool) {
	for range lookupRounds {
		for _, server := range servers {
			if ctx.Err() != nil {
				return nil, false
			}
			got, err := s.ask(ctx, server, name, kind)
			if err == nil && (got.Code == dnsmessage.RCodeSuccess || got.Code == dnsmessage.RCodeNameError) {
				return got.Addresses, true
			}
		}
	}
	return nil, false
}

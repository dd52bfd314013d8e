package localdns

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/parallel"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
)

const (
	// lookupRounds is how often a name is asked for that nobody answers (AKS: aks-localdns-hosts-setup).
	lookupRounds = 3
	// lookupsAtOnce is how many names are asked for at the same time.
	lookupsAtOnce = 8
	maxHosts      = 1 << 20
)

// addresses are those of a name, by type.
type addresses map[recordType][]string

// types are the types of addresses, in the order in which the file has them.
var types = []recordType{typeA, typeAAAA}

// keepHosts looks the names up, now and every Refresh, until ctx is done.
func (s *Supervisor) keepHosts(ctx context.Context, servers []netip.Addr) {
	if len(s.Names) == 0 {
		return
	}
	for {
		if err := s.refreshHosts(ctx, servers); err != nil {
			s.Log.Warn("the addresses of critical names are not renewed", "path", plan.LocalDNSHosts, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(s.Refresh):
		}
	}
}

// refreshHosts looks the names up once, and replaces the file if anything has changed. A name that nobody knows, or that
// nobody answers for, keeps what the file has for it.
func (s *Supervisor) refreshHosts(ctx context.Context, servers []netip.Addr) error {
	have, err := s.Machine.ReadFile(plan.LocalDNSHosts, maxHosts)
	if err != nil {
		return err
	}
	old := parseHosts(have)
	found := make([]addresses, len(s.Names))
	parallel.Each(len(s.Names), lookupsAtOnce, func(i int) { found[i] = s.lookUp(ctx, servers, s.Names[i], old[s.Names[i]]) })
	if ctx.Err() != nil {
		return nil
	}
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
		return nil
	}
	return s.Machine.WriteFileAtomic(&resource.File{Path: plan.LocalDNSHosts, Mode: 0o644, Content: text.Bytes()})
}

// parseHosts are the addresses that a file has, by name (hosts(5)).
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
		kind := typeAAAA
		if address.Is4() {
			kind = typeA
		}
		all[words[1]][kind] = append(all[words[1]][kind], address.String())
	}
	return all
}

// lookUp looks a name up. Of a type that it has no addresses of, it has none, if it has some of the other.
func (s *Supervisor) lookUp(ctx context.Context, servers []netip.Addr, name string, old addresses) addresses {
	found, known := make(addresses), false
	for _, kind := range types {
		got, answered := s.lookUpType(ctx, servers, name, kind)
		if !answered {
			got = old[kind]
		} else if len(got) > 0 {
			known = true
		}
		// The order of an answer changes each time; the cache has one of its own.
		slices.Sort(got)
		found[kind] = slices.Compact(got)
	}
	if !known {
		s.Log.Warn("a critical name does not resolve, and keeps its addresses", "name", name)
		return old
	}
	return found
}

// lookUpType asks each of the servers in turn for the addresses of a name, and reports whether one has answered.
func (s *Supervisor) lookUpType(ctx context.Context, servers []netip.Addr, name string, kind recordType) (found []string, answered bool) {
	for range lookupRounds {
		for _, server := range servers {
			if ctx.Err() != nil {
				return nil, false
			}
			got, err := s.ask(ctx, server, name, kind)
			if err == nil && (got.code == codeSuccess || got.code == codeNoName) {
				return got.addresses, true
			}
		}
	}
	return nil, false
}

package doctor

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/namelookup"
)

// nameChecks are those of the names of servers.
var nameChecks = []Check{{
	Name: "names", Asks: "Do the machine's DNS servers answer, and do they know the API server's name?",
	Needs: []string{"route"}, Live: true, Deadline: namelookup.Patience + time.Second,
	Causes: []Cause{
		{"none", "the machine has no DNS server", "give the network's DNS servers by DHCP, or set DNS= in the network's file (systemd.network(5)) or nameserver in /etc/resolv.conf"},
		{"unknown-name", "the DNS servers answer that the name does not exist",
			"ask the name's owner for the right DNS server: a private cluster's name exists only in its private DNS zone, so link the zone to this machine's network, or let the custom DNS server forward to the cloud's (Azure: 168.63.129.16, EC2: 169.254.169.253)"},
		{"no-address", "the name exists and has no address", "add an A or AAAA record for the name, or correct the server's name in the kubeconfig"},
		{"silent", "no DNS server answers", "check that the servers' addresses are right, and that the firewall, the security group and the routes let UDP and TCP port 53 through"},
		{"refused", "the DNS servers refuse this machine or the question", "start the DNS server at that address, or let it answer this machine's network and this name"},
		{"failing", "the DNS servers cannot get an answer themselves", "check the DNS server's own forwarders and its DNSSEC validation: it answers SERVFAIL if they fail"},
		{"stub", "systemd-resolved fails although its DNS servers know the name", "look at `resolvectl status` and `journalctl -u systemd-resolved`, then restart systemd-resolved"},
	},
	Look: lookNames,
}}

func lookNames(ctx context.Context, p *Patient) *Finding {
	what, name := "the API server's name", ""
	if s := p.server(); s != nil {
		if name = s.first(); name != s.host {
			what = "the proxy's name"
		}
	}
	if _, err := netip.ParseAddr(name); err == nil || name == "" {
		return lookServers(ctx, p)
	}
	l := p.lookUp(ctx, name)
	if l == nil {
		return unknown("the lookup of %s did not end", name)
	}
	if l.Found {
		return asked(l).fine("%s %s resolves to %s by %s", what, name, joined(l.Addresses), l.From)
	}
	cause, how := verdictOf(l)
	return asked(l).wrong(cause, "%s does not resolve: %s", what, how)
}

// lookServers examines the DNS servers of a machine that needs no name to join: then only a silent server is wrong,
// because a server of an isolated network may refuse the names of others, and a machine there may have no server.
func lookServers(ctx context.Context, p *Patient) *Finding {
	const needless = "the API server has no name that must resolve, and the machine has no DNS server"
	conf := namelookup.ReadResolver(p.Machine, namelookup.ResolvFile)
	if len(conf.Servers) == 0 {
		return fine(needless)
	}
	l := p.lookUp(ctx, usualRegistry)
	if l == nil {
		return unknown("the DNS servers were not asked in time")
	}
	if !l.Found {
		switch cause, how := verdictOf(l); cause {
		case "silent":
			return asked(l).wrong(cause, "no name resolves: %s", how)
		case "none": // systemd-resolved's own address is in the file, and it has no server
			return asked(l).fine(needless)
		}
	}
	return asked(l).fine("the API server has no name that must resolve, and the machine's DNS servers answer")
}

// verdictOf is the cause of a failed lookup, and a description of what was tried.
func verdictOf(l *namelookup.Lookup) (cause, how string) {
	if l.Problem != "" {
		return "none", l.Problem
	}
	asked := l.Asked
	if l.Stub {
		if len(l.Upstream) == 0 {
			return "none", "systemd-resolved has no DNS server that it could ask (" + namelookup.ResolvedFile + ")"
		}
		for _, r := range l.Upstream {
			if r.Found() {
				return "stub", fmt.Sprintf("systemd-resolved %s for %s, although its DNS server %s knows it", l.Asked[0].Says(), l.Name, r.Server)
			}
		}
		asked = l.Upstream
	}
	var parts []string
	for _, r := range asked {
		parts = append(parts, fmt.Sprintf("resolver %s %s", r.Server, r.Sentence(l.Name)))
	}
	decisive := &asked[0]
	for i := range asked {
		if asked[i].Decides() {
			decisive = &asked[i]
			break
		}
	}
	return decisive.Cause(), strings.Join(parts, "; ")
}

// asked is a finding with a lookup as evidence.
func asked(l *namelookup.Lookup) *Finding {
	f := new(Finding)
	for _, list := range [][]namelookup.Reply{l.Asked, l.Upstream} {
		for _, r := range list {
			f.with("ask "+r.Server+" for "+l.Name, r.Detail())
		}
	}
	return f
}

func joined(addresses []netip.Addr) string {
	texts := make([]string, len(addresses))
	for i, a := range addresses {
		texts[i] = a.String()
	}
	return strings.Join(texts, ", ")
}

// lookups are the lookups of names, each made once.
type lookups struct {
	mu  sync.Mutex
	all map[string]*lookup
}

// lookup has its result when done is closed.
type lookup struct {
	done   chan struct{}
	result *namelookup.Lookup
}

// lookUp looks a name up as the machine's programs do, once for all checks, for at most namelookup.Patience. It returns nil if
// ctx is done before.
func (p *Patient) lookUp(ctx context.Context, name string) *namelookup.Lookup {
	n := &p.known.names
	n.mu.Lock()
	l := n.all[name]
	if l == nil {
		l = &lookup{done: make(chan struct{})}
		if n.all == nil {
			n.all = make(map[string]*lookup)
		}
		n.all[name] = l
		go func() {
			// It outlasts the check that began it, because other checks wait for it, too.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.Patience(namelookup.Patience))
			defer cancel()
			l.result = namelookup.New(ctx, p.Machine, name)
			close(l.done)
		}()
	}
	n.mu.Unlock()
	select {
	case <-l.done:
		return l.result
	case <-ctx.Done():
		return nil
	}
}

package doctor

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// namePatience is how long a DNS server may take, as in other programs (resolv.conf(5), timeout).
const namePatience = 5 * time.Second

// nameChecks are those of the names of servers.
var nameChecks = []Check{{
	Name: "names", Asks: "Do the machine's DNS servers answer, and do they know the API server's name?",
	Needs: []string{"route"}, Live: true, Deadline: namePatience + time.Second,
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

func lookNames(ctx context.Context, p *Patient) Finding {
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
	if l.found {
		f := fine("%s %s resolves to %s by %s", what, name, joined(l.addresses), l.from)
		return f.with(l.evidence()...)
	}
	cause, how := l.verdict()
	return wrong(cause, "%s does not resolve: %s", what, how).with(l.evidence()...)
}

// lookServers examines the DNS servers of a machine that needs no name to join: then only a silent server is wrong,
// because a server of an isolated network may refuse the names of others.
func lookServers(ctx context.Context, p *Patient) Finding {
	conf := resolvConf(p.Machine, resolvFile)
	if len(conf.servers) == 0 {
		return fine("the API server has no name that must resolve, and the machine has no DNS server")
	}
	l := p.lookUp(ctx, usualRegistry)
	if l == nil {
		return unknown("the DNS servers were not asked in time")
	}
	if cause, how := l.verdict(); !l.found && (cause == "silent" || cause == "none") {
		return wrong(cause, "no name resolves: %s", how).with(l.evidence()...)
	}
	return fine("the API server has no name that must resolve, and the machine's DNS servers answer").with(l.evidence()...)
}

// verdict is the cause of a failed lookup, and a description of what was tried.
func (l *lookup) verdict() (cause, how string) {
	if l.problem != "" {
		return "none", l.problem
	}
	asked := l.asked
	if l.stub {
		if len(l.upstream) == 0 {
			return "none", "systemd-resolved has no DNS server that it could ask (" + resolvedFile + ")"
		}
		for _, r := range l.upstream {
			if r.found() {
				return "stub", fmt.Sprintf("systemd-resolved %s for %s, although its DNS server %s knows it", l.asked[0].says(), l.name, r.server)
			}
		}
		asked = l.upstream
	}
	var parts []string
	for _, r := range asked {
		parts = append(parts, fmt.Sprintf("resolver %s %s", r.server, r.sentence(l.name)))
	}
	decisive := &asked[0]
	for i := range asked {
		if asked[i].decides() {
			decisive = &asked[i]
			break
		}
	}
	return decisive.cause(), strings.Join(parts, "; ")
}

func (l *lookup) evidence() (all []Evidence) {
	for _, list := range [][]reply{l.asked, l.upstream} {
		for _, r := range list {
			all = append(all, Evidence{"ask " + r.server + " for " + l.name, r.detail()})
		}
	}
	return all
}

func joined(addresses []netip.Addr) string {
	texts := make([]string, len(addresses))
	for i, a := range addresses {
		texts[i] = a.String()
	}
	return strings.Join(texts, ", ")
}

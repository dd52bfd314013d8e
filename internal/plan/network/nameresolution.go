package network

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// nameResolution is how the host, and pods with the host's DNS, look names up: which DNS servers they ask in place of those that
// DHCP names, and in which domains they look for short names.
var nameResolution = concern.Concern{
	Name:  "name resolution",
	Reads: []string{setting.Nameservers, searchPath},
	Plan:  planNameResolution,
}

const (
	searchPath = "$.network.searchDomains"

	// resolvedDropIns are drop-ins of systemd-resolved (resolved.conf(5)), managerDropIns those of NetworkManager
	// (NetworkManager.conf(5)).
	resolvedDropIns = "/etc/systemd/resolved.conf.d/"
	managerDropIns  = "/etc/NetworkManager/conf.d/"

	serversReason = "the contract's DNS servers are asked in place of those that DHCP names"
	searchReason  = "short names are looked for in the contract's domains too"
)

func planNameResolution(in *concern.Input, out *concern.Output) {
	servers, domains := in.Config.Network.Nameservers, in.Config.Network.SearchDomains
	resolved, manager := in.Distro.Resolver.Resolved, in.Distro.Resolver.NetworkManager
	switch {
	case len(servers) == 0:
	case resolved:
		// Without a routing domain, the servers of each link are asked as well. With it, every name goes to these
		// (resolved.conf(5), DNS= and Domains=; systemd-resolved.service(8), protocols and routing).
		out.File(resource.Base, resolvedDropIns+"60-slipway-dns.conf", 0o644, unitfile.File(unitfile.Section("Resolve"), unitfile.Set("DNS", unitfile.Quote(strings.Join(servers, " "))), unitfile.Set("Domains", "~.")),
			serversReason, facts.ResolvedUnit)
		out.AskedBy(setting.Nameservers)
	case manager:
		globalDNS(out, "60-slipway-dns.conf", "global-dns-domain-*", "servers", servers, serversReason)
		out.AskedBy(setting.Nameservers)
	default:
		// The node would use other servers than its author wants, so this is an error if the machine is known.
		out.Add(nodeconfig.Problem{
			Kind: nodeconfig.NotApplied, Path: setting.Nameservers, Fatal: in.Seen(),
			Reason: "is not applied: it is not known that " + concern.SystemName(in) + " looks names up with systemd-resolved; the node would ask the DNS servers that DHCP names",
		})
	}
	switch {
	case len(domains) == 0:
	case resolved:
		out.File(resource.Base, resolvedDropIns+"70-slipway-search.conf", 0o644, unitfile.File(unitfile.Section("Resolve"), unitfile.Set("Domains", unitfile.Quote(strings.Join(domains, " ")))),
			concern.Sourced(searchReason, in.Family.Sources.SearchDomains), facts.ResolvedUnit)
		out.AskedBy(searchPath)
	case manager && len(servers) > 0:
		globalDNS(out, "70-slipway-search.conf", "global-dns", "searches", domains, concern.Sourced(searchReason, in.Family.Sources.SearchDomains))
		out.AskedBy(searchPath)
	case manager: // a section for the default domain is mandatory (NetworkManager.conf(5), global-dns-domain)
		out.Warn(nodeconfig.NotApplied, searchPath, "is not applied: NetworkManager, which %s has, takes search domains only together with DNS servers; name them in network.nameservers", concern.SystemName(in))
	default:
		out.Warn(nodeconfig.NotApplied, searchPath, "is not applied: it is not known that %s looks names up with systemd-resolved", concern.SystemName(in))
	}
}

// globalDNS adds a setting of NetworkManager's that takes the place of each connection's own. It reads it when it is reloaded, and no
// connection ends.
func globalDNS(o *concern.Output, file string, section, setting unitfile.Text, values []string, reason string) {
	o.Append(resource.Resource{
		Phase: resource.Base, Effects: resource.Effects{Reloads: []string{"NetworkManager.service"}}, Reason: reason,
		Spec: &resource.File{Path: managerDropIns + file, Mode: 0o644, Content: unitfile.File(unitfile.Section(section), unitfile.Set(setting, unitfile.Quote(strings.Join(values, ","))))},
	})
}

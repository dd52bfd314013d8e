package plan

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// nameservers are the DNS servers that the host asks, and pods with the host's DNS, in place of those that DHCP names.
var nameservers = concern{
	name:  "DNS servers",
	reads: []string{"$.network.nameservers"},
	plan:  planNameservers,
}

const (
	nameserversPath = "$.network.nameservers"
	// nameserversConfig is a drop-in of systemd-resolved (resolved.conf(5)).
	nameserversConfig = "/etc/systemd/resolved.conf.d/60-slipway-dns.conf"
)

func planNameservers(in *input, out *output) {
	servers := in.config.Network.Nameservers
	switch {
	case len(servers) == 0:
	case !slices.Contains(withResolved, in.facts.OS.ID):
		// Who needs them sees an error; of which machine it is may not be known yet.
		out.report(nodeconfig.Problem{
			Kind: nodeconfig.NotApplied, Path: nameserversPath, Fatal: in.facts.OS.ID != "",
			Reason: "is not applied: it is not known that " + systemName(in) + " looks names up with systemd-resolved; the node would ask the DNS servers that DHCP names",
		})
	default:
		// Without a routing domain of their own, those of each link are asked as well: with it, every name goes to these
		// (resolved.conf(5), DNS= and Domains=; systemd-resolved.service(8), protocols and routing).
		out.file(resource.Base, nameserversConfig, 0o644, unitfile.File(unitfile.Section("Resolve"), unitfile.Set("DNS", unitfile.Quote(strings.Join(servers, " "))), unitfile.Set("Domains", "~.")),
			"the contract's DNS servers are asked in place of those that DHCP names", "systemd-resolved.service")
		out.askedBy(nameserversPath)
	}
}

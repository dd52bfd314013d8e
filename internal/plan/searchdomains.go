package plan

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// searchDomains are those in which the host, and pods with the host's DNS, look for short names.
var searchDomains = concern{
	name:  "search domains",
	reads: []string{"$.network.searchDomains"},
	plan:  planSearchDomains,
}

// resolvedConfig is a drop-in of systemd-resolved (resolved.conf(5)).
const resolvedConfig = "/etc/systemd/resolved.conf.d/70-slipway-search.conf"

// withResolved are the distributions whose images look names up with systemd-resolved (os-release(5), ID).
var withResolved = []string{"azurelinux", "flatcar", "mariner", "ubuntu"}

func planSearchDomains(in *input, out *output) {
	domains := in.config.Network.SearchDomains
	switch {
	case len(domains) == 0:
	case !slices.Contains(withResolved, in.facts.OS.ID):
		out.warn(nodeconfig.NotApplied, "$.network.searchDomains", "is not applied: it is not known that %s looks names up with systemd-resolved", systemName(in))
	default:
		out.file(resource.Base, resolvedConfig, 0o644, unitfile.File(unitfile.Section("Resolve"), unitfile.Set("Domains", unitfile.Quote(strings.Join(domains, " ")))),
			sourced("short names are looked for in the contract's domains too", in.family.Sources.SearchDomains), "systemd-resolved.service")
		out.askedBy("$.network.searchDomains")
	}
}

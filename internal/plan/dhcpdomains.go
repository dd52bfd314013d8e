package plan

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
)

// dhcpDomains looks for short names in the domain that the network's DHCP server names, on distributions whose systemd-networkd
// does not by itself.
var dhcpDomains = concern{
	name:  "DHCP domains",
	reads: []string{"$.network.ipFamilies"},
	plan:  planDHCPDomains,
}

// dhcpDomainsConfig is a drop-in of systemd-networkd (networkd.conf(5)).
const dhcpDomainsConfig = "/etc/systemd/networkd.conf.d/70-slipway-domains.conf"

func planDHCPDomains(in *input, out *output) {
	if !in.family.Host.DHCPDomains || !in.distro.Network.IgnoresDomains {
		return
	}
	lines := []unitfile.Line{unitfile.Section("DHCPv4"), unitfile.Set("UseDomains", "yes")}
	if slices.Contains(in.config.Network.IPFamilies, "IPv6") {
		lines = append(lines, unitfile.Section("DHCPv6"), unitfile.Set("UseDomains", "yes"))
	}
	// A restart of systemd-networkd takes the machine's addresses away, and a reload does not read this file (networkctl(1)). So it
	// is true from the next boot on, and nothing that is asked of a running node waits for that.
	out.file(resource.Base, dhcpDomainsConfig, 0o644, unitfile.File(lines...),
		sourced("short names are looked for in the network's domain too, from the next start of systemd-networkd on", in.family.Sources.Units))
}

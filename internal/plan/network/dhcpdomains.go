package network

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
)

// dhcpDomains looks for short names in the domain that the network's DHCP server names, on distributions whose systemd-networkd
// does not by itself.
var dhcpDomains = concern.Concern{
	Name:  "DHCP domains",
	Reads: []string{"$.network.ipFamilies"},
	Plan:  planDHCPDomains,
}

// dhcpDomainsConfig is a drop-in of systemd-networkd (networkd.conf(5)).
const dhcpDomainsConfig = "/etc/systemd/networkd.conf.d/70-slipway-domains.conf"

func planDHCPDomains(in *concern.Input, out *concern.Output) {
	if !in.Family.Host.DHCPDomains || !in.Distro.Network.IgnoresDomains {
		return
	}
	lines := []unitfile.Line{unitfile.Section("DHCPv4"), unitfile.Set("UseDomains", "yes")}
	if slices.Contains(in.Config.Network.IPFamilies, "IPv6") {
		lines = append(lines, unitfile.Section("DHCPv6"), unitfile.Set("UseDomains", "yes"))
	}
	// A restart of systemd-networkd removes the machine's addresses, and a reload does not read this file (networkctl(1)). So the file
	// has its effect from the next boot on, and no check of a running node waits for that.
	out.File(resource.Base, dhcpDomainsConfig, 0o644, unitfile.File(lines...),
		concern.Sourced("short names are looked for in the network's domain too, from the next start of systemd-networkd on", in.Family.Sources.Units))
}

package network

import (
	"fmt"
	"slices"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
)

// ipv6Probes lets the health probes that Azure's load balancer sends over IPv6 reach pods: they come from a link-local address,
// and the kernel forwards nothing from one. An image that has AKS's unit for it needs nothing.
var ipv6Probes = concern.Concern{
	Name:  "IPv6 probes",
	Joins: true,
	Reads: []string{"$.network.ipFamilies"},
	Plan:  planIPv6Probes,
}

const (
	probesUnit  = "slipway-ipv6-probes.service"
	probesRules = "/etc/slipway/ipv6-probes.nft"
	nft         = "/usr/sbin/nft"
)

func planIPv6Probes(in *concern.Input, out *concern.Output) {
	p := in.Family.Host.Probes
	if p.Unit == "" || in.Facts.Platform != facts.Azure || !slices.Contains(in.Config.Network.IPFamilies, "IPv6") || in.ImageUnit(p.Unit) != "" {
		return
	}
	// Neighbour discovery and router advertisements use link-local addresses, which must not change.
	out.File(resource.Join, probesRules, 0o644, fmt.Appendf(nil, `# Removed first, so that the rules are there once (nft(8)).
table ip6 %[1]s
delete table ip6 %[1]s
table ip6 %[1]s {
	chain prerouting {
		type filter hook prerouting priority -300;
		iifname "%[2]s" icmpv6 type { nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert } accept
		iifname "%[2]s" ip6 saddr %[3]s ip6 saddr set %[4]s
	}
	chain postrouting {
		type filter hook postrouting priority -300;
		oifname "%[2]s" ip6 daddr %[4]s ip6 daddr set %[3]s
	}
}
`, p.Table, p.Interface, p.From, p.As), concern.Sourced("the load balancer's probes have an address that is forwarded, and their answers its own", in.Family.Sources.Units), probesUnit)
	out.File(resource.Join, resource.UnitDir+"/"+probesUnit, 0o644, unitfile.File(
		unitfile.Section("Unit"),
		unitfile.Set("Description", "Health probes of the load balancer over IPv6"),
		unitfile.Set("DefaultDependencies", "no"),
		unitfile.Set("After", "local-fs.target"),
		unitfile.Set("ConditionPathExists", nft),
		unitfile.Set("Conflicts", "shutdown.target"),
		unitfile.Set("Before", "shutdown.target"),
		unitfile.Section("Service"),
		unitfile.Set("Type", "oneshot"),
		unitfile.Set("RemainAfterExit", "yes"),
		unitfile.Set("ExecStart", nft+" -f "+probesRules),
		unitfile.Set("ExecStop", "-"+unitfile.Quote(nft)+" delete table ip6 "+unitfile.Quote(p.Table)),
		unitfile.Section("Install"),
		unitfile.Set("WantedBy", "multi-user.target"),
	), "adds the rules after every boot", probesUnit)
	out.Enable(resource.Join, probesUnit)
	out.Append(resource.Resource{
		Phase: resource.Join, ExitCode: exitcode.UnitStartFailed, Reason: "the load balancer sees that the node is well",
		Spec: &resource.Unit{Unit: probesUnit},
	})
}

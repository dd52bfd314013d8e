package network

import (
	"fmt"
	"slices"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// secondaryInterfaces brings up the machine's network interfaces after the first, for pods that use them. The cloud's description
// lists them: on the machine an interface may be down, or appear later.
var secondaryInterfaces = concern.Concern{
	Name:  "secondary interfaces",
	Joins: true, // each machine has its own interfaces
	Reads: []string{secondaryPath},
	Plan:  planSecondaryInterfaces,
}

const secondaryPath = "$.network.secondaryInterfaces"

// A route of the first interface has at most the distribution's metric, or otherMetric if only the facts show that systemd-networkd
// runs. Each interface after it has metricStep more than the one before, so the first one's routes win (AKS: secondary NICs).
const (
	otherMetric = 2000
	metricStep  = 100
)

// cloudDrivers are the drivers of the interfaces that a cloud gives a machine. With accelerated networking Azure adds a
// second one of the same hardware address to each, which must not be configured (Azure docs, How Accelerated Networking
// works in Linux).
var cloudDrivers = map[string]string{facts.Azure: "hv_netvsc"}

func planSecondaryInterfaces(in *concern.Input, out *concern.Output) {
	wanted := int(in.Config.Network.SecondaryInterfaces)
	if wanted == 0 {
		return
	}
	metric := in.Distro.Network.Metric
	if metric == 0 && in.Facts.Networkd {
		metric = otherMetric
	}
	if metric == 0 {
		// A node that needs them gets an error. Without facts, the machine is not known yet, and it is a warning.
		out.Add(nodeconfig.Problem{
			Kind: nodeconfig.NotApplied, Path: secondaryPath, Fatal: in.Seen(),
			Reason: "is not applied: it is not known how " + concern.SystemName(in) + " configures its network",
		})
		return
	}
	if in.Facts.Instance == nil || len(in.Facts.Instance.Interfaces) == 0 {
		out.Fatal(nodeconfig.NotApplied, secondaryPath, "is not applied: the cloud's metadata service has not said which interfaces the machine has; look at it with curl -H Metadata:true http://169.254.169.254/metadata/instance")
		return
	}
	others := in.Facts.Instance.Interfaces[1:]
	if len(others) != wanted {
		out.Warn(nodeconfig.Dropped, secondaryPath, "the contract has %d interfaces after the first, and the machine %d: all that it has are brought up", wanted, len(others))
	}
	for i, nic := range others {
		out.Append(resource.Resource{
			Phase:    resource.Join,
			Effects:  resource.Effects{Reloads: []string{"systemd-networkd.service"}},
			ExitCode: exitcode.SecondaryInterfaceFailed,
			Reason:   concern.Sourced("an interface for pods; its routes come after those of the first", in.Family.Sources.SecondaryInterfaces),
			Spec: &resource.File{
				Path: fmt.Sprintf("/etc/systemd/network/10-secondary-nic-%d.network", i+1), Mode: 0o644,
				Content: secondaryNetwork(nic, cloudDrivers[in.Facts.Instance.Platform], metric+metricStep*(i+1)),
			},
		})
		out.AskedBy(secondaryPath)
	}
}

// secondaryNetwork is the configuration of an interface (systemd.network(5)). The node does not wait for it, and its DNS
// servers are not asked.
func secondaryNetwork(nic facts.InstanceInterface, driver string, metric int) []byte {
	match := []unitfile.Line{unitfile.Section("Match"), unitfile.Set("MACAddress", unitfile.Quote(nic.MAC))}
	if driver != "" {
		match = append(match, unitfile.Set("Driver", unitfile.Quote(driver)))
	}
	dhcp := "ipv4"
	if nic.IPv6 {
		dhcp = "yes"
	}
	lines := slices.Concat(match, []unitfile.Line{
		unitfile.Section("Link"),
		unitfile.Set("RequiredForOnline", "no"),
		unitfile.Section("Network"),
		unitfile.Set("DHCP", unitfile.Quote(dhcp)),
		unitfile.Section("DHCPv4"),
		unitfile.Set("RouteMetric", unitfile.Number(metric)),
		unitfile.Set("UseDNS", "no"),
		unitfile.Set("UseDomains", "no"),
		unitfile.Set("SendRelease", "no"),
	})
	if nic.IPv6 {
		lines = append(lines,
			unitfile.Section("DHCPv6"), unitfile.Set("UseDNS", "no"), unitfile.Set("UseDomains", "no"), unitfile.Set("SendRelease", "no"),
			unitfile.Section("IPv6AcceptRA"), unitfile.Set("RouteMetric", unitfile.Number(metric)), unitfile.Set("UseDNS", "no"), unitfile.Set("UseDomains", "no"))
	}
	return unitfile.File(lines...)
}

package kubelet

import (
	"cmp"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/resource"
)

// kubeletNetwork plans the kubelet's wait for the network: for what it reads when it starts, and no more. The whole
// network is up a second or two later, because network-online.target also waits until duplicate address detection has passed for
// every IPv6 address (RFC 4862, 5.4).
var kubeletNetwork = concern.Concern{
	Name:  "kubelet network",
	Joins: true,
	Reads: []string{
		"$.cluster.server",
		"$.cluster.serviceCIDRs",
		"$.kubelet.config",
		"$.kubelet.flags",
		"$.kubelet.nodeIPs",
		"$.kubelet.nodeName",
		"$.network.ipFamilies",
		"$.units",
	},
	Plan: planKubeletNetwork,
}

const (
	// networkPatience is how long systemd waits for a network (systemd-networkd-wait-online.service(8)).
	networkPatience = resource.Duration(2 * time.Minute)
	// networkOnline is reached when the network is up, or the wait for it has failed (systemd.special(7)). cloud-init names
	// the host before that.
	networkOnline = "network-online.target"
)

func planKubeletNetwork(in *concern.Input, out *concern.Output) {
	if n := networkOf(in); n != nil {
		out.Join(concern.KubeletGroup, &resource.Check{Label: "kubelet-network", Timeout: networkPatience, Advisory: true, Network: n},
			0, "the kubelet reads this of the network when it starts")
		out.Belong(concern.NetworkGroup)
		if n.After != "" {
			out.Belong(concern.NamedGroup)
		}
	}
}

// networkOf is what the kubelet reads of the network when it starts, or nil.
func networkOf(in *concern.Input) *resource.Network {
	n := &resource.Network{}
	for address := range strings.SplitSeq(kubeletsetting.Value(in.Config.Kubelet, "node-ip", "", nodeIP(in)), ",") {
		if _, err := netip.ParseAddr(address); err == nil {
			n.Addresses = append(n.Addresses, address)
		}
	}
	if len(n.Addresses) > 0 && isNamed(in.Config.Cluster.Server) {
		n.Resolver = kubeletsetting.Value(in.Config.Kubelet, concern.ResolverFlag, concern.ResolverField, cmp.Or(in.Resolver, "/etc/resolv.conf"))
	}
	if kubeletsetting.NodeName(in.Config.Kubelet) == "" && in.CloudName() == "" {
		n.HostName = true
		if in.Facts.CloudInit {
			n.After = networkOnline
		}
	}
	if len(n.Addresses) == 0 && !n.HostName {
		return nil
	}
	return n
}

// isNamed reports whether a server must be looked up.
func isNamed(server string) bool {
	u, err := url.Parse(server)
	if err != nil {
		return false
	}
	_, err = netip.ParseAddr(u.Hostname())
	return err != nil
}

package concern

import (
	"net/netip"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// withServiceFamily is a config whose node has an address of the same IP family as its cluster's service range, in a family of nodes
// where that decides. Validation reports a range that cannot be read; it decides nothing.
func withServiceFamily(c *nodeconfig.NodeConfig, decides bool) *nodeconfig.NodeConfig {
	if !decides || len(c.Cluster.ServiceCIDRs) == 0 {
		return c
	}
	services, err := netip.ParsePrefix(c.Cluster.ServiceCIDRs[0])
	if err != nil {
		return c
	}
	family := "IPv4"
	if services.Addr().Is6() {
		family = "IPv6"
	}
	planned := *c
	planned.Network.IPFamilies = []string{family}
	return &planned
}

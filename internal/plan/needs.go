package plan

import (
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Need is a fact that a plan cannot be made without, and that the machine may not have yet.
type Need string

// The needs.
const (
	// NeedAddress is an address of the machine's own.
	NeedAddress Need = "address"
	// NeedDescription is what the cloud's metadata service says of the machine, which it can be asked for when there is an
	// address.
	NeedDescription Need = "description"
)

// Needs are the facts that a plan of this config cannot be made without and that are not there yet: a node that is told
// its own addresses, one of each family that the contract wants, and planned before the machine's network is up, would be
// another one at the next boot.
func Needs(c *nodeconfig.NodeConfig, f facts.Facts) []Need {
	in := newInput(c, f)
	told := len(c.Kubelet.NodeIPs) == 0 && in.needsAddress() && len(addressesOf(c, f)) < len(c.Network.IPFamilies)
	restricted := c.Network.MetadataRestriction != nil && nodeIPv4(in) == ""
	var needs []Need
	if in.joins() && (told || restricted) {
		needs = append(needs, NeedAddress)
	}
	if in.joins() && c.Network.SecondaryInterfaces > 0 && (f.Instance == nil || f.Instance.Interfaces == nil) {
		needs = append(needs, NeedDescription)
	}
	return needs
}

package plan

import (
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubelet"
	"github.com/slipway-dev/slipway/internal/plan/network"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Need is a fact that a plan cannot be made without, and that the machine may not have yet.
type Need string

// The needs.
const (
	// NeedAddress is an address of the machine's own.
	NeedAddress Need = "address"
	// NeedDescription is the cloud's description of the machine, from its metadata service. Reading it needs an
	// address.
	NeedDescription Need = "description"
	// NeedAuthorities are the certificate authorities that the cloud wants the machine to trust. They may change, so the agent reads
	// them each time.
	NeedAuthorities Need = "authorities"
	// NeedClusterAuthority is the cluster's CA, which the contract does not have: it is fetched from the cluster. No node is made
	// without it.
	NeedClusterAuthority Need = "cluster authority"
	// NeedKubeletDefaults are the cluster's settings for the kubelets of all its nodes. The agent reads them in parallel with
	// everything else, and makes the node without them if the cluster does not answer.
	NeedKubeletDefaults Need = "kubelet defaults"
)

// Needs returns the missing facts that a plan of this config cannot be made without. For example, if the contract wants an address
// of each family in a flag and the network is not up yet, a plan without these addresses would differ from the plan at the next
// boot.
func Needs(c *nodeconfig.NodeConfig, f facts.Facts) []Need {
	in := concern.NewInput(c, f)
	if !in.Joins() {
		return nil
	}
	told := len(c.Kubelet.NodeIPs) == 0 && in.NeedsAddress() && len(concern.AddressesOf(in.Config, f)) < len(in.Config.Network.IPFamilies)
	wantsIPv4 := (c.Network.MetadataRestriction != nil || concern.CanExportDNS(in)) && concern.NodeIPv4(in) == ""
	undescribed := c.Network.SecondaryInterfaces > 0 && (f.Instance == nil || f.Instance.Interfaces == nil)
	var needs []Need
	for variable := range in.Wanted {
		undescribed = undescribed || variable != concern.AddressVariable && in.Known(variable) == ""
	}
	undescribed = undescribed || in.Capacity != nil && in.Known(concern.TypeVariable) == ""
	if told || wantsIPv4 {
		needs = append(needs, NeedAddress)
	}
	if undescribed || needsTags(in) {
		needs = append(needs, NeedDescription)
	}
	if in.TrustsCloud() {
		needs = append(needs, NeedAuthorities)
	}
	if in.Awaited {
		needs = append(needs, NeedClusterAuthority)
	}
	if in.LacksDefaults {
		needs = append(needs, NeedKubeletDefaults)
	}
	return needs
}

// tagMatters reports, for each tag, whether it can change the plan.
var tagMatters = map[string]func(in *concern.Input) bool{
	facts.ServerAddressTag: func(in *concern.Input) bool { return network.KeepsServer(in) != "" },
	facts.ServingTag:       kubelet.ServingTagMatters,
	facts.SkipGPUTag: func(in *concern.Input) bool {
		return in.Family.Runtime.CDI && in.Schema.CDI || in.Family.GPU.Tagged && in.GPU().Vendor == concern.NVIDIA
	},
	facts.ManagedGPUTag: func(in *concern.Input) bool { return in.Family.GPU.Tagged && in.GPU().Vendor == concern.NVIDIA },
}

// needsTags reports whether the agent has to read the machine's tags: one of them could change the plan, and they are not known, or
// the tag with the API server's address was missing.
func needsTags(in *concern.Input) bool {
	switch i := in.Facts.Instance; {
	case in.Facts.Platform != facts.Azure:
		return false
	case i != nil && i.Tagged:
		return network.KeepsServer(in) != "" && i.APIServerAddress == ""
	}
	for _, matters := range tagMatters {
		if matters(in) {
			return true
		}
	}
	return false
}

package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/capacity"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// derivation is how a setting of the kubelet's follows from the contract and the machine.
type derivation struct {
	// from are the contract's settings that it follows from, or that replace it.
	from []string
	// steps returns its values on this node; none if the contract sets it, or a fact is missing.
	steps func(in *concern.Input) []capacity.Step
}

var derivations = []derivation{
	{[]string{setting.KubeletCapacity}, (*concern.Input).Steps},
	{[]string{"$.cluster.serviceCIDRs", "$.cluster.dnsServiceIPs"}, deriveDNS},
	{[]string{"$.cluster.serviceCIDRs", "$.kubelet.nodeIPs", "$.network.ipFamilies"}, deriveAddress},
	{[]string{"$.cloud.provider"}, deriveProviderID},
	{[]string{"$.kubelet.labels", "$.kubelet.machineLabels"}, deriveLabels},
}

// Derived returns the kubelet settings that the planner derives from the config's settings at or below some paths, each with its
// derivation. It is nil if no setting is derived, or if a fact is missing.
func Derived(c *nodeconfig.NodeConfig, f facts.Facts, paths []string) []capacity.Step {
	in := concern.NewInput(c, f)
	var steps []capacity.Step
	for _, d := range derivations {
		concerned := func(path string) bool {
			return slices.ContainsFunc(d.from, func(from string) bool { return document.Within(path, from) })
		}
		if in.Joins() && slices.ContainsFunc(paths, concerned) {
			steps = append(steps, d.steps(in)...)
		}
	}
	return steps
}

func deriveDNS(in *concern.Input) []capacity.Step {
	if !in.Family.Kubelet.ConfigDefaults || setting.DNSServers(in.Config) != "$.cluster.serviceCIDRs" {
		return nil
	}
	return []capacity.Step{{
		Name: "clusterDNS", Value: strings.Join(in.Config.Cluster.DNSServiceIPs, ","),
		How:    "the tenth address of " + strings.Join(in.Config.Cluster.ServiceCIDRs, ", "),
		Source: "kubeadm: constants, GetDNSIP; Amazon EKS AMI: GetClusterDns",
	}}
}

func deriveAddress(in *concern.Input) []capacity.Step {
	address := in.Known(concern.AddressVariable)
	if in.Wanted[concern.AddressVariable] == "" || address == "" {
		return nil
	}
	how, source := "the machine's address, "+strings.Join(in.Config.Network.IPFamilies, " and "), "Kubernetes: --node-ip"
	if in.Family.Kubelet.ServiceFamily && len(in.Config.Cluster.ServiceCIDRs) > 0 {
		how, source = how+" as the service range "+in.Config.Cluster.ServiceCIDRs[0], "Amazon EKS AMI: getNodeIp"
	}
	return []capacity.Step{{Name: "node-ip", Value: address, How: how, Source: source}}
}

func deriveProviderID(in *concern.Input) []capacity.Step {
	id := in.ProviderID()
	if id == "" || !in.GivesProviderID() {
		return nil
	}
	return []capacity.Step{{Name: "providerID", Value: id, How: "the machine's zone and its instance ID", Source: "Kubernetes: cloud-provider-aws, instance IDs"}}
}

func deriveLabels(in *concern.Input) []capacity.Step {
	var steps []capacity.Step
	step := func(name, value, how, source string) {
		if _, own := in.Config.Kubelet.Labels[name]; !own && value != "" {
			steps = append(steps, capacity.Step{Name: "node-labels." + name, Value: value, How: how, Source: source})
		}
	}
	all := in.Config.Kubelet.MachineLabels
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if fact := concern.Labelled(all[name]); fact != nil {
			step(name, in.Known(fact.Variable), "the machine's "+fact.What, "the contract")
		}
	}
	present := in.PresentLabels()
	for _, name := range slices.Sorted(maps.Keys(present)) {
		step(name, present[name], "the machine has a device of NVIDIA's", "Amazon EKS AMI: NvidiaGPULabel")
	}
	return steps
}

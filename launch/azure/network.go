package azure

import (
	"errors"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Modes of a network. Karpenter has an empty text for "none".
const (
	overlay = "overlay"
	cilium  = "cilium"
	none    = "none"
)

// pluginRow is the plug-in that the node itself installs, for a cluster's network.
type pluginRow struct{ plugin, mode, dataplane, node string }

// pluginRows decide the plug-in. The first matching row counts; an empty cell matches all values (Karpenter for Azure: NETWORK_PLUGIN).
var pluginRows = []pluginRow{
	{"azure", overlay, "", none},
	{"azure", none, cilium, none},
	{"none", "", "", none},
	{"", "", "", "azure"},
}

func nodePlugin(n *launch.Network) string {
	for _, r := range pluginRows {
		if (r.plugin == "" || r.plugin == n.Plugin) && (r.mode == "" || r.mode == n.Mode) && (r.dataplane == "" || r.dataplane == n.Dataplane) {
			return r.node
		}
	}
	return none
}

// The names of what AKS makes for a cluster, with its ID.
const (
	madePrefix  = "aks-agentpool-"
	groupSuffix = "-nsg"
	tableSuffix = "-routetable"
)

func securityGroup(id string) string { return madePrefix + id + groupSuffix }
func routeTable(id string) string    { return madePrefix + id + tableSuffix }

// managedNetwork reports whether AKS has made the subnet's network: then the subnet has the security group already
// (Karpenter for Azure: utils.IsAKSManagedVNET).
func managedNetwork(s Subnet, nodeResourceGroup string) bool {
	id, ok := strings.CutPrefix(strings.ToLower(s.VNet), "aks-vnet-")
	return ok && clusterID(id) == "" && strings.EqualFold(s.Name, "aks-subnet") && strings.EqualFold(s.ResourceGroup, nodeResourceGroup)
}

// networkRule decides the network of the machine, and the network settings in the node's contract.
var networkRule = rule{
	name: "network",
	reads: []string{
		"$.machine.network.plugin", "$.machine.network.mode", "$.machine.network.policy", "$.machine.network.dataplane", "$.machine.network.subnet",
		"$.machine.network.clusterID", "$.machine.type.acceleratedNetworking", "$.machine.type.addresses", "$.machine.type.name", "$.node.cloud.azure.resourceGroup", "$.node.kubelet.config.maxPods",
		"$.machine.image.wanted",
	},
	sets: []string{
		"$.node.network.plugin", "$.node.network.policy", "$.node.cloud.azure.subnet", "$.node.cloud.azure.vnet", "$.node.cloud.azure.vnetResourceGroup",
		"$.node.cloud.azure.securityGroup", "$.node.cloud.azure.routeTable", "$.machine.network.securityGroup", "$.machine.network.addresses",
		"$.machine.network.accelerated",
	},
	decide: decideNetwork,
}

func decideNetwork(p *problems, d *launch.Document) {
	n, a := &d.Machine.Network, azureOf(d)
	d.Node.Network.Plugin = nodePlugin(n)
	if n.Policy != cilium { // the dataplane has it, and no program of the node
		d.Node.Network.Policy = n.Policy
	}
	n.Addresses = 1
	if n.Plugin == "azure" && n.Mode != overlay {
		if pods, ok := number(d.Node.Kubelet.Config["maxPods"]); ok {
			n.Addresses = int32(pods) // each pod has one of the subnet's, those of the host the machine's own
		}
		switch most := d.Machine.Type.Addresses; {
		case most == 0:
			p.Report(false, nodeconfig.Missing, "$.machine.type.addresses", "is not known, and each pod needs one")
		case int(n.Addresses) > most:
			p.wrong("$.machine.maxPods", fmt.Sprintf("takes %d addresses, one for each pod, and an interface of %s has %d", n.Addresses, d.Machine.Type.Name, most))
		}
	}
	if able := d.Machine.Type.AcceleratedNetworking; able != nil {
		n.Accelerated = new(*able)
	} else {
		p.Report(false, nodeconfig.Missing, "$.machine.type.acceleratedNetworking", "is not known; the network is not accelerated")
	}
	subnet, err := ParseSubnet(n.Subnet)
	if err == nil {
		a.Subnet, a.VNet, a.VNetResourceGroup = subnet.Name, subnet.VNet, subnet.ResourceGroup
	}
	if n.ClusterID == "" || isOwn(d) {
		return // a missing ID is reported already, with the reason; in a self-managed cluster AKS does not choose the names
	}
	a.SecurityGroup, a.RouteTable = securityGroup(n.ClusterID), routeTable(n.ClusterID)
	if err == nil && !managedNetwork(subnet, a.ResourceGroup) {
		n.SecurityGroup = a.SecurityGroup
	}
}

// Subnet is a subnet's ID in Azure's resource manager, in its parts.
type Subnet struct{ Subscription, ResourceGroup, VNet, Name string }

// errSubnet is the error of a text that is not a subnet's ID.
var errSubnet = errors.New("is not the ID of a subnet; want /subscriptions/ID/resourceGroups/NAME/providers/Microsoft.Network/virtualNetworks/NAME/subnets/NAME")

// ParseSubnet reads a subnet's ID.
func ParseSubnet(id string) (Subnet, error) {
	names, ok := resourceID(id, "/subscriptions/*/resourceGroups/*/providers/Microsoft.Network/virtualNetworks/*/subnets/*")
	if !ok {
		return Subnet{}, errSubnet
	}
	if group := names[1]; len(group) > 90 || strings.HasSuffix(group, ".") {
		return Subnet{}, errors.New("has the name of a resource group that Azure refuses: at most 90 characters, and no dot at the end")
	}
	return Subnet{names[0], names[1], names[2], names[3]}, nil
}

// resourceID takes an ID apart that has names in the place of each "*". The words between the names may be in any case, as in Azure.
func resourceID(id, form string) (names []string, ok bool) {
	parts, want := strings.Split(id, "/"), strings.Split(form, "/")
	if len(parts) != len(want) {
		return nil, false
	}
	for i, word := range want {
		switch {
		case word == "*" && isResourceName(parts[i]):
			names = append(names, parts[i])
		case word == "*" || !strings.EqualFold(parts[i], word):
			return nil, false
		}
	}
	return names, true
}

// isResourceName is a name of Azure's: letters of any alphabet are possible in a resource group, but not here, because the
// name is in files of the node.
func isResourceName(s string) bool {
	for i := range len(s) {
		letter := s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z'
		if !letter && (s[i] < '0' || s[i] > '9') && strings.IndexByte("-_.()", s[i]) < 0 {
			return false
		}
	}
	return s != ""
}

// same reports whether two IDs are of one subnet. Azure compares names without case.
func (s Subnet) same(other Subnet) bool {
	return s.sameNetwork(other) && strings.EqualFold(s.Name, other.Name)
}

// sameNetwork reports whether two subnets are of one virtual network.
func (s Subnet) sameNetwork(other Subnet) bool {
	return strings.EqualFold(s.Subscription, other.Subscription) && strings.EqualFold(s.ResourceGroup, other.ResourceGroup) && strings.EqualFold(s.VNet, other.VNet)
}

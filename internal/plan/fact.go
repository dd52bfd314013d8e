package plan

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// machineFact is one of them.
type machineFact struct {
	// variable is its name in the environment file, what is its name for people.
	variable, what string
	// label is what a contract calls it as the value of a label; empty where it cannot be one.
	label string
	// of is its value; empty where it is not known.
	of func(in *input) string
}

const (
	addressVariable = "NODE_IP"
	idVariable      = "INSTANCE_ID"
	typeVariable    = "INSTANCE_TYPE"
	zoneVariable    = "AVAILABILITY_ZONE"
	lifeVariable    = "INSTANCE_LIFECYCLE"
	podsVariable    = "MAX_PODS"
)

// ownFacts are all there are.
var ownFacts = []machineFact{
	{addressVariable, "address", "", func(in *input) string { return strings.Join(addressesOf(in.config, in.facts), ",") }},
	{idVariable, "instance ID", nodeconfig.MachineInstanceID, func(in *input) string { return in.instance().ID }},
	{typeVariable, "instance type", nodeconfig.MachineInstanceType, func(in *input) string { return in.instance().Type }},
	{zoneVariable, "zone", nodeconfig.MachineZone, func(in *input) string { return in.instance().Zone }},
	{lifeVariable, "lifecycle", nodeconfig.MachineLifecycle, func(in *input) string { return in.instance().Lifecycle }},
}

// factOf is the fact of a variable.
func factOf(variable string) *machineFact {
	return &ownFacts[slices.IndexFunc(ownFacts, func(f machineFact) bool { return f.variable == variable })]
}

// labelled is the fact that a contract calls by a name as the value of a label; nil for none.
func labelled(name string) *machineFact {
	i := slices.IndexFunc(ownFacts, func(f machineFact) bool { return f.label == name && name != "" })
	if i < 0 {
		return nil
	}
	return &ownFacts[i]
}

// known is the value of a fact; empty where it is not known. Facts that do not name the machine's instance are of its image:
// where the machine itself can be asked, it is.
func (in *input) known(variable string) string {
	if in.asksCloud && in.instance().ID == "" {
		return ""
	}
	value := factOf(variable).of(in)
	if variable == addressVariable {
		for address := range strings.SplitSeq(value, ",") {
			if _, err := netip.ParseAddr(address); err != nil {
				return ""
			}
		}
		return value
	}
	if !isPlain(value) {
		return ""
	}
	return value
}

// isPlain reports whether a fact can be a label's value, and so stand in any file as it is.
func isPlain(s string) bool {
	const ends = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return s != "" && len(s) <= 63 && strings.Trim(s, ends+"-_.") == "" && strings.Trim(s[:1]+s[len(s)-1:], ends) == ""
}

// refers reports whether the kubelet's unit refers to the fact by its variable, and does not have its value.
func (in *input) refers(variable string) bool {
	if in.agentless {
		return in.known(variable) == ""
	}
	return in.family.Command.Local != ""
}

// referred are the variables that the unit refers to, sorted.
func (in *input) referred() []string {
	var all []string
	for _, variable := range slices.Sorted(maps.Keys(in.wanted)) {
		if in.refers(variable) {
			all = append(all, variable)
		}
	}
	return all
}

// unknownFact reports a fact that is not known. On a workstation, without facts, it need not be.
func unknownFact(in *input, out *output, path, what string) {
	if what == factOf(addressVariable).what && in.family.Command.Local == "" {
		return // a kubelet that is told none finds one, and the agent has said so
	}
	if !in.seen() && len(in.facts.Components) == 0 {
		out.Warn(nodeconfig.Missing, path, "no facts say the machine's %s, which the kubelet is told", what)
		return
	}
	out.Fatal(nodeconfig.Missing, path, "the kubelet is told the machine's %s, and neither the cloud's metadata service nor the facts say it", what)
}

// givesProviderID reports whether the kubelet is told its machine's name in the cloud, which a cloud provider of its own
// would tell it (Kubernetes: cloud-provider-aws, node names).
func (in *input) givesProviderID() bool {
	const flag, field = "provider-id", "providerID"
	return in.family.Command.DropIn.File != "" && in.config.Cloud.Provider == "aws" && kubeletSetting(in.config.Kubelet, "cloud-provider", "", in.commandFlag("cloud-provider")) == "external" &&
		kubeletSetting(in.config.Kubelet, flag, field, "") == ""
}

// commandFlag is the value of one of the family's own flags on this node; empty where its version does not have it.
func (in *input) commandFlag(name string) string {
	for _, f := range in.family.Command.Flags {
		if f.Name == name && f.GivenTo(in.minor) {
			return f.Value
		}
	}
	return ""
}

// addressesOf are the machine's addresses of the families that the contract wants.
func addressesOf(c *nodeconfig.NodeConfig, f facts.Facts) []string {
	var ips []string
	for _, ip := range f.NodeIPs {
		if v6 := strings.Contains(ip, ":"); slices.Contains(c.Network.IPFamilies, map[bool]string{false: "IPv4", true: "IPv6"}[v6]) {
			ips = append(ips, ip)
		}
	}
	return ips
}

// needsAddress reports whether the kubelet needs the machine's address in a flag.
func (in *input) needsAddress() bool {
	return in.family.Kubelet.NodeIP && (in.reached(nodeIPNeeded) || in.family.Command.Local != "")
}

// nodeIPv4 is the machine's IPv4 address: of the interface with the default route, or else what the contract says.
func nodeIPv4(in *input) string {
	own := in.facts.NodeIPs
	if in.agentless && in.known(addressVariable) == "" {
		own = nil // it is not this machine's
	}
	for _, ips := range [][]string{own, in.config.Kubelet.NodeIPs} {
		for _, ip := range ips {
			if addr, err := netip.ParseAddr(ip); err == nil && addr.Is4() && !addr.IsUnspecified() {
				return ip
			}
		}
	}
	return ""
}

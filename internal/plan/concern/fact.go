package concern

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/awsname"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// machineFact is one of them.
type machineFact struct {
	// Variable is its name in the environment file, What is its name for people.
	Variable, What string
	// label is the contract's name for the fact in a label's value. Empty means that it cannot be a label's value.
	label string
	// of returns the fact's value; empty if it is not known.
	of func(in *Input) string
}

const (
	AddressVariable = "NODE_IP"
	IDVariable      = "INSTANCE_ID"
	TypeVariable    = "INSTANCE_TYPE"
	ZoneVariable    = "AVAILABILITY_ZONE"
	LifeVariable    = "INSTANCE_LIFECYCLE"
	PodsVariable    = "MAX_PODS"
	NameVariable    = "NODE_NAME"
)

// ownFacts are all there are.
var ownFacts = []machineFact{
	{AddressVariable, "address", "", func(in *Input) string { return strings.Join(AddressesOf(in.Config, in.Facts), ",") }},
	{IDVariable, "instance ID", nodeconfig.MachineInstanceID, func(in *Input) string { return in.Instance().ID }},
	{TypeVariable, "instance type", nodeconfig.MachineInstanceType, func(in *Input) string { return in.Instance().Type }},
	{ZoneVariable, "zone", nodeconfig.MachineZone, func(in *Input) string { return in.Instance().Zone }},
	{LifeVariable, "lifecycle", nodeconfig.MachineLifecycle, func(in *Input) string { return in.Instance().Lifecycle }},
	{NameVariable, "private DNS name", "", cloudName},
}

// cloudName is EC2's name of the machine, from the cloud's or the host's data; empty if both lack it.
func cloudName(in *Input) string {
	return awsname.Machine(cmp.Or(in.Instance().Hostname, in.Facts.Hostname), cmp.Or(in.Instance().Region, in.Region()))
}

// FactOf is the fact of a variable.
func FactOf(variable string) *machineFact {
	return &ownFacts[slices.IndexFunc(ownFacts, func(f machineFact) bool { return f.Variable == variable })]
}

// Labelled returns the fact with that name in a label's value, or nil.
func Labelled(name string) *machineFact {
	i := slices.IndexFunc(ownFacts, func(f machineFact) bool { return f.label == name && name != "" })
	if i < 0 {
		return nil
	}
	return &ownFacts[i]
}

// Known returns the value of a fact; empty if it is not known. Facts without an instance ID describe the machine's image. If the
// machine can ask its cloud itself, they are not used.
func (in *Input) Known(variable string) string {
	if in.AsksCloud && in.Instance().ID == "" {
		return ""
	}
	value := FactOf(variable).of(in)
	if variable == AddressVariable {
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

// isPlain reports whether a fact can be a label's value, and so be in any file without quoting.
func isPlain(s string) bool {
	const ends = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return s != "" && len(s) <= 63 && strings.Trim(s, ends+"-_.") == "" && strings.Trim(s[:1]+s[len(s)-1:], ends) == ""
}

// Refers reports whether the kubelet's unit refers to the fact by its variable, and does not have its value.
func (in *Input) Refers(variable string) bool {
	if in.Agentless {
		return in.Known(variable) == ""
	}
	return in.Family.Command.Local != ""
}

// Referred are the variables that the unit refers to, sorted.
func (in *Input) Referred() []string {
	var all []string
	for _, variable := range slices.Sorted(maps.Keys(in.Wanted)) {
		if in.Refers(variable) {
			all = append(all, variable)
		}
	}
	return all
}

// UnknownFact reports a fact that is not known, unless the agent has yet to gather all facts.
func UnknownFact(in *Input, out *Output, path, what string) {
	switch {
	case what == FactOf(AddressVariable).What && in.Family.Command.Local == "":
		return // a kubelet without an address chooses one, and the agent has reported that
	case in.AwaitsFacts():
		return
	case in.HasNoFacts():
		out.Warn(nodeconfig.Missing, path, "the kubelet needs the machine's %s, and no facts have it", what)
		return
	}
	out.Fatal(nodeconfig.Missing, path, "the kubelet needs the machine's %s, and neither the cloud's metadata service nor the facts have it", what)
}

// GivesProviderID reports whether Slipway gives the kubelet its machine's name in the cloud, which a kubelet
// with a cloud provider inside finds out by itself (Kubernetes: cloud-provider-aws, node names).
func (in *Input) GivesProviderID() bool {
	const flag, field = "provider-id", "providerID"
	own := in.commandFlag("cloud-provider")
	return own != "" && in.Config.Cloud.Provider == "aws" && kubeletsetting.Value(in.Config.Kubelet, "cloud-provider", "", own) == "external" &&
		kubeletsetting.Value(in.Config.Kubelet, flag, field, "") == ""
}

// ProviderID is the machine's ID in the cloud; empty if it is not known.
func (in *Input) ProviderID() string {
	zone, id := in.Known(ZoneVariable), in.Known(IDVariable)
	if zone == "" || id == "" {
		return ""
	}
	return "aws:///" + zone + "/" + id
}

// commandFlag returns the value of one of the family's own flags on this node; empty if its version has no such flag.
func (in *Input) commandFlag(name string) string {
	for _, f := range in.Family.Command.Flags {
		if f.Name == name && f.GivenTo(in.Minor) {
			return f.Value
		}
	}
	return ""
}

// AddressesOf are the machine's addresses of the families that the contract wants.
func AddressesOf(c *nodeconfig.NodeConfig, f facts.Facts) []string {
	var ips []string
	for _, ip := range f.NodeIPs {
		if v6 := strings.Contains(ip, ":"); slices.Contains(c.Network.IPFamilies, map[bool]string{false: "IPv4", true: "IPv6"}[v6]) {
			ips = append(ips, ip)
		}
	}
	return ips
}

// NeedsAddress reports whether the kubelet needs the machine's address in a flag.
func (in *Input) NeedsAddress() bool {
	return in.Family.Kubelet.NodeIP && (in.Reached(nodeIPNeeded) || in.Family.Command.Local != "" || in.commandFlag("cloud-provider") == "external")
}

// NodeIPv4 is the machine's IPv4 address on the interface with the default route, or else the contract's.
func NodeIPv4(in *Input) string {
	own := in.Facts.NodeIPs
	if in.Agentless && in.Known(AddressVariable) == "" {
		own = nil // it is not this machine's
	}
	for _, ips := range [][]string{own, in.Config.Kubelet.NodeIPs} {
		for _, ip := range ips {
			if addr, err := netip.ParseAddr(ip); err == nil && addr.Is4() && !addr.IsUnspecified() {
				return ip
			}
		}
	}
	return ""
}

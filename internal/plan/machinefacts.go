package plan

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// machineFacts brings what only the machine knows to its kubelet. Where a unit refers to such a fact, its value is in an
// environment file that does not outlast a boot: a kubelet whose machine has not said what it is does not start, and a disk
// that another machine is started from has nobody's. The agent knows the facts and writes the file. Without one, a unit asks
// the cloud's metadata service at each boot (see metadataScript).
var machineFacts = concern{
	name:  "machine facts",
	joins: true,
	reads: []string{
		"$.cloud.provider",
		"$.kubelet.capacity",
		"$.kubelet.config",
		"$.kubelet.flags",
		"$.kubelet.machineLabels",
		"$.kubelet.nodeIPs",
		"$.network.ipFamilies",
	},
	plan: planMachineFacts,
}

// machineFact is one of them.
type machineFact struct {
	// variable is its name in the environment file, what is its name for people.
	variable, what string
	// label is what a contract calls it as the value of a label; empty where it cannot be one.
	label string
	// need is what an agent asks for where it does not know the fact.
	need Need
	// of is its value; empty where it is not known.
	of func(in *input) string
}

// The variables of the environment file.
const (
	addressVariable  = "NODE_IP"
	idVariable       = "INSTANCE_ID"
	typeVariable     = "INSTANCE_TYPE"
	zoneVariable     = "AVAILABILITY_ZONE"
	lifeVariable     = "INSTANCE_LIFECYCLE"
	podsVariable     = "MAX_PODS"
	machineFactsUnit = "slipway-machine-facts.service"
	metadataScript   = "/etc/slipway/machine-facts.sh"
)

// ownFacts are all there are.
var ownFacts = []machineFact{
	{addressVariable, "address", "", NeedAddress, func(in *input) string { return strings.Join(addressesOf(in.config, in.facts), ",") }},
	{idVariable, "instance ID", nodeconfig.MachineInstanceID, NeedDescription, func(in *input) string { return in.instance().ID }},
	{typeVariable, "instance type", nodeconfig.MachineInstanceType, NeedDescription, func(in *input) string { return in.instance().Type }},
	{zoneVariable, "zone", nodeconfig.MachineZone, NeedDescription, func(in *input) string { return in.instance().Zone }},
	{lifeVariable, "lifecycle", nodeconfig.MachineLifecycle, NeedDescription, func(in *input) string { return in.instance().Lifecycle }},
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

// wantedFacts are the variables of the facts that the node cannot be made without, each with the setting that wants it.
func wantedFacts(in *input) map[string]string {
	wanted := make(map[string]string)
	if !in.joins() {
		return wanted
	}
	if in.needsAddress() && len(in.config.Kubelet.NodeIPs) == 0 && kubeletSetting(in.config.Kubelet, "node-ip", "", "") == "" {
		wanted[addressVariable] = "$.kubelet.nodeIPs"
	}
	if in.givesProviderID() {
		wanted[idVariable], wanted[zoneVariable] = "$.cloud.provider", "$.cloud.provider"
	}
	for _, label := range in.config.Kubelet.MachineLabels {
		if f := labelled(label); f != nil {
			wanted[f.variable] = "$.kubelet.machineLabels"
		}
	}
	if in.looksUpPods() {
		wanted[typeVariable] = capacityPath
	}
	return wanted
}

// known is the value of a fact; empty where it is not known. Facts that do not name the machine's instance are of its image:
// where the machine itself can be asked, it is.
func (in *input) known(variable string) string {
	if in.agentless && in.service != nil && in.instance().ID == "" {
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

// inUnit is a fact as a word of the unit has it.
func (in *input) inUnit(variable string) unitfile.Text {
	if in.refers(variable) {
		return unitfile.Braced(variable)
	}
	return unitfile.Quote(in.known(variable))
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

// machineLabels are the labels whose values are the machine's facts, each with the fact's variable: those that the unit refers to, or
// else the others.
func (in *input) machineLabels(refers bool) map[string]string {
	labels := make(map[string]string)
	for key, label := range in.config.Kubelet.MachineLabels {
		if f := labelled(label); f != nil && in.joins() && in.refers(f.variable) == refers {
			labels[key] = f.variable
		}
	}
	return labels
}

// referredLabels are the labels that the unit's command line has after those of its environment file, and what they are where the
// facts are known; empty for none.
func (in *input) referredLabels() (line unitfile.Text, value string) {
	labels := in.machineLabels(true)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		line = listed(line, unitfile.Quote(key)+"="+in.inUnit(labels[key]))
		value = listed(value, key+"="+in.known(labels[key]))
	}
	return line, value
}

func planMachineFacts(in *input, out *output) {
	wanted := in.wanted
	referred := in.referred()
	if in.agentless {
		in.asking(in, out, referred)
		return
	}
	var lines [][2]string
	for _, variable := range slices.Sorted(maps.Keys(wanted)) {
		value := in.known(variable)
		if value == "" {
			unknownFact(in, out, wanted[variable], factOf(variable).what)
			continue
		}
		lines = append(lines, [2]string{variable, value})
	}
	if in.family.Command.Local == "" {
		return
	}
	if in.looksUpPods() && in.capacity.node != nil {
		lines = append(lines, [2]string{podsVariable, in.capacity.count()})
	}
	if len(lines) > 0 {
		out.file(resource.Join, profile.NodeEnvironment, 0o644, environmentFile(lines...),
			"what only this machine knows, for the kubelet's unit; it is gone after a boot, and the agent writes it again", kubeletUnit)
	}
}

// unknownFact reports a fact that is not known. On a workstation, without facts, it need not be.
func unknownFact(in *input, out *output, path, what string) {
	if what == factOf(addressVariable).what && in.family.Command.Local == "" {
		return // a kubelet that is told none finds one, and the agent has said so
	}
	if !in.seen() && len(in.facts.Components) == 0 {
		out.warn(nodeconfig.Missing, path, "no facts say the machine's %s, which the kubelet is told", what)
		return
	}
	out.fatal(nodeconfig.Missing, path, "the kubelet is told the machine's %s, and neither the cloud's metadata service nor the facts say it", what)
}

// givesProviderID reports whether the kubelet is told its machine's name in the cloud, which a cloud provider of its own
// would tell it (Kubernetes: cloud-provider-aws, node names).
func (in *input) givesProviderID() bool {
	const flag, field = "provider-id", "providerID"
	return in.family.Command.DropIn.File != "" && in.config.Cloud.Provider == "aws" && kubeletSetting(in.config.Kubelet, "cloud-provider", "", in.commandFlag("cloud-provider")) == "external" &&
		kubeletSetting(in.config.Kubelet, flag, field, "") == ""
}

package plan

import (
	"maps"
	"slices"

	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
)

// machineFacts brings what only the machine knows to its kubelet. Where a unit refers to such a fact, its value is in an
// environment file that does not outlast a boot: a kubelet whose machine has not said what it is does not start, and a disk
// that another machine is started from has nobody's. The agent knows the facts and writes the file. Without one, a unit asks
// the cloud's metadata service at each boot (see metadataScript).
var machineFacts = concern{
	name:  "machine facts",
	joins: true,
	reads: factReads,
	plan:  planMachineFacts,
}

// The variables of the environment file.
const ()

func planMachineFacts(in *input, out *output) {
	wanted := in.wanted
	if in.agentless {
		return // askedFacts
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

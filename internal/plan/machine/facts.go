package machine

import (
	"maps"
	"slices"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/textfile"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
)

// machineFacts brings what only the machine knows to its kubelet. If a unit refers to such a fact, its value is in an
// environment file that does not survive a boot: so a kubelet without its machine's facts does not start, and another machine
// that boots from the same disk does not use the wrong facts. The agent knows the facts and writes the file. Without an agent, a
// unit reads the cloud's metadata service at each boot (see metadataScript).
var machineFacts = concern.Concern{
	Name:  "machine facts",
	Joins: true,
	Reads: factReads,
	Plan:  planMachineFacts,
}

// The variables of the environment file.
const ()

func planMachineFacts(in *concern.Input, out *concern.Output) {
	wanted := in.Wanted
	if in.Agentless {
		return // Asked
	}
	var lines [][2]string
	for _, variable := range slices.Sorted(maps.Keys(wanted)) {
		value := in.Known(variable)
		if value == "" {
			concern.UnknownFact(in, out, wanted[variable], concern.FactOf(variable).What)
			continue
		}
		lines = append(lines, [2]string{variable, value})
	}
	if in.Family.Command.Local == "" {
		return
	}
	if in.LooksUpPods() && in.Capacity.Node != nil {
		lines = append(lines, [2]string{concern.PodsVariable, in.Capacity.Count()})
	}
	if len(lines) > 0 {
		out.File(resource.Join, profile.NodeEnvironment, 0o644, textfile.Environment(lines...),
			"what only this machine knows, for the kubelet's unit; it is gone after a boot, and the agent writes it again", concern.KubeletUnit)
	}
}

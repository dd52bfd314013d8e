package plan

import (
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// capacities computes what a machine can hold, by the rule that the contract names (package capacity): as much of it as the
// contract does not say itself. Nothing is guessed: a type that the table does not have is an error, and what depends on a
// number of processors that is not known is left out, with a warning.
var capacities = concern{
	name:  "capacity",
	joins: true,
	reads: []string{"$.kubelet.capacity", "$.kubelet.config", "$.kubelet.flags"},
	plan:  planCapacity,
}

const ()

func planCapacity(in *input, out *output) {
	c := in.capacity
	if c == nil {
		return
	}
	for i, err := range c.problems {
		at := capacityPath
		if i >= 0 {
			at = document.IndexPath(capacityPath+".instanceTypes", i)
		}
		out.Fatal(nodeconfig.Invalid, at, "%s", err)
	}
	k := in.config.Kubelet
	reserves := kubeletSetting(k, kubeReservedFlag, kubeReserved, "") == ""
	described := in.instance().Type
	switch {
	case len(c.problems) > 0:
	case in.agentless && described != "" && len(k.Capacity.InstanceTypes) > 0 && in.known(typeVariable) != "" && c.node == nil:
		out.Fatal(nodeconfig.Invalid, capacityPath+".instanceTypes", "does not have %s, which the machine of these facts is", described)
	case len(c.types) == 0 && in.agentless:
		out.Fatal(nodeconfig.Missing, capacityPath+".instanceTypes", "is missing, and the facts do not say the machine's type: name those that it can be of")
	case c.node == nil && !in.looksUpPods() && !in.setsPods():
		unknownFact(in, out, capacityPath, factOf(typeVariable).what)
	case reserves && !c.sized:
		out.Warn(nodeconfig.Dropped, capacityPath, "kubeReserved is left out: it is computed from the machine's type and processors, and no facts say both. "+
			"Give the facts of such a machine, with its instance.type, or set kubelet.config.kubeReserved")
	}
	if len(c.types) == 0 || in.setsPods() || !in.looksUpPods() && in.family.Command.MaxPods == "" {
		return
	}
	var rows strings.Builder
	for _, name := range c.types {
		rows.WriteString(name + " " + strconv.Itoa(c.pods[name]) + "\n")
	}
	out.add(resource.Resource{
		Phase:   resource.Join,
		Effects: resource.Restarting(kubeletUnit),
		Reason:  "how many pods each type of machine holds that this one can be of" + in.derivation(),
		Spec:    &resource.File{Path: in.podsMap(), Mode: 0o644, Content: []byte(rows.String())},
	})
}

package kubelet

import (
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// capacities computes what a machine can hold, by the contract's rule (package capacity), except values that the contract
// sets. It does not guess: a type that the table does not have is an error, and values that depend on an unknown number of
// processors are left out, with a warning.
var capacities = concern.Concern{
	Name:  "capacity",
	Joins: true,
	Reads: []string{"$.kubelet.capacity", "$.kubelet.config", "$.kubelet.flags"},
	Plan:  planCapacity,
}

func planCapacity(in *concern.Input, out *concern.Output) {
	c := in.Capacity
	if c == nil {
		return
	}
	for i, err := range c.Problems {
		at := setting.KubeletCapacity
		if i >= 0 {
			at = document.IndexPath(setting.KubeletCapacity+".instanceTypes", i)
		}
		out.Fatal(nodeconfig.Invalid, at, "%s", err)
	}
	k := in.Config.Kubelet
	described := in.Instance().Type
	switch {
	case len(c.Problems) > 0:
	case in.Agentless && described != "" && len(k.Capacity.InstanceTypes) > 0 && in.Known(concern.TypeVariable) != "" && c.Node == nil:
		out.Fatal(nodeconfig.Invalid, setting.KubeletCapacity+".instanceTypes", "does not have %s, which the machine of these facts is", described)
	case len(c.Types) == 0 && in.Agentless:
		out.Fatal(nodeconfig.Missing, setting.KubeletCapacity+".instanceTypes", "is missing, and the facts do not say the machine's type: name those that it can be of")
	case c.Node == nil && !in.LooksUpPods() && !in.SetsPods():
		concern.UnknownFact(in, out, setting.KubeletCapacity, concern.FactOf(concern.TypeVariable).What)
	case in.ComputesReserve() && !c.Sized && !in.AwaitsFacts():
		out.Warn(nodeconfig.Dropped, setting.KubeletCapacity, "kubeReserved is left out: it is computed from the machine's type and processors, and no facts say both. "+
			"Give the facts of such a machine, with its instance.type, or set %s", problem.Setting("$.kubelet.config.kubeReserved"))
	}
	if unknown := in.UnknownType(); unknown != "" && !in.SetsPods() {
		out.Warn(nodeconfig.Missing, setting.KubeletCapacity, "the instance type %q is not known: the node is taken to hold %d pods, as each of a type that is not known; set kubelet.config.maxPods", unknown, c.Node.MaxPods)
	}
	if len(c.Types) == 0 || in.SetsPods() || !in.LooksUpPods() && in.Family.Command.MaxPods == "" {
		return
	}
	var rows strings.Builder
	for _, name := range c.Types {
		rows.WriteString(name + " " + strconv.Itoa(c.Pods[name]) + "\n")
	}
	out.Append(resource.Resource{
		Phase:   resource.Join,
		Effects: resource.Restarting(concern.KubeletUnit),
		Reason:  "how many pods each type of machine holds that this one can be of" + in.Derivation(),
		Spec:    &resource.File{Path: in.PodsMap(), Mode: 0o644, Content: []byte(rows.String())},
	})
}

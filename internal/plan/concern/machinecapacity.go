package concern

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/capacity"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// newCapacity computes the machine's capacity by the contract's rule.
func newCapacity(in *Input) *machineCapacity {
	wanted := in.Config.Kubelet.Capacity
	if wanted == nil || wanted.Rule != nodeconfig.RuleEKS {
		return nil
	}
	c := &machineCapacity{Pods: make(map[string]int), Problems: make(map[int]error)}
	described := in.Instance().Type // the facts are of a machine of this type
	types := slices.Clone(wanted.InstanceTypes)
	if described != "" && (!in.Agentless || len(types) == 0) {
		types = append(types, described)
	}
	for i, name := range types {
		n, err := in.eksNode(name, 1)
		if err != nil {
			if i >= len(wanted.InstanceTypes) {
				i = -1
			}
			c.Problems[i] = err
			continue
		}
		c.Pods[name] = n.MaxPods
		c.Types = append(c.Types, name)
	}
	slices.Sort(c.Types)
	c.Types = slices.Compact(c.Types)
	own := in.Known(TypeVariable)
	if own == "" && len(c.Types) == 1 {
		own = c.Types[0]
	}
	if _, ok := c.Pods[own]; ok {
		c.Sized = own == described && in.Facts.CPUs > 0
		c.Node, _ = in.eksNode(own, max(1, in.Facts.CPUs))
	}
	return c
}

// eksNode is a machine of a type of EC2's.
func (in *Input) eksNode(name string, processors int) (*capacity.Node, error) {
	return capacity.EKS{InstanceType: name, VCPUs: processors, OtherPods: in.Family.Kubelet.OtherPods}.Node()
}

// UnknownType is the machine's type, if its number of pods is that of all types that are not known; empty otherwise.
func (in *Input) UnknownType() string {
	own := in.Known(TypeVariable)
	if in.Capacity == nil || in.Capacity.Node == nil || own == "" {
		return ""
	}
	if _, _, err := capacity.Interfaces(own); err == nil {
		return ""
	}
	return own
}

// SetsPods reports whether the contract itself sets the number of pods.
func (in *Input) SetsPods() bool {
	return kubeletsetting.Value(in.Config.Kubelet, MaxPodsFlag, MaxPodsField, "") != ""
}

// LooksUpPods reports whether the number of pods depends on the machine's type, and the kubelet's unit refers to it.
func (in *Input) LooksUpPods() bool {
	return in.Capacity != nil && in.Joins() && !in.SetsPods() && in.Refers(TypeVariable)
}

// PodsMap is the path of the table of instance types.
func (in *Input) PodsMap() string {
	if own := in.Family.Command.MaxPods; own != "" {
		return own
	}
	return podsTable
}

// CapacityConfig are the kubelet's settings by the contract's rule. The contract's own settings are merged into them, map by map, as
// eksctl's scripts and nodeadm do. A flag replaces its whole setting.
func (in *Input) CapacityConfig() map[string]any {
	c, k := in.Capacity, in.Config.Kubelet
	if c == nil || c.Node == nil && len(c.Types) == 0 {
		return nil
	}
	config := make(map[string]any)
	node := c.Node
	if node == nil {
		node, _ = in.eksNode(c.Types[0], 1) // for what is the same for all
	} else if !in.SetsPods() && !in.LooksUpPods() && in.Family.Command.DropIn.File == "" {
		config[MaxPodsField] = json.Number(c.Count())
	}
	if c.Sized && kubeletsetting.Value(k, KubeReservedFlag, "", "") == "" {
		config[KubeReserved] = anyMap(node.KubeReserved)
	}
	if kubeletsetting.Value(k, evictionHardFlag, "", "") == "" {
		config[evictionField] = anyMap(node.EvictionHard)
	}
	return config
}

func anyMap(from map[string]string) map[string]any {
	to := make(map[string]any, len(from))
	for name, value := range from {
		to[name] = value
	}
	return to
}

// ComputesReserve reports whether the rule computes a part of kubeReserved that the contract does not set.
func (in *Input) ComputesReserve() bool {
	k := in.Config.Kubelet
	own, _ := k.Config[KubeReserved].(map[string]any)
	return kubeletsetting.Value(k, KubeReservedFlag, "", "") == "" && (own["cpu"] == nil || own["memory"] == nil)
}

// Steps are the calculations of the numbers that the kubelet gets.
func (in *Input) Steps() []capacity.Step {
	if in.Capacity == nil || in.Capacity.Node == nil {
		return nil
	}
	config := in.CapacityConfig()
	var steps []capacity.Step
	for _, step := range in.Capacity.Node.Derivation {
		field, name, _ := strings.Cut(step.Name, ".")
		own, _ := in.Config.Kubelet.Config[field].(map[string]any)
		_, replaced := own[name]
		if _, ok := config[field]; ok && !replaced || field == MaxPodsField && !in.SetsPods() {
			steps = append(steps, step)
		}
	}
	return steps
}

// Derivation is the calculation in words, for the reader of a plan.
func (in *Input) Derivation() string {
	var b strings.Builder
	for _, step := range in.Steps() {
		b.WriteString("; " + step.Name + " " + step.Value + " = " + step.How + " (" + step.Source + ")")
	}
	return b.String()
}

// podsTable is the path of the table of instance types, if the family has no path for it.
const podsTable = "/etc/slipway/max_pods.map"

// The settings of the kubelet that a capacity has.
const (
	MaxPodsFlag, MaxPodsField       = "max-pods", "maxPods"
	KubeReservedFlag, KubeReserved  = "kube-reserved", "kubeReserved"
	evictionHardFlag, evictionField = "eviction-hard", "evictionHard"
)

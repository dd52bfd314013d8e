package plan

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/capacity"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// newCapacity computes what the contract's rule says.
func newCapacity(in *input) *machineCapacity {
	wanted := in.config.Kubelet.Capacity
	if wanted == nil || wanted.Rule != nodeconfig.RuleEKS {
		return nil
	}
	c := &machineCapacity{pods: make(map[string]int), problems: make(map[int]error)}
	described := in.instance().Type // the facts are of a machine of this type
	types := slices.Clone(wanted.InstanceTypes)
	if described != "" && (!in.agentless || len(types) == 0) {
		types = append(types, described)
	}
	for i, name := range types {
		n, err := eksNode(name, 1)
		if err != nil {
			if i >= len(wanted.InstanceTypes) {
				i = -1
			}
			c.problems[i] = err
			continue
		}
		c.pods[name] = n.MaxPods
		c.types = append(c.types, name)
	}
	slices.Sort(c.types)
	c.types = slices.Compact(c.types)
	own := in.known(typeVariable)
	if own == "" && len(c.types) == 1 {
		own = c.types[0]
	}
	if _, ok := c.pods[own]; ok {
		c.sized = own == described && in.facts.CPUs > 0
		c.node, _ = eksNode(own, max(1, in.facts.CPUs))
	}
	return c
}

// eksNode is a machine of a type of EC2's.
func eksNode(name string, processors int) (*capacity.Node, error) {
	return capacity.EKS{InstanceType: name, VCPUs: processors}.Node()
}

// setsPods reports whether the contract itself sets the number of pods.
func (in *input) setsPods() bool {
	return kubeletSetting(in.config.Kubelet, maxPodsFlag, maxPodsField, "") != ""
}

// looksUpPods reports whether the number of pods depends on the machine's type, and the kubelet's unit refers to it.
func (in *input) looksUpPods() bool {
	return in.capacity != nil && in.joins() && !in.setsPods() && in.refers(typeVariable)
}

// podsMap is where the table of instance types is.
func (in *input) podsMap() string {
	if own := in.family.Command.MaxPods; own != "" {
		return own
	}
	return podsTable
}

// config are the kubelet's settings of a capacity that the contract does not have itself, under what it has.
func (in *input) capacityConfig() map[string]any {
	c, k := in.capacity, in.config.Kubelet
	if c == nil || c.node == nil && len(c.types) == 0 {
		return nil
	}
	config := make(map[string]any)
	node := c.node
	if node == nil {
		node, _ = eksNode(c.types[0], 1) // for what is the same for all
	} else if !in.setsPods() && !in.looksUpPods() && in.family.Command.DropIn.File == "" {
		config[maxPodsField] = json.Number(c.count())
	}
	if c.sized && kubeletSetting(k, kubeReservedFlag, kubeReserved, "") == "" {
		config[kubeReserved] = anyMap(node.KubeReserved)
	}
	if kubeletSetting(k, evictionHardFlag, evictionField, "") == "" {
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

// steps are the calculations of the numbers that the kubelet gets.
func (in *input) steps() []capacity.Step {
	if in.capacity == nil || in.capacity.node == nil {
		return nil
	}
	config := in.capacityConfig()
	var steps []capacity.Step
	for _, step := range in.capacity.node.Derivation {
		field, _, _ := strings.Cut(step.Name, ".")
		if _, ok := config[field]; ok || field == maxPodsField && !in.setsPods() {
			steps = append(steps, step)
		}
	}
	return steps
}

// derivation is the calculation in words, for whoever reads the plan.
func (in *input) derivation() string {
	var b strings.Builder
	for _, step := range in.steps() {
		b.WriteString("; " + step.Name + " " + step.Value + " = " + step.How + " (" + step.Source + ")")
	}
	return b.String()
}

// podsTable is where the table of instance types is in a family that has no place of its own for it.
const podsTable = "/etc/slipway/max_pods.map"

// The settings of the kubelet that a capacity has.
const (
	maxPodsFlag, maxPodsField       = "max-pods", "maxPods"
	kubeReservedFlag, kubeReserved  = "kube-reserved", "kubeReserved"
	evictionHardFlag, evictionField = "eviction-hard", "evictionHard"
)

package plan

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/capacity"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
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

const (
	capacityPath = "$.kubelet.capacity"
	// podsTable is where the table of instance types is in a family that has no place of its own for it.
	podsTable = "/etc/slipway/max_pods.map"
)

// The settings of the kubelet that a capacity has.
const (
	maxPodsFlag, maxPodsField       = "max-pods", "maxPods"
	kubeReservedFlag, kubeReserved  = "kube-reserved", "kubeReserved"
	evictionHardFlag, evictionField = "eviction-hard", "evictionHard"
)

// machineCapacity is what a machine can hold.
type machineCapacity struct {
	// types are those that the machine can be of, sorted, each with its number of pods.
	types []string
	pods  map[string]int
	// node is what the machine's own type holds; nil where it is not known which that is.
	node *capacity.Node
	// sized says that the number of its processors is known, and so what is kept back for the system.
	sized bool
	// problems are types that are not known, by their index in the contract, or -1 for the machine's own.
	problems map[int]error
}

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

// count is the number of pods of the machine's own type.
func (c *machineCapacity) count() string { return strconv.Itoa(c.node.MaxPods) }

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

// Capacity is how the numbers came to be that a config has computed for a machine; nil for none, and where the machine's type
// is not known.
func Capacity(c *nodeconfig.NodeConfig, f facts.Facts) []capacity.Step {
	return newInput(c, f).steps()
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
		out.fatal(nodeconfig.Invalid, at, "%s", err)
	}
	k := in.config.Kubelet
	reserves := kubeletSetting(k, kubeReservedFlag, kubeReserved, "") == ""
	described := in.instance().Type
	switch {
	case len(c.problems) > 0:
	case in.agentless && described != "" && len(k.Capacity.InstanceTypes) > 0 && in.known(typeVariable) != "" && c.node == nil:
		out.fatal(nodeconfig.Invalid, capacityPath+".instanceTypes", "does not have %s, which the machine of these facts is", described)
	case len(c.types) == 0 && in.agentless:
		out.fatal(nodeconfig.Missing, capacityPath+".instanceTypes", "is missing, and the facts do not say the machine's type: name those that it can be of")
	case c.node == nil && !in.looksUpPods() && !in.setsPods():
		unknownFact(in, out, capacityPath, factOf(typeVariable).what)
	case reserves && !c.sized:
		out.warn(nodeconfig.Dropped, capacityPath, "kubeReserved is left out: it is computed from the machine's type and processors, and no facts say both. "+
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

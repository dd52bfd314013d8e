package plan

import "slices"

// concerns are those of all subjects.
var concerns = slices.Concat(
	azureConcerns,
	gpuConcerns,
	joinConcerns,
	kubeletConcerns,
	machineConcerns,
	networkConcerns,
	runtimeConcerns,
	systemConcerns,
)

// readByAll are the settings that decide for every concern: they are in the input itself.
var readByAll = []string{"$.cluster.kubernetesVersion", "$.components.layout", "$.join.method"}

// agentlessConcerns are those of a node without an agent. An agent never plans one, and does not hold what only this one needs.
func agentlessConcerns() []*concern { return append(slices.Clone(concerns), &askedFacts) }

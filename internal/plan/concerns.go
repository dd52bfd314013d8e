package plan

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/plan/azure"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/gpu"
	"github.com/slipway-dev/slipway/internal/plan/join"
	"github.com/slipway-dev/slipway/internal/plan/kubelet"
	"github.com/slipway-dev/slipway/internal/plan/machine"
	"github.com/slipway-dev/slipway/internal/plan/network"
	"github.com/slipway-dev/slipway/internal/plan/runtime"
	"github.com/slipway-dev/slipway/internal/plan/system"
)

// concerns are those of all subjects.
var concerns = slices.Concat(
	azure.Concerns,
	gpu.Concerns,
	join.Concerns,
	kubelet.Concerns,
	machine.Concerns,
	network.Concerns,
	runtime.Concerns,
	system.Concerns,
)

// readByAll are the settings that decide for every concern: they are in the input itself.
var readByAll = []string{"$.cluster.kubernetesMinor", "$.cluster.kubernetesVersion", "$.components.layout", "$.components.os", "$.join.method"}

// agentlessConcerns are those of a node without an agent. An agent never plans one, and does not hold what only this one needs.
func agentlessConcerns() []*concern.Concern {
	return append(slices.Clone(concerns), &machine.Asked, &runtime.BroughtSandbox)
}

package plan

import (
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// setting is one that this version does not apply, with what follows from that.
type setting struct {
	path string
	// when says in which contracts this row counts; nil stands for all that give the setting.
	when func(*nodeconfig.NodeConfig) bool
	// why says what the node would lack, for one that is indispensable, or why nobody needs to know.
	why string
}

// indispensable are the settings that protect somebody, or without which the node cannot do what it is there for. A contract
// with one of them makes no node, unless it is allowed by name: a node that joins without it looks well, and is not. Of
// the others, which make a node better or other, the contract's author is warned.
var indispensable = []setting{
	// A node of a cluster without a way out has its images and components from there alone.
	{"$.components.registry", nil, "the node would fetch its images from registries that it may not reach"},
	{"$.runtime.containerd.baseRuntimeSpec", nil, "containers would run without the limits that it sets"},
	{"$.runtime.sandboxes", nil, "pods that ask for isolation would not start"},
	{"$.system.gpu", wantsGPU, "pods that ask for a GPU would not start"},
}

// idle are the settings that change nothing in contracts of a certain kind, whoever applies them: their switch is off.
// Nobody is told of them.
var idle = []setting{
	{"$.system.gpu", func(c *nodeconfig.NodeConfig) bool { return !wantsGPU(c) }, "the node uses no GPU"},
}

// wantsGPU reports whether the node uses a GPU: a driver alone is one for whatever GPU there is (AKS: config_gpu_driver).
func wantsGPU(c *nodeconfig.NodeConfig) bool {
	gpu := c.System.GPU
	return gpu != nil && (gpu.Vendor != "" || gpu.Managed || gpu.DynamicResourceAllocation || gpu.InstanceProfile != "")
}

// find returns the row of a setting that counts in a contract; nil for none.
func find(rows []setting, c *nodeconfig.NodeConfig, path string) *setting {
	for i := range rows {
		if r := &rows[i]; document.Within(path, r.path) && (r.when == nil || r.when(c)) {
			return r
		}
	}
	return nil
}

// unapplied are the problems of a setting that nobody reads: an error where it is indispensable, none where it is idle.
func unapplied(c *nodeconfig.NodeConfig, path string) []nodeconfig.Problem {
	if find(idle, c, path) != nil {
		return nil
	}
	p := notApplied(path)
	if r := find(indispensable, c, path); r != nil {
		p.Fatal = true
		p.Reason += ": " + r.why
	}
	return []nodeconfig.Problem{p}
}

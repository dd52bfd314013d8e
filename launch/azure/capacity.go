package azure

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/capacity"
	"github.com/slipway-dev/slipway/internal/akstext"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// sincePodMemory is the minor from which on AKS keeps memory back by the number of pods (AKS docs: resource reservations).
const sincePodMemory = 29

// capacityRule decides how many pods a node has, and what it keeps back. Package capacity has the formulas; a scheduler is told
// what they say.
var capacityRule = launch.Rule{
	Name: "capacity",
	Reads: []string{
		"$.machine.type.vcpus", "$.machine.type.memoryBytes", "$.machine.type.gpus", "$.machine.type.gpuManufacturer", "$.machine.maxPods",
		"$.machine.network.plugin", "$.machine.network.mode", "$.machine.disk.sizeGB", "$.machine.memoryOverhead", "$.node.cluster.kubernetesVersion",
	},
	Sets: []string{
		"$.node.kubelet.config.maxPods", "$.node.kubelet.config.kubeReserved", `$.node.kubelet.config.evictionHard["memory.available"]`,
		"$.machine.capacity", "$.machine.allocatable",
	},
	Run: func(d *launch.Document) []nodeconfig.Problem {
		m, config := &d.Machine, d.Node.Kubelet.Config
		node, err := capacity.AKS{
			VCPUs: m.Type.VCPUs, MemoryBytes: m.Type.MemoryBytes, Plugin: plugin(&m.Network), MaxPods: int(value(m.MaxPods)),
			Former: !akstext.AtLeast(d.Node.Cluster.KubernetesVersion, sincePodMemory),
		}.Node()
		if err != nil {
			p := new(problems)
			for _, reason := range flat(err) {
				p.add(true, nodeconfig.Missing, "$.machine.type", reason)
			}
			return p.list
		}
		reserved := make(map[string]any, len(node.KubeReserved))
		for resource, amount := range node.KubeReserved {
			reserved[resource] = amount
		}
		config["maxPods"], config["kubeReserved"] = json.Number(strconv.Itoa(node.MaxPods)), reserved
		eviction, _ := config["evictionHard"].(map[string]any)
		for signal, threshold := range node.EvictionHard {
			eviction[signal] = threshold
		}
		m.Capacity, m.Allocatable = told(m, node)
		return nil
	},
}

// plugin is the cluster's network by the name that package capacity has for it.
func plugin(n *launch.Network) capacity.Plugin {
	switch {
	case n.Plugin == "none":
		return capacity.NoPlugin
	case n.Plugin == "azure" && n.Mode == overlay:
		return capacity.AzureOverlay
	case n.Plugin == "azure":
		return capacity.Azure
	}
	return capacity.Kubenet // any other has its number (Karpenter for Azure: GetMaxPods)
}

// told is what a scheduler is told of a node: its capacity, and what pods can have of it.
func told(m *launch.Machine, node *capacity.Node) (all, allocatable map[string]string) {
	memory := capacity.AKSMemory(m.Type.MemoryBytes, m.MemoryOverhead)
	pods, disk := strconv.Itoa(node.MaxPods), strconv.FormatInt(int64(m.Disk.SizeGB), 10)+"G"
	all = map[string]string{"cpu": strconv.Itoa(m.Type.VCPUs), "memory": strconv.FormatInt(memory, 10), "pods": pods, "ephemeral-storage": disk}
	cpu := int64(m.Type.VCPUs)*1000 - amount(node.KubeReserved["cpu"], "m")
	memory -= (amount(node.KubeReserved["memory"], "Mi") + amount(node.EvictionHard["memory.available"], "Mi")) << 20
	allocatable = map[string]string{"cpu": strconv.FormatInt(cpu, 10) + "m", "memory": strconv.FormatInt(max(memory, 0), 10), "pods": pods, "ephemeral-storage": disk}
	if vendor := m.Type.GPUManufacturer; vendor != "" && value(m.Type.GPUs) > 0 {
		resource, count := vendor+".com/gpu", strconv.Itoa(*m.Type.GPUs) // as the vendors' device plug-ins have it
		all[resource], allocatable[resource] = count, count
	}
	return all, allocatable
}

// amount reads what package capacity has written.
func amount(quantity, unit string) int64 {
	n, err := strconv.ParseInt(strings.TrimSuffix(quantity, unit), 10, 64)
	if err != nil {
		panic("azure: package capacity has another unit than " + unit)
	}
	return n
}

// flat are the reasons of a joined error.
func flat(err error) []string {
	joined, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err)
	if !ok {
		return []string{err.Error()}
	}
	var all []string
	for _, e := range joined.Unwrap() {
		all = append(all, e.Error())
	}
	return all
}

package azure

import (
	"encoding/json"
	"errors"
	"maps"
	"strconv"

	"github.com/slipway-dev/slipway/capacity"
	"github.com/slipway-dev/slipway/internal/versions"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// sincePodMemory is the first minor for which AKS reserves memory by the number of pods (AKS docs: resource reservations).
const sincePodMemory = 29

// capacityRule decides how many pods a node can have, and what the node reserves. Package capacity has the formulas. The rule also sets
// the capacity reported to a scheduler.
var capacityRule = rule{
	name: "capacity",
	reads: []string{
		"$.machine.type.vcpus", "$.machine.type.memoryBytes", "$.machine.type.gpus", "$.machine.type.gpuManufacturer", "$.machine.maxPods",
		"$.machine.network.plugin", "$.machine.network.mode", "$.machine.disk.sizeGB", "$.machine.memoryOverhead", "$.node.cluster.kubernetesVersion",
		"$.node.kubelet.config.systemReserved", "$.node.kubelet.config.evictionHard",
	},
	sets: []string{
		"$.node.kubelet.config.maxPods", "$.node.kubelet.config.kubeReserved", `$.node.kubelet.config.evictionHard["memory.available"]`,
		"$.machine.capacity", "$.machine.allocatable",
	},
	decide: func(p *problems, d *launch.Document) {
		m, config := &d.Machine, d.Node.Kubelet.Config
		node, err := capacity.AKS{
			VCPUs: m.Type.VCPUs, MemoryBytes: m.Type.MemoryBytes, Plugin: plugin(&m.Network), MaxPods: int(value(m.MaxPods)),
			Former: !versions.AtLeast(d.Node.Cluster.KubernetesVersion, sincePodMemory),
		}.Node()
		if err != nil {
			for _, reason := range flat(err) {
				p.Report(true, nodeconfig.Missing, "$.machine.type", reason)
			}
			return
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
		if m.Capacity, m.Allocatable, err = told(m, node.MaxPods, config); err != nil {
			p.wrong("$.node.kubelet.config", err.Error())
		}
	},
}

// plugin returns package capacity's name for the cluster's network.
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

// told returns the node's capacity as reported to a scheduler, and the part of it that pods can use.
func told(m *launch.Machine, pods int, kubelet map[string]any) (all, allocatable map[string]string, err error) {
	all = map[string]string{"pods": strconv.Itoa(pods)}
	allocatable = maps.Clone(all)
	for _, r := range []struct {
		name           string
		total          int64
		unit, freeUnit string
		of             int64 // the total is shown in so many
	}{
		{"cpu", int64(m.Type.VCPUs) * 1000, "", "m", 1000},
		{"memory", capacity.AKSMemory(m.Type.MemoryBytes, m.MemoryOverhead), "", "", 1},
		{"ephemeral-storage", int64(m.Disk.SizeGB) * gigabyte, "G", "", gigabyte},
	} {
		kept, err := capacity.Kept(kubelet, r.name, r.total)
		if err != nil {
			return nil, nil, err
		}
		all[r.name], allocatable[r.name] = strconv.FormatInt(r.total/r.of, 10)+r.unit, strconv.FormatInt(r.total-kept, 10)+r.freeUnit
	}
	if vendor := m.Type.GPUManufacturer; vendor != "" && value(m.Type.GPUs) > 0 {
		resource := vendor + ".com/gpu" // as the vendors' device plug-ins have it
		all[resource] = strconv.Itoa(*m.Type.GPUs)
		allocatable[resource] = all[resource]
	}
	return all, allocatable, nil
}

// flat returns the reasons of a joined error.
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

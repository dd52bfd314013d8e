package azure

import (
	"cmp"
	"maps"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/versions"
	"github.com/slipway-dev/slipway/launch"
)

// sinceStateless is the minor from which on the network's plug-in keeps no state on the node.
const sinceStateless = 34

// labelRow is a label that follows from the node. If the value is empty, the node does not have the label.
type labelRow struct {
	key   string
	value func(*launch.Document) string
}

// when returns the value if the condition is met, or else "".
func when(met bool, value string) string {
	if met {
		return value
	}
	return ""
}

// state is a feature's in the words of AKS.
func state(on bool) string {
	if on {
		return "enabled"
	}
	return "disabled"
}

func isOverlay(d *launch.Document) bool {
	return d.Machine.Network.Plugin == "azure" && d.Machine.Network.Mode == overlay
}

// labelRows are those labels (Karpenter for Azure: labels.Get, and the instance type's requirements). A pool may require them, but cannot
// set them.
var labelRows = []labelRow{
	{"kubernetes.azure.com/role", func(*launch.Document) string { return "agent" }},
	{"kubernetes.azure.com/cluster", func(d *launch.Document) string { return clusterLabel(azureOf(d).ResourceGroup) }},
	{"kubernetes.azure.com/kubelet-identity-client-id", func(d *launch.Document) string { return azureOf(d).Identity.UserAssignedID }},
	{"karpenter.sh/do-not-sync-taints", func(*launch.Document) string { return "true" }}, // kubernetes-sigs/karpenter #1772
	{"kubernetes.azure.com/os-sku", func(d *launch.Document) string { return osSKU(d.Machine.Image.Family) }},
	{"kubernetes.azure.com/os-sku-requested", func(d *launch.Document) string { return d.Machine.Image.Wanted }},
	{"kubernetes.azure.com/os-sku-effective", func(d *launch.Document) string { return effective(d.Machine.Image.Family) }},
	{"kubernetes.azure.com/fips_enabled", func(d *launch.Document) string { return when(value(d.Machine.Image.FIPS), "true") }},
	{"kubernetes.azure.com/network-subnet", func(d *launch.Document) string { return when(isOverlay(d), azureOf(d).Subnet) }},
	{"kubernetes.azure.com/nodenetwork-vnetguid", func(d *launch.Document) string { return when(isOverlay(d), d.Machine.Network.ID) }},
	{"kubernetes.azure.com/azure-cni-overlay", func(d *launch.Document) string { return when(isOverlay(d), "true") }},
	{"kubernetes.azure.com/podnetwork-type", func(d *launch.Document) string { return when(isOverlay(d), overlay) }},
	{"kubernetes.azure.com/network-stateless-cni", func(d *launch.Document) string {
		return when(isOverlay(d), strconv.FormatBool(versions.AtLeast(d.Node.Cluster.KubernetesVersion, sinceStateless)))
	}},
	{"kubernetes.azure.com/ebpf-dataplane", func(d *launch.Document) string { return when(d.Machine.Network.Dataplane == cilium, cilium) }},
	{"kubernetes.azure.com/localdns-state", func(d *launch.Document) string { return state(d.Node.Network.LocalDNS != nil) }},
	{"kubernetes.azure.com/artifactstreaming-enabled", func(d *launch.Document) string { return when(d.Node.Runtime.LazyPull != "", "true") }},
	{labelCapacityType, func(d *launch.Document) string { return d.Machine.CapacityType }},
	{"kubernetes.azure.com/scalesetpriority", priority},
	{"kubernetes.azure.com/priority", priority},
	{labelScope, func(d *launch.Document) string { return scope(d.Machine.Zone) }},
	{"topology.kubernetes.io/region", func(d *launch.Document) string { return strings.ToLower(azureOf(d).Location) }},
	{labelZone, func(d *launch.Document) string { return cmp.Or(d.Machine.Zone, regional) }},
	{"kubernetes.io/os", func(*launch.Document) string { return "linux" }},
	{"kubernetes.io/arch", func(d *launch.Document) string { return d.Machine.Type.Architecture }},
	{"node.kubernetes.io/instance-type", func(d *launch.Document) string { return d.Machine.Type.Name }},
	{"karpenter.azure.com/sku-name", func(d *launch.Document) string { return d.Machine.Type.Name }},
	{"karpenter.azure.com/sku-family", sizePart(func(n sizeName) string { return n.family })},
	{"karpenter.azure.com/sku-series", sizePart(sizeName.series)},
	{"karpenter.azure.com/sku-version", sizePart(func(n sizeName) string { return cmp.Or(n.version, "1") })},
	{"karpenter.azure.com/sku-cpu", func(d *launch.Document) string { return positive(int64(d.Machine.Type.VCPUs)) }},
	{"karpenter.azure.com/sku-memory", func(d *launch.Document) string { return positive(d.Machine.Type.MemoryBytes >> 20) }},
	{"kubernetes.azure.com/sku-cpu", func(d *launch.Document) string { return positive(int64(d.Machine.Type.VCPUs)) }},
	{"kubernetes.azure.com/sku-memory", func(d *launch.Document) string { return positive(d.Machine.Type.MemoryBytes >> 20) }},
	{"karpenter.azure.com/sku-networking-accelerated", func(d *launch.Document) string { return known(d.Machine.Type.AcceleratedNetworking) }},
	{"karpenter.azure.com/sku-storage-premium-capable", func(d *launch.Document) string { return known(d.Machine.Type.PremiumStorage) }},
	{"karpenter.azure.com/sku-storage-ephemeralos-maxsize", func(d *launch.Document) string {
		return positive(largestHostDisk(&d.Machine.Type) / gigabyte)
	}},
	{"karpenter.azure.com/sku-gpu-name", func(d *launch.Document) string { return d.Machine.Type.GPUName }},
	{"karpenter.azure.com/sku-gpu-manufacturer", func(d *launch.Document) string { return d.Machine.Type.GPUManufacturer }},
	{"karpenter.azure.com/sku-gpu-count", func(d *launch.Document) string {
		if d.Machine.Type.GPUs == nil {
			return ""
		}
		return strconv.Itoa(*d.Machine.Type.GPUs) // also 0, so that a pool can want it
	}},
}

// labelDomain is the domain of labels that is Karpenter's for Azure.
const labelDomain = "karpenter.azure.com"

// ownDomains are the domains of labels that are Karpenter's for Azure and AKS's, and AKS's former labels, which have none. A pool may
// restrict a node by the labels above, set those below, and have no others of them (Karpenter for Azure: RestrictedLabelDomains, and
// the rules of its CRD nodepools).
var ownDomains = []string{labelDomain, strings.TrimSuffix(aksDomain, "/"), "agentpool", "storageprofile", "storagetier", "accelerator"}

// The labels that follow from an offering. With the last one a pool wants machines that can have disks of the kind Ultra SSD.
const (
	labelZone         = "topology.kubernetes.io/zone"
	labelCapacityType = "karpenter.sh/capacity-type"
	labelScope        = labelDomain + "/placement-scope"
	labelUltraSSD     = labelDomain + "/sku-storage-ultra-ssd"
)

// poolLabels are those of the domains that a pool may set. The first is the class's, which Karpenter sets on claims
// (sigs.k8s.io/karpenter v1: NodeClassLabelKey).
var poolLabels = []string{
	labelDomain + "/aksnodeclass", labelUltraSSD, aksDomain + "mode", aksDomain + "ebpf-host-routing", aksDomain + "network-policy", aksDomain + "hostedvm",
}

// sizePart returns a label's value function for one part of the size's name. If the name has another form, the node does not have the label.
func sizePart(part func(sizeName) string) func(*launch.Document) string {
	return func(d *launch.Document) string {
		if n, ok := sizeNameOf(d.Machine.Type.Name); ok {
			return part(n)
		}
		return ""
	}
}

// priority is the capacity type in AKS's words.
func priority(d *launch.Document) string {
	if d.Machine.CapacityType == spot {
		return "spot"
	}
	return "regular"
}

func positive(n int64) string { return when(n > 0, strconv.FormatInt(n, 10)) }

func known(b *bool) string {
	if b == nil {
		return ""
	}
	return strconv.FormatBool(*b)
}

// longestLabel is the longest value of a label (Kubernetes: labels and selectors).
const longestLabel = 63

// clusterLabel makes the value of a label of the name of a resource group (AKS: cluster label).
func clusterLabel(group string) string {
	label := strings.Map(func(r rune) rune {
		if r == '(' || r == ')' {
			return '-'
		}
		return r
	}, group)
	if len(label) > longestLabel {
		label = label[:longestLabel]
	}
	if label == "" || !strings.ContainsAny(label[len(label)-1:], "-_.") {
		return label
	}
	if len(label) == longestLabel {
		return label[:longestLabel-1] + "z"
	}
	return label + "z"
}

// labelsRule labels the node.
var labelsRule = rule{
	name: "labels",
	reads: []string{
		"$.machine.image.family", "$.machine.image.wanted", "$.machine.image.fips", "$.machine.network.plugin", "$.machine.network.mode", "$.machine.network.dataplane",
		"$.machine.network.id", "$.machine.capacityType", "$.machine.zone", "$.machine.type.name", "$.machine.type.vcpus", "$.machine.type.memoryBytes",
		"$.machine.type.architecture", "$.machine.type.acceleratedNetworking", "$.machine.type.premiumStorage", "$.machine.type.gpus",
		"$.machine.type.gpuName", "$.machine.type.gpuManufacturer",
		"$.machine.type.ephemeralDisk", "$.machine.type.placements", "$.machine.type.nvmeDiskBytes", "$.machine.type.cacheDiskBytes",
		"$.machine.type.resourceDiskBytes", "$.node.cloud.azure.location", "$.node.cloud.azure.resourceGroup", "$.node.cloud.azure.identity.userAssignedID", "$.node.cloud.azure.subnet", "$.node.cluster.kubernetesVersion",
		"$.node.network.localDNS", "$.node.runtime.lazyPull",
	},
	sets: []string{"$.node.kubelet.labels"},
	decide: func(p *problems, d *launch.Document) {
		all := make(map[string]string, len(d.Node.Kubelet.Labels)+len(labelRows))
		maps.Copy(all, d.Node.Kubelet.Labels)
		own := isOwn(d)
		for _, r := range labelRows {
			if own && strings.HasPrefix(r.key, aksDomain) {
				continue
			}
			if v := r.value(d); v != "" {
				all[r.key] = v
			}
		}
		d.Node.Kubelet.Labels = all
	},
}

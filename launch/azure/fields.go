package azure

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/launch"
)

// fields are which sources may set what (AKS Node Bootstrapping: "Karpenter configuration sources"). The longest path counts.
var fields = slices.Concat([]launch.Field{
	{Path: "$.node.cluster.name", Sources: by(launch.Global)},
	{Path: "$.node.cluster.server", Sources: by(launch.Global)},
	{Path: "$.node.cluster.kubernetesVersion", Sources: by(launch.Detected, launch.Global)},
	{Path: "$.node.cluster.certificateAuthority", Sources: by(launch.Detected)},
	{Path: "$.node.cluster.dnsServiceIPs", Sources: by(launch.Computed)},
	{Path: "$.node.join.method", Sources: by(launch.Hardcoded, launch.Global)},
	{Path: "$.node.kubelet.config", Sources: by(launch.Hardcoded, launch.Class)},
	{Path: "$.node.kubelet.config.clusterDNS", Sources: by(launch.Computed)},
	{Path: "$.node.kubelet.config.maxPods", Sources: by(launch.Computed)},
	{Path: "$.node.kubelet.config.kubeReserved", Sources: by(launch.Computed)},
	{Path: `$.node.kubelet.config.evictionHard["memory.available"]`, Sources: by(launch.Computed)},
	{Path: "$.node.kubelet.config.streamingConnectionIdleTimeout", Sources: by(launch.Computed)},
	{Path: "$.node.kubelet.config.featureGates", Sources: by(launch.Computed)},
	{Path: "$.node.kubelet.flags", Sources: by(launch.Computed)},
	{Path: "$.node.kubelet.imageCredentialProvider", Sources: by(launch.Computed)},
	{Path: "$.node.kubelet.labels", Sources: by(launch.Hardcoded, launch.Pool)},
	{Path: "$.node.kubelet.taints", Sources: by(launch.Pool)},
	{Path: "$.node.runtime", Sources: by(launch.Hardcoded, launch.Class)},
	{Path: "$.node.runtime.lazyPull", Sources: by(launch.Computed)},
	{Path: "$.node.network", Sources: by(launch.Computed)},
	{Path: "$.node.network.localDNS", Sources: by(launch.Class)},
	{Path: "$.node.system", Sources: by(launch.Class)},
	{Path: "$.node.trust", Sources: by(launch.Class)},
	{Path: "$.node.proxy", Sources: by(launch.Class)},
	{Path: "$.node.access", Sources: by(launch.Class)},
	{Path: "$.node.checks", Sources: by(launch.Class)},
	{Path: "$.node.files", Sources: by(launch.Class)},
	{Path: "$.node.units", Sources: by(launch.Class)},
	{Path: "$.node.commands", Sources: by(launch.Class)},
	{Path: "$.node.system.sysctls", Sources: by(launch.Hardcoded, launch.Class)},
	{Path: "$.node.system.swapDisk", Sources: by(launch.Class)},
	{Path: "$.node.system.swapMB", Sources: by(launch.Class)},
	{Path: "$.node.system.transparentHugePages", Sources: by(launch.Class)},
	{Path: "$.node.system.gpu", Sources: by(launch.Computed)},
	{Path: "$.node.cloud.provider", Sources: by(launch.Hardcoded)},
	{Path: "$.node.cloud.instanceType", Sources: by(launch.Detected)},
	{Path: "$.node.cloud.azure", Sources: by(launch.Hardcoded)},
	{Path: "$.node.cloud.azure.environment", Sources: by(launch.Hardcoded, launch.Environment)},
	{Path: "$.node.cloud.azure.tenantID", Sources: by(launch.Environment)},
	{Path: "$.node.cloud.azure.subscriptionID", Sources: by(launch.Environment)},
	{Path: "$.node.cloud.azure.location", Sources: by(launch.Environment)},
	{Path: "$.node.cloud.azure.resourceGroup", Sources: by(launch.Detected, launch.Global)},
	{Path: "$.node.cloud.azure.identity.userAssignedID", Sources: by(launch.Detected, launch.Global)},
	{Path: "$.node.cloud.azure.subnet", Sources: by(launch.Computed)},
	{Path: "$.node.cloud.azure.vnet", Sources: by(launch.Computed)},
	{Path: "$.node.cloud.azure.vnetResourceGroup", Sources: by(launch.Computed)},
	{Path: "$.node.cloud.azure.securityGroup", Sources: by(launch.Computed)},
	{Path: "$.node.cloud.azure.routeTable", Sources: by(launch.Computed)},
	{Path: "$.node.components", Sources: by(launch.Hardcoded)},
	{Path: "$.node.components.scriptVariables", Sources: by(launch.Computed)},

	{Path: "$.machine.type", Sources: by(launch.Detected)},
	{Path: "$.machine.zone", Sources: by(launch.Pool)},
	{Path: "$.machine.capacityType", Sources: by(launch.Hardcoded, launch.Pool)},
	{Path: "$.machine.maxPods", Sources: by(launch.Class)},
	{Path: "$.machine.driftOnRelease", Sources: by(launch.Class)},
	{Path: "$.machine.image", Sources: by(launch.Computed)},
	{Path: "$.machine.image.wanted", Sources: by(launch.Hardcoded, launch.Class)},
	{Path: "$.machine.image.fips", Sources: by(launch.Class)},
	{Path: "$.machine.disk.sizeGB", Sources: by(launch.Hardcoded, launch.Class)},
	{Path: "$.machine.disk.ephemeral", Sources: by(launch.Computed)},
	{Path: "$.machine.disk.placement", Sources: by(launch.Computed)},
	{Path: "$.machine.disk.encryptionSet", Sources: by(launch.Global)},
	{Path: "$.machine.network", Sources: by(launch.Hardcoded, launch.Detected, launch.Global)},
	{Path: "$.machine.network.id", Sources: by(launch.Hardcoded, launch.Detected, launch.Global)},
	{Path: "$.machine.network.subnet", Sources: by(launch.Detected, launch.Global, launch.Class)},
	{Path: "$.machine.network.securityGroup", Sources: by(launch.Computed)},
	{Path: "$.machine.network.addresses", Sources: by(launch.Computed)},
	{Path: "$.machine.network.accelerated", Sources: by(launch.Computed)},
	{Path: "$.machine.security", Sources: by(launch.Class)},
	{Path: "$.machine.adminUser", Sources: by(launch.Hardcoded, launch.Global)},
	{Path: "$.machine.sshPublicKey", Sources: by(launch.Global)},
	{Path: "$.machine.userData", Sources: by(launch.Class)},
	{Path: "$.machine.identities", Sources: by(launch.Global)},
	{Path: "$.machine.gpuDriver", Sources: by(launch.Hardcoded, launch.Class)},
	{Path: "$.machine.gpuDriverVersion", Sources: by(launch.Computed)},
	{Path: "$.machine.ultraSSD", Sources: by(launch.Computed)},
	{Path: "$.machine.streaming", Sources: by(launch.Class)},
	{Path: "$.machine.memoryOverhead", Sources: by(launch.Hardcoded, launch.Global)},
	{Path: "$.machine.capacity", Sources: by(launch.Computed)},
	{Path: "$.machine.allocatable", Sources: by(launch.Computed)},
	{Path: "$.machine.tags", Sources: by(launch.Global, launch.Class)},
}, rowsOf("$.machine.tags", ownTags, launch.Computed), rowsOf("$.node.kubelet.labels", labelKeys(), launch.Computed),
	rowsOf("$.node.kubelet.labels", poolLabels, launch.Hardcoded, launch.Pool))

func by(sources ...launch.Source) []launch.Source { return sources }

// rowsOf are rows for entries of a map.
func rowsOf(path string, keys []string, sources ...launch.Source) []launch.Field {
	rows := make([]launch.Field, 0, len(keys))
	for _, key := range keys {
		rows = append(rows, launch.Field{Path: document.FieldPath(path, key), Sources: sources})
	}
	return rows
}

func labelKeys() []string {
	keys := make([]string, len(labelRows))
	for i, r := range labelRows {
		keys[i] = r.key
	}
	return keys
}

package nodeconfig

import "github.com/slipway-dev/slipway/internal/document"

// vital are the fields without which no node can be made, or only another one than the contract's author wanted: a
// value there that cannot be read or used is an error. Elsewhere it is a warning, and the value is left out. Decoder
// and validation read this one table, so that a wrong type is never a lesser fault than a wrong value.
var vital = []string{
	"$.apiVersion",
	"$.kind",
	"$.metadata.revision", // else an older contract could replace a newer one

	// Needed to join.
	"$.cluster.kubernetesVersion",
	"$.cluster.server",
	"$.cluster.certificateAuthority",
	"$.cluster.certificateAuthorityHashes",
	"$.cluster.unsafeSkipCAVerification",
	"$.join",

	// What the kubelet, or containerd, would refuse to start with; and who may run on the node.
	"$.kubelet.nodeName",
	"$.kubelet.nodeIPs",
	"$.kubelet.labels",
	"$.kubelet.taints",
	"$.kubelet.config",
	"$.kubelet.flags",
	"$.kubelet.capacity",
	"$.kubelet.machineLabels",
	"$.kubelet.imageCredentialProvider",
	"$.runtime.registries", // a mirror that is left out means images from elsewhere
	"$.runtime.containerd.config",
	"$.runtime.containerd.dataDir",
	"$.runtime.containerd.metricsAddress",
	"$.cloud.azure.custom.endpoints",

	// What protects somebody: left out, it would not be missed.
	"$.runtime.containerd.baseRuntimeSpec",
	"$.access.ssh",
	"$.network.metadataRestriction",

	"$.checks.timeout",
	"$.checks.apiServerTimeout",
	"$.checks.changeTimeout",
	"$.components.layout",
	"$.components.os",
	"$.components.registry", // left out, images come from elsewhere

	// What somebody else on the node needs, in a way that only the author knows.
	"$.files",
	"$.units",
	"$.commands",
}

// Vital reports whether a problem with the value at a path of a NodeConfig is fatal: the value is vital itself, or
// it has a vital one within.
func Vital(path string) bool {
	for _, field := range vital {
		if document.Within(path, field) || document.Within(field, path) {
			return true
		}
	}
	return false
}

package nodeconfig

import "github.com/slipway-dev/slipway/internal/document"

// vital are the fields without which no node, or another node than the author wanted, would be made: an unreadable or unusable
// value in one of them is an error. In other fields it is a warning, and the value is left out. Decoder and validation both use
// this table, so that a wrong type is never a smaller problem than a wrong value.
var vital = []string{
	"$.apiVersion",
	"$.kind",
	"$.metadata.revision", // otherwise an older contract could replace a newer one

	// Needed to join.
	"$.cluster.kubernetesVersion",
	"$.cluster.server",
	"$.cluster.certificateAuthority",
	"$.cluster.certificateAuthorityHashes",
	"$.cluster.unsafeSkipCAVerification",
	"$.join",

	// Values with which the kubelet, or containerd, would not start; and values that decide which pods may run on the node.
	"$.kubelet.nodeName",
	"$.kubelet.nodeIPs",
	"$.kubelet.labels",
	"$.kubelet.taints",
	"$.kubelet.config",
	"$.kubelet.flags",
	"$.kubelet.capacity",
	"$.kubelet.machineLabels",
	"$.kubelet.imageCredentialProvider",
	"$.runtime.registries", // without a mirror, images come from another source
	"$.runtime.containerd.config",
	"$.runtime.containerd.dataDir",
	"$.runtime.containerd.metricsAddress",
	"$.cloud.azure.custom.endpoints",

	// Protection: if it were left out, no one would notice.
	"$.runtime.containerd.baseRuntimeSpec",
	"$.access.ssh",
	"$.network.metadataRestriction",

	"$.checks.timeout",
	"$.checks.apiServerTimeout",
	"$.checks.changeTimeout",
	"$.components.layout",
	"$.components.os",
	"$.components.manifest", // without it, any image is accepted
	"$.components.registry", // without it, images come from another source

	// Other programs on the node need these, and only the author knows which.
	"$.files",
	"$.units",
	"$.commands",
}

// Vital reports whether a problem with the value at a path of a NodeConfig is fatal: the value itself is vital, or a value inside
// it is.
func Vital(path string) bool {
	for _, field := range vital {
		if document.Within(path, field) || document.Within(field, path) {
			return true
		}
	}
	return false
}

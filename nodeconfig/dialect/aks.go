package dialect

import (
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig/aks"
)

// AKS is aksnodeconfig.v1.
const AKS = "aks"

var aksContract = Dialect{
	Name:  AKS,
	Title: "AKS's contract: `aksnodeconfig.v1`",
	Noun:  "AKS contract",
	mark:  `AKS's version "v1"`,
	// An AKS contract has no apiVersion; its version is a bare "v1" or "v0". A Butane config has a version and a variant.
	detect: func(n *document.Node) bool {
		_, other := n.Get("apiVersion")
		_, version := n.Get("version")
		_, butane := n.Get("variant")
		return version && !other && !butane
	},
	read: func(n *document.Node, _ Reading) translated {
		r := aks.FromTree(n)
		return translated{config: r.NodeConfig, problems: r.Problems, origin: r.Origin, origins: r.Origins, document: n}
	},
	unplanned: []Reader{
		{"$.version", false, "says which contract it is"},
		{"$.cse_timeout", true, "bounds the whole provisioning"},
		{"$.gpu_config.managed_gpu_experience_afec_enabled", false, "enable_managed_gpu and the machine's tag say what runs"},
		{"$.gpu_config.config_gpu_driver", true, "an image without the driver makes no node"},
		{"$.vm_size", true, "says what the machine's GPUs need, where the cloud does not say its size"},
		{"$.azure_private_registry_server", false, unreadByAKS},
		{"$.bootstrapping_config.cluster_join_method", false, unreadByAKS},
		{"$.disable_custom_data", false, unreadByAKS},
		{"$.network_config.cni_plugins_url", false, unreadByAKS},
		{"$.provision_output", false, unreadByAKS},
		{"$.workload_runtime", false, unreadByAKS},
		{"$.kube_proxy_url", false, "it says which images are worth keeping, and none is removed"},
		{"$.kubelet_config.kubelet_config_file_config.api_version", false, "the file has the one that the kubelet reads"},
		{"$.kubelet_config.kubelet_config_file_config.kind", false, "the file has the one that the kubelet reads"},
	},
}

// unreadByAKS is why a field changes no node (AKS node contract; the comment of each field says so).
const unreadByAKS = "AKS's own scripts do not read it either"

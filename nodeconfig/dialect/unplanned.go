package dialect

import "github.com/slipway-dev/slipway/internal/document"

// A Reader is a field of a document that changes nothing in a plan, and is no mistake there: something else
// reads it.
type Reader struct {
	// Path is the field's, in its dialect's terms.
	Path string
	// Applied says that the field changes what happens on a node, though nothing in its plan.
	Applied bool
	// Why says what becomes of it, or why nothing does.
	Why string
}

// unplanned are the fields, by dialect, that change nothing in a plan and that nobody is warned of. Of every other
// field the planner makes something, or there is a warning (TestNothingIsDroppedInSilence, TestEveryLeafCounts).
var unplanned = map[string][]Reader{
	Native: {
		{"$.apiVersion", false, "says which contract it is"},
		{"$.kind", false, "says which contract it is"},
		{"$.metadata.name", false, "a name for people"},
		{"$.metadata.revision", true, "a node refuses a contract with a lower one"},
		{"$.checks.allowUnapplied", true, "names the settings that may be left out"},
		{"$.checks.timeout", true, "bounds the whole provisioning"},
		{"$.checks.changeTimeout", true, "bounds the wait for the Node's lease after a change"},
		{"$.system.gpu.installDriver", true, "an image without the driver makes no node"},
		{"$.components.scriptVariables", false, "for the provisioning scripts of AKS's images alone"},
		{"$.join.discoveryToken", true, "the agent checks the CA with it, if it fetches the CA"},
		{"$.cluster.name", false, "for people; no component asks for it yet"},
	},
	Kubeadm: {
		{"$.apiVersion", false, "says which document it is"},
		{"$.kind", false, "says which document it is"},
		{"$.nodeRegistration.criSocket", false, "Slipway's nodes have containerd; another socket is refused"},
	},
	AKS: {
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
	EKSCTL: {
		{"$.apiVersion", false, "says which contract it is"},
		{"$.kind", false, "says which contract it is"},
	},
}

// unreadByAKS is why a field changes no node (AKS node contract; the comment of each field says so).
const unreadByAKS = "AKS's own scripts do not read it either"

// Unplanned returns the fields of a dialect that change nothing in a plan and that nobody is warned of.
func Unplanned(dialect string) []Reader { return append([]Reader(nil), unplanned[dialect]...) }

// ReaderOf says what becomes of a field that is one of [Unplanned], or is below one.
func ReaderOf(dialect, path string) (r Reader, ok bool) {
	for _, r := range unplanned[dialect] {
		if document.Within(path, r.Path) {
			return r, true
		}
	}
	return Reader{}, false
}

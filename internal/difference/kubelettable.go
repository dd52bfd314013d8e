package difference

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
)

// kubeletRow is the class of a change of one of the kubelet's settings, if that is more than the restart that every such change
// needs, or if a restart has less effect than one might think.
type kubeletRow struct {
	// Field is the setting's place in KubeletConfiguration, Flag the flag of the same meaning; either may
	// be empty.
	Field, Flag string
	// Default is the value of a setting that is not set. A node's file may contain it or not.
	Default string
	// While is a field with its value, as "field=value": the row is for kubelets that had it. Empty is for all.
	While  string
	Class  Class
	Reason string
	Source string
}

// holds reports whether the row is for a kubelet that was set up so.
func (r *kubeletRow) holds(before *resource.Node) bool {
	field, wanted, conditional := strings.Cut(r.While, "=")
	if !conditional {
		return true
	}
	at := slices.IndexFunc(kubeletTable, func(row kubeletRow) bool { return row.Field == field })
	return settingOf(before, &kubeletTable[at]).value == wanted
}

// Sources that several rows have.
const (
	// While the kubelet still had dynamic configuration, its types described for each field the effect of a change
	// on a running node. No later version documents that.
	fullReboot    = `k8s.io/kubelet v0.23.17 config/v1beta1/types.go: "should not be updated without a full node reboot"`
	dynamic       = "k8s.io/kubelet v0.23.17 config/v1beta1/types.go: on dynamically updating the field"
	types         = "k8s.io/kubelet v0.36.3 config/v1beta1/types.go: comment of the field"
	registration  = "k8s.io/kubernetes v1.36.3 pkg/kubelet/kubelet_node_status.go: tryRegisterWithAPIServer"
	options       = "k8s.io/kubernetes v1.36.3 cmd/kubelet/app/options/options.go: AddFlags"
	cpuState      = "k8s.io/kubernetes v1.36.3 pkg/kubelet/cm/cpumanager/policy_static.go: validateState"
	changeCPU     = `Kubernetes docs, Control CPU Management Policies on the Node, "Changing the CPU Manager Policy"`
	memoryState   = "k8s.io/kubernetes v1.36.3 pkg/kubelet/cm/memorymanager/policy_static.go and state/state_checkpoint.go: what asks to drain"
	topology      = `Kubernetes docs, Control Topology Management Policies on a node; ` + fullReboot
	cgroupDriver  = `Kubernetes docs, Configuring a cgroup driver, "Update the cgroup driver on all nodes"`
	changeRuntime = `Kubernetes docs, Changing the Container Runtime on a Node from Docker Engine to containerd, "Drain the node"`
)

const (
	oldCgroups  = "cgroups of running pods and daemons stay where the old setting put them"
	newPodsOnly = "only containers that are created afterwards have it"
	staticCPUs  = "under the static CPU policy the kubelet refuses to start when the reserved CPUs do not fit its state file, cpu_manager_state, which is to be removed"
	labelsLater = "the kubelet gives labels to a Node only when it registers; the agent changes those of the Node that a kubelet may change"
	taintsLater = "the kubelet gives taints to a Node only when it registers; only an administrator may change them: slipway-node status names the command"
	overReserve = "what pods may use changes; those above a lower limit are evicted"
	overLimit   = "pods above a lower limit are refused when the kubelet starts again"
)

// kubeletTable is sorted by class, the greatest first.
var kubeletTable = []kubeletRow{
	{Flag: "hostname-override", Class: Replace, Reason: "a Node of another name is another Node, and the kubelet's certificate is for the old one", Source: options + "; Kubernetes docs, Using Node Authorization"},
	{Flag: "node-ip", Class: Replace, Reason: "the Node, its serving certificate and pods on the host's network keep the old address", Source: options},
	{Field: "providerID", Flag: "provider-id", Class: Replace, Reason: "a Node's providerID is set once, and says which machine it is", Source: registration + "; k8s.io/kubernetes v1.36.3 pkg/apis/core/validation: ValidateNodeUpdate"},
	{Flag: "cloud-provider", Class: Replace, Reason: "who gives a Node its addresses, its providerID and its taint is settled when it registers", Source: options + "; Kubernetes docs, Cloud Controller Manager Administration"},
	{Flag: "root-dir", Default: "/var/lib/kubelet", Class: Replace, Reason: "volumes and state of running pods are below the old directory", Source: options},
	{Flag: "cert-dir", Default: "/var/lib/kubelet/pki", Class: Replace, Reason: "the kubelet's own certificate and key are in the old directory, and its kubeconfig names them", Source: "k8s.io/kubernetes v1.36.3 pkg/kubelet/certificate/bootstrap/bootstrap.go: LoadClientConfig"},
	{Flag: "kubeconfig", Class: Replace, Reason: "a kubelet without its own kubeconfig joins again", Source: "k8s.io/kubernetes v1.36.3 pkg/kubelet/certificate/bootstrap/bootstrap.go: LoadClientConfig"},

	{Field: "cgroupRoot", Flag: "cgroup-root", Class: Reboot, Reason: oldCgroups, Source: fullReboot},
	{Field: "cgroupsPerQOS", Flag: "cgroups-per-qos", Default: "true", Class: Reboot, Reason: oldCgroups, Source: fullReboot},
	{Field: "kubeletCgroups", Flag: "kubelet-cgroups", Class: Reboot, Reason: oldCgroups, Source: fullReboot},
	{Field: "systemCgroups", Flag: "system-cgroups", Class: Reboot, Reason: oldCgroups, Source: types + `: "rolling back the flag requires a reboot"`},
	{Field: "systemReservedCgroup", Flag: "system-reserved-cgroup", Class: Reboot, Reason: oldCgroups, Source: fullReboot},
	{Field: "kubeReservedCgroup", Flag: "kube-reserved-cgroup", Class: Reboot, Reason: oldCgroups, Source: fullReboot},
	{Field: "qosReserved", Flag: "qos-reserved", Class: Reboot, Reason: oldCgroups, Source: fullReboot},

	{Field: "cpuManagerPolicy", Flag: "cpu-manager-policy", Default: "none", Class: Drain, Reason: "the kubelet refuses to start with the state file of another policy, cpu_manager_state, which is to be removed", Source: changeCPU},
	{Field: "cpuManagerPolicyOptions", Flag: "cpu-manager-policy-options", Class: Drain, Reason: "CPUs of running containers were chosen by the old options; the state file, cpu_manager_state, is to be removed", Source: changeCPU},
	{Field: "reservedSystemCPUs", Flag: "reserved-cpus", While: "cpuManagerPolicy=static", Class: Drain, Reason: staticCPUs, Source: cpuState},
	{Field: "systemReserved", Flag: "system-reserved", While: "cpuManagerPolicy=static", Class: Drain, Reason: staticCPUs, Source: cpuState},
	{Field: "kubeReserved", Flag: "kube-reserved", While: "cpuManagerPolicy=static", Class: Drain, Reason: staticCPUs, Source: cpuState},
	{Field: "memoryManagerPolicy", Flag: "memory-manager-policy", Default: "None", Class: Drain, Reason: "the kubelet refuses to start with the state file of another policy, memory_manager_state, which is to be removed", Source: memoryState},
	{Field: "reservedMemory", Flag: "reserved-memory", While: "memoryManagerPolicy=Static", Class: Drain, Reason: "the kubelet refuses to start when the reserved memory does not fit its state file, memory_manager_state, which is to be removed", Source: memoryState},
	{Field: "topologyManagerPolicy", Flag: "topology-manager-policy", Default: "none", Class: Drain, Reason: "running pods were placed by the old policy, and may be refused by the new one", Source: topology},
	{Field: "topologyManagerScope", Flag: "topology-manager-scope", Default: "container", Class: Drain, Reason: "running pods were placed in the old scope", Source: topology},
	{Field: "topologyManagerPolicyOptions", Flag: "topology-manager-policy-options", Class: Drain, Reason: "running pods were placed by the old options", Source: topology},
	{Field: "cgroupDriver", Flag: "cgroup-driver", Default: "cgroupfs", Class: Drain, Reason: "sandboxes of pods that were made by one cgroup driver cannot be made again by the other", Source: cgroupDriver},
	{Field: "containerRuntimeEndpoint", Flag: "container-runtime-endpoint", Class: Drain, Reason: "another runtime knows nothing of the containers that run", Source: changeRuntime},
	{Field: "imageServiceEndpoint", Flag: "image-service-endpoint", Class: Drain, Reason: "another snapshotter does not have the images of the containers that run", Source: changeRuntime},
	{Field: "podLogsDir", Default: "/var/log/pods", Class: Drain, Reason: "running containers write their logs where they were created to", Source: types + "; k8s.io/cri-api v0.36.3 PodSandboxConfig: log_directory"},
	{Field: "userNamespaces.idsPerPod", Default: "65536", Class: Drain, Reason: "it may need all containers made again", Source: types},
	{Field: "enableControllerAttachDetach", Flag: "enable-controller-attach-detach", Default: "true", Class: Drain, Reason: "volumes may refuse to detach where the node was not drained", Source: dynamic},

	{Field: "maxPods", Flag: "max-pods", Default: "110", Class: Restart, Reason: overLimit, Source: dynamic},
	{Field: "podsPerCore", Flag: "pods-per-core", Default: "0", Class: Restart, Reason: overLimit, Source: dynamic},
	{Field: "systemReserved", Flag: "system-reserved", Class: Restart, Reason: overReserve, Source: "k8s.io/kubernetes v1.36.3 pkg/kubelet/cm/node_container_manager_linux.go: enforceNodeAllocatableCgroups"},
	{Field: "kubeReserved", Flag: "kube-reserved", Class: Restart, Reason: overReserve, Source: "k8s.io/kubernetes v1.36.3 pkg/kubelet/cm/node_container_manager_linux.go: enforceNodeAllocatableCgroups"},
	{Field: "enforceNodeAllocatable", Flag: "enforce-node-allocatable", Default: "pods", Class: Restart, Reason: "daemons that use more memory than is reserved may be killed, and a limit that was set stays until a reboot", Source: dynamic},
	{Field: "clusterDNS", Flag: "cluster-dns", Class: Restart, Reason: newPodsOnly, Source: dynamic},
	{Field: "clusterDomain", Flag: "cluster-domain", Class: Restart, Reason: newPodsOnly, Source: "k8s.io/kubernetes v1.36.3 pkg/kubelet/network/dns/dns.go: GetPodDNS"},
	{Field: "resolvConf", Flag: "resolv-conf", Default: "/etc/resolv.conf", Class: Restart, Reason: newPodsOnly, Source: dynamic},
	{Field: "seccompDefault", Flag: "seccomp-default", Default: "false", Class: Restart, Reason: newPodsOnly, Source: `Kubernetes docs, Restrict a Container's Syscalls with seccomp, "Enable the use of RuntimeDefault"`},
	{Field: "memorySwap.swapBehavior", Default: "NoSwap", Class: Restart, Reason: newPodsOnly, Source: "Kubernetes docs, Swap memory management"},
	{Field: "failSwapOn", Flag: "fail-swap-on", Default: "true", Class: Restart, Reason: "a kubelet that is to fail does not start while there is swap", Source: dynamic},
	{Field: "podPidsLimit", Flag: "pod-max-pids", Default: "-1", Class: Restart, Reason: "processes above a lower limit can no longer fork", Source: dynamic},
	{Field: "cpuCFSQuotaPeriod", Flag: "cpu-cfs-quota-period", Default: "100ms", Class: Restart, Reason: "containers with a CPU limit are started again", Source: dynamic},
	{Field: "volumePluginDir", Flag: "volume-plugin-dir", Default: "/usr/libexec/kubernetes/kubelet-plugins/volume/exec/", Class: Restart, Reason: "volumes of plug-ins in the old directory can no longer be handled", Source: dynamic},
	{Field: "staticPodPath", Flag: "pod-manifest-path", Class: Restart, Reason: "static pods of the old directory are stopped", Source: `Kubernetes docs, Create static Pods, "Dynamic addition and removal of static pods"`},
	{Field: "serverTLSBootstrap", Flag: "rotate-server-certificates", Default: "false", Class: Restart, Reason: "the kubelet requests its serving certificate from the cluster, where an approver has to approve it", Source: types},
	{Field: "featureGates", Flag: "feature-gates", Class: Restart, Reason: "some features need more: their own documentation says so", Source: dynamic},

	{Flag: "node-labels", Class: None, Reason: labelsLater, Source: registration + ", updateDefaultLabels; plugin/pkg/admission/noderestriction/admission.go: getForbiddenLabels"},
	{Field: "registerWithTaints", Flag: "register-with-taints", Class: None, Reason: taintsLater, Source: registration + "; plugin/pkg/admission/noderestriction/admission.go: admitNode"},
}

package plan

import (
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// kubeadmFiles are what "kubeadm upgrade node" reads beside the kubelet's configuration and kubeconfig. No unit of Slipway's reads
// them.
var kubeadmFiles = concern{
	name:  "files of kubeadm",
	joins: true,
	reads: []string{"$.cluster.dnsDomain", "$.cluster.dnsServiceIPs", kubeadmPath, "$.cluster.serviceCIDRs", "$.kubelet.config"},
	plan:  planKubeadmFiles,
}

// Where kubeadm has them (k8s.io/kubernetes v1.36.3 cmd/kubeadm/app/constants, KubeletRunDirectory).
const (
	kubeadmFlags = "/var/lib/kubelet/kubeadm-flags.env"
	// KubeadmKubeletConfig is the kubelet's configuration, which "kubeadm upgrade node" writes again.
	KubeadmKubeletConfig = "/var/lib/kubelet/config.yaml"
	kubeadmInstance      = "/var/lib/kubelet/instance-config.yaml"
)

// kubeadmSocket is containerd's as kubeadm writes it (k8s.io/kubernetes v1.36.3 cmd/kubeadm/app/constants,
// CRISocketContainerd).
const kubeadmSocket = "unix:///var/run/containerd/containerd.sock"

// Annotations are those that kubeadm gives a Node when it joins, and needs for an upgrade, and the Node that gets them; none for a
// node that needs none (k8s.io/kubernetes v1.33.13 cmd/kubeadm/app/phases/patchnode, and app/util/config/cluster.go,
// GetNodeRegistration).
func Annotations(c *nodeconfig.NodeConfig, f facts.Facts) (*resource.FreeName, map[string]string) {
	in := newInput(c, f)
	if !in.joins() || !in.checksName() || in.reached(instanceConfig) {
		return nil, nil
	}
	return &resource.FreeName{AsNode: *asNode(in.config), Node: nodeName(in.config.Kubelet)},
		map[string]string{"kubeadm.alpha.kubernetes.io/cri-socket": kubeadmSocket}
}

func planKubeadmFiles(in *input, out *output) {
	if !in.takesDefaults() {
		return
	}
	// Without the file, kubeadm ends with an error (cmd/kubeadm/app/phases/upgrade/postupgrade.go, WriteKubeletConfigFiles).
	endpoint := "--container-runtime-endpoint=" + kubeadmSocket
	if in.reached(instanceConfig) {
		endpoint = ""
	}
	out.file(resource.Join, kubeadmFlags, 0o644, []byte("KUBELET_KUBEADM_ARGS=\""+endpoint+"\"\n"),
		"kubeadm upgrade node reads the container runtime's socket here (kubeadm: phases/kubelet/flags.go)")
	if !in.reached(instanceConfig) {
		return
	}
	// It is a patch of the kubelet's configuration that kubeadm writes, so what the contract says is in it, too.
	own := merge(contractSettings(in), in.config.Kubelet.Config)
	for _, head := range []string{"apiVersion", "kind"} {
		delete(own, head)
	}
	plain, secret := nodeconfig.Revealed(merge(own, map[string]any{"containerRuntimeEndpoint": kubeadmSocket}))
	out.guarded(secret, resource.Join, kubeadmInstance, 0o600, jsonFile(plain),
		"kubeadm upgrade node keeps these settings of the node (kubeadm: phases/kubelet/config.go)")
}

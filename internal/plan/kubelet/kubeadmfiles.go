package kubelet

import (
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/plan/textfile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// kubeadmFiles are what "kubeadm upgrade node" reads beside the kubelet's configuration and kubeconfig. No unit of Slipway's reads
// them.
var kubeadmFiles = concern.Concern{
	Name:  "files of kubeadm",
	Joins: true,
	Reads: []string{"$.cluster.dnsDomain", "$.cluster.dnsServiceIPs", setting.Kubeadm, "$.cluster.serviceCIDRs", "$.kubelet.config"},
	Plan:  planKubeadmFiles,
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

// Annotations returns the Node, and the annotations that kubeadm sets on it when it joins, and needs for an upgrade. They are empty
// if the node needs none (k8s.io/kubernetes v1.33.13 cmd/kubeadm/app/phases/patchnode, and app/util/config/cluster.go,
// GetNodeRegistration).
func Annotations(c *nodeconfig.NodeConfig, f facts.Facts) (*resource.FreeName, map[string]string) {
	in := concern.NewInput(c, f)
	if !in.Joins() || !checksName(in) || in.Reached(concern.InstanceConfig) {
		return nil, nil
	}
	return &resource.FreeName{AsNode: *concern.AsNode(in.Config), Node: kubeletsetting.NodeName(in.Config.Kubelet)},
		map[string]string{"kubeadm.alpha.kubernetes.io/cri-socket": kubeadmSocket}
}

func planKubeadmFiles(in *concern.Input, out *concern.Output) {
	if !in.TakesDefaults() {
		return
	}
	// Without the file, kubeadm ends with an error (cmd/kubeadm/app/phases/upgrade/postupgrade.go, WriteKubeletConfigFiles).
	endpoint := "--container-runtime-endpoint=" + kubeadmSocket
	if in.Reached(concern.InstanceConfig) {
		endpoint = ""
	}
	out.File(resource.Join, kubeadmFlags, 0o644, []byte("KUBELET_KUBEADM_ARGS=\""+endpoint+"\"\n"),
		"kubeadm upgrade node reads the container runtime's socket here (kubeadm: phases/kubelet/flags.go)")
	if !in.Reached(concern.InstanceConfig) {
		return
	}
	// It is a patch of the kubelet's configuration that kubeadm writes, so it also has the contract's fields.
	own := kubeletsetting.Merge(contractSettings(in), in.Config.Kubelet.Config)
	for _, head := range []string{"apiVersion", "kind"} {
		delete(own, head)
	}
	plain, secret := nodeconfig.Revealed(kubeletsetting.Merge(own, map[string]any{"containerRuntimeEndpoint": kubeadmSocket}))
	out.Guarded(secret, resource.Join, kubeadmInstance, 0o600, textfile.JSON(plain),
		"kubeadm upgrade node keeps these settings of the node (kubeadm: phases/kubelet/config.go)")
}

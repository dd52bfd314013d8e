package eks

// NodeConfig is what is read of nodeadm's NodeConfig (Amazon EKS AMI: nodeadm/api/v1alpha1).
type NodeConfig struct {
	// APIVersion is "node.eks.aws/v1alpha1".
	APIVersion string `json:"apiVersion"`
	// Kind is "NodeConfig".
	Kind string `json:"kind"`
	// Spec is the node.
	Spec Spec `json:"spec,omitzero"`
}

// Spec is a node.
type Spec struct {
	// Cluster is the cluster to join.
	Cluster Cluster `json:"cluster,omitzero"`
	// Kubelet configures the kubelet.
	Kubelet Kubelet `json:"kubelet,omitzero"`
	// Containerd configures containerd.
	Containerd Containerd `json:"containerd,omitzero"`
	// Instance configures the machine.
	Instance Instance `json:"instance,omitzero"`
	// FeatureGates turn features of nodeadm on: "FastImagePull", "InstanceIdNodeName".
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
}

// Cluster is a cluster of EKS.
type Cluster struct {
	// Name is the cluster's name.
	Name string `json:"name,omitempty"`
	// APIServerEndpoint is the API server's URL.
	APIServerEndpoint string `json:"apiServerEndpoint,omitempty"`
	// CertificateAuthority is the base64 of the cluster's CA certificate in PEM.
	CertificateAuthority string `json:"certificateAuthority,omitempty"`
	// CIDR is the cluster's service range.
	CIDR string `json:"cidr,omitempty"`
	// EnableOutpost is true for a cluster on an outpost.
	EnableOutpost *bool `json:"enableOutpost,omitempty"`
	// ID is the identifier of a cluster on an outpost.
	ID string `json:"id,omitempty"`
}

// Kubelet configures the kubelet.
type Kubelet struct {
	// Config is a KubeletConfiguration, whole or in part. It may hold credentials.
	Config map[string]any `json:"config,omitempty"`
	// Flags are added to the kubelet's command line.
	Flags []string `json:"flags,omitempty"`
	// MaxPodsExpression computes the number of pods (CEL).
	MaxPodsExpression string `json:"maxPodsExpression,omitempty"`
}

// Containerd configures containerd.
type Containerd struct {
	// Config is TOML that is merged over containerd's configuration. It may hold credentials.
	Config string `json:"config,omitempty"`
	// BaseRuntimeSpec is merged over the OCI specification that containers start with.
	BaseRuntimeSpec map[string]any `json:"baseRuntimeSpec,omitempty"`
}

// Instance configures the machine.
type Instance struct {
	// LocalStorage configures the instance's own disks.
	LocalStorage *LocalStorage `json:"localStorage,omitempty"`
	// Environment are variables of services, by service; "default" is for all of them. A value may be a credential.
	Environment map[string]map[string]string `json:"environment,omitempty"`
	// Network configures how the machine resolves names.
	Network Network `json:"network,omitzero"`
}

// LocalStorage configures the instance's own disks.
type LocalStorage struct {
	// Strategy is "RAID0", "RAID10" or "Mount".
	Strategy string `json:"strategy,omitempty"`
	// MountPath is the directory where the disks are mounted.
	MountPath string `json:"mountPath,omitempty"`
	// DisabledMounts are not moved to the disks: "Containerd", "PodLogs", "SOCI".
	DisabledMounts []string `json:"disabledMounts,omitempty"`
}

// Network configures how the machine resolves names.
type Network struct {
	// Nameservers are the addresses of the machine's DNS servers.
	Nameservers []string `json:"nameservers,omitempty"`
	// Domains are the machine's search domains.
	Domains []string `json:"domains,omitempty"`
}

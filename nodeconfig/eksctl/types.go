package eksctl

// ClusterConfig is what a node needs of eksctl's ClusterConfig. What it has beside this is in the table of fields.go.
type ClusterConfig struct {
	// APIVersion is "eksctl.io/v1alpha5".
	APIVersion string `json:"apiVersion"`
	// Kind is "ClusterConfig".
	Kind string `json:"kind"`
	// Metadata names the cluster.
	Metadata Metadata `json:"metadata,omitzero"`
	// KubernetesNetworkConfig has the cluster's service range.
	KubernetesNetworkConfig NetworkConfig `json:"kubernetesNetworkConfig,omitzero"`
	// Status describes the cluster once it exists.
	Status Status `json:"status,omitzero"`
	// NodeGroups are the groups of machines that eksctl manages itself. The node is of one of all groups.
	NodeGroups []NodeGroup `json:"nodeGroups,omitempty"`
	// ManagedNodeGroups are the groups of machines that EKS manages; what both kinds of group have is read.
	ManagedNodeGroups []NodeGroup `json:"managedNodeGroups,omitempty"`
}

// Metadata names a cluster.
type Metadata struct {
	// Name is the cluster's name in EKS.
	Name string `json:"name"`
	// Region is the cluster's, such as "eu-west-1".
	Region string `json:"region"`
	// Version is the cluster's minor version of Kubernetes, such as "1.34". The node is planned for the kubelet that is installed;
	// one of another minor version is warned of.
	Version string `json:"version,omitempty"`
}

// NetworkConfig is how the cluster's services are addressed.
type NetworkConfig struct {
	// IPFamily is "IPv4" (default) or "IPv6".
	IPFamily string `json:"ipFamily,omitempty"`
	// ServiceIPv4CIDR is the range of the services' addresses; the tenth of it is the cluster's DNS service.
	ServiceIPv4CIDR string `json:"serviceIPv4CIDR,omitempty"`
	// ServiceIPv6CIDR is the range of a cluster of IPv6, which counts before the other.
	ServiceIPv6CIDR string `json:"serviceIPv6CIDR,omitempty"`
}

// Status describes an existing cluster.
type Status struct {
	// Endpoint is the API server's URL.
	Endpoint string `json:"endpoint,omitempty"`
	// CertificateAuthorityData is the cluster's CA certificate, the base64 of PEM.
	CertificateAuthorityData string `json:"certificateAuthorityData,omitempty"`
	// ARN is the cluster's name in AWS. It names the cluster's region, too.
	ARN string `json:"arn,omitempty"`
	// KubernetesNetworkConfig is EKS's answer for the service range. It counts if the document does not set the same field.
	KubernetesNetworkConfig NetworkConfig `json:"kubernetesNetworkConfig,omitzero"`
}

// NodeGroup is a group of equal machines.
type NodeGroup struct {
	// Name is the group's, and is a label of its nodes.
	Name string `json:"name"`
	// AMIFamily is the operating system: AmazonLinux2023 (default), AmazonLinux2, or Ubuntu and UbuntuPro of 2004 to 2604.
	AMIFamily string `json:"amiFamily,omitempty"`
	// InstanceType is that of the machines; default "m5.large". How many pods a node can have depends on it.
	InstanceType string `json:"instanceType,omitempty"`
	// InstanceTypes are those that the machines of a managed group can be of.
	InstanceTypes []string `json:"instanceTypes,omitempty"`
	// InstancesDistribution has the types that the machines of other groups can be of.
	InstancesDistribution *InstancesDistribution `json:"instancesDistribution,omitempty"`
	// Labels are set when the node registers.
	Labels map[string]string `json:"labels,omitempty"`
	// Taints are set when the node registers: a list, or, as eksctl had it before, a map of keys to "VALUE:EFFECT".
	Taints []Taint `json:"taints,omitempty"`
	// MaxPodsPerNode is the node's maximum number of pods, instead of its instance type's.
	MaxPodsPerNode int32 `json:"maxPodsPerNode,omitempty"`
	// KubeletExtraConfig is laid over the kubelet's configuration. It may hold credentials.
	KubeletExtraConfig map[string]any `json:"kubeletExtraConfig,omitempty"`
	// ClusterDNS is the address of the DNS service that pods use instead of the cluster's.
	ClusterDNS string `json:"clusterDNS,omitempty"`
	// ContainerRuntime is "containerd".
	ContainerRuntime string `json:"containerRuntime,omitempty"`
	// PreBootstrapCommands are shell texts that are run once, in their order, before the container runtime and the kubelet start.
	PreBootstrapCommands []string `json:"preBootstrapCommands,omitempty"`
	// OverrideBootstrapCommand is a shell text that runs once, and starts the kubelet instead of Slipway. For AmazonLinux2023 it is
	// a nodeadm NodeConfig (node.eks.aws/v1alpha1), which is merged over the group's settings. It may hold credentials.
	OverrideBootstrapCommand string `json:"overrideBootstrapCommand,omitempty"`
	// EFAEnabled attaches Elastic Fabric Adapters to the machine, whose driver the image has.
	EFAEnabled *bool `json:"efaEnabled,omitempty"`
	// Spot has the machines be spot instances.
	Spot *bool `json:"spot,omitempty"`
	// SSH configures logins.
	SSH *SSH `json:"ssh,omitempty"`
}

// InstancesDistribution mixes instance types.
type InstancesDistribution struct {
	// InstanceTypes are those that the machines can be of.
	InstanceTypes []string `json:"instanceTypes,omitempty"`
}

// Taint is a node's taint, as in core/v1.
type Taint struct {
	// Key is the taint's key.
	Key string `json:"key"`
	// Value is the taint's value; it may be empty.
	Value string `json:"value,omitempty"`
	// Effect is "NoSchedule", "PreferNoSchedule" or "NoExecute".
	Effect string `json:"effect"`
}

// SSH configures logins.
type SSH struct {
	// EnableSSM starts the agent of AWS Systems Manager.
	EnableSSM *bool `json:"enableSsm,omitempty"`
}

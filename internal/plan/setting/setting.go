// Package setting names the settings of a contract that more than one part of the planner reads or reports. internal/plan and its
// packages, internal/compile and internal/agent call it.
package setting

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The settings, by their paths.
const (
	// KubernetesVersion names the kubelet's version, KubernetesMinor the minor version that an installed kubelet should be of.
	KubernetesVersion = "$.cluster.kubernetesVersion"
	KubernetesMinor   = "$.cluster.kubernetesMinor"
	// Kubeadm means that kubeadm made the cluster.
	Kubeadm = "$.cluster.kubeadm"
	// AuthorityHashes pin the cluster's CA, SkipVerification accepts any.
	AuthorityHashes  = "$.cluster.certificateAuthorityHashes"
	SkipVerification = "$.cluster.unsafeSkipCAVerification"
	// ImageCredentialProvider is the program that gets credentials for images.
	ImageCredentialProvider = "$.kubelet.imageCredentialProvider"
	// KubeletCapacity is the rule for computing what the machine can hold.
	KubeletCapacity = "$.kubelet.capacity"

	// ComponentsRegistry is the registry of a cluster without a way out.
	ComponentsRegistry = "$.components.registry"
	// AzureCNIURL selects, by its last path element, one of the image's packages of Azure's plug-ins, as in AKS's scripts. A
	// package that the image does not have is downloaded from there.
	AzureCNIURL = `$.components.artifacts["azure-cni"].url`
	// ContainerdVersion and ContainerdURL name the version of containerd's package: the contract's word, or the last name of the URL.
	ContainerdVersion = "$.components.artifacts.containerd.version"
	ContainerdURL     = "$.components.artifacts.containerd.url"
	// LazyPull names a snapshotter that starts containers before their image has arrived.
	LazyPull = "$.runtime.lazyPull"
	// Sandboxes are the runtimes for isolated pods.
	Sandboxes = "$.runtime.sandboxes"

	// NetworkPlugin is the node's network plug-in.
	NetworkPlugin = "$.network.plugin"
	// MetadataRestriction keeps pods from the metadata service.
	MetadataRestriction = "$.network.metadataRestriction"
	// LocalDNS is the node's DNS cache, Nameservers the DNS servers in place of those that DHCP names.
	LocalDNS    = "$.network.localDNS"
	Nameservers = "$.network.nameservers"

	// InstanceType is the machine's size, AWSRegion its region.
	InstanceType = "$.cloud.instanceType"
	AWSRegion    = "$.cloud.aws.region"
	AWSFIPS      = "$.cloud.aws.fipsEndpoints"

	// GPU has the settings of graphics processors.
	GPU                       = "$.system.gpu"
	GPUVendor                 = GPU + ".vendor"
	GPUInstallDriver          = GPU + ".installDriver"
	GPUManaged                = GPU + ".managed"
	DynamicResourceAllocation = GPU + ".dynamicResourceAllocation"
)

// Artifact is the section of an artifact.
func Artifact(name string) string { return document.FieldPath("$.components.artifacts", name) }

// DNSServers is the field that the addresses of the cluster's DNS service come from.
func DNSServers(c *nodeconfig.NodeConfig) string {
	if len(c.Cluster.ServiceCIDRs) > 0 && slices.Equal(c.Cluster.DNSServiceIPs, nodeconfig.DefaultDNSServiceIPs(c.Cluster.ServiceCIDRs)) {
		return "$.cluster.serviceCIDRs"
	}
	return "$.cluster.dnsServiceIPs"
}

package plan

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// VersionPath is the setting that names the kubelet's version.
const VersionPath = "$.cluster.kubernetesVersion"

// MinorPath is the setting that names the minor version that an installed kubelet should be of.
const MinorPath = "$.cluster.kubernetesMinor"

// RegistryPath is the setting that names the registry of a cluster without a way out.
const RegistryPath = "$.components.registry"

// CNIPluginPath is the setting that says which network plug-in there is.
const CNIPluginPath = "$.network.plugin"

// AzureCNIURL is the setting whose last name says which of the image's packages of Azure's plug-ins is meant, as in
// AKS's scripts. A package that the image does not have is downloaded from there.
const AzureCNIURL = `$.components.artifacts["azure-cni"].url`

// LazyPullPath is the setting that names a snapshotter that starts containers before their image has arrived.
const LazyPullPath = "$.runtime.lazyPull"

// SandboxesPath is the setting that names the runtimes for isolated pods.
const SandboxesPath = "$.runtime.sandboxes"

// RestrictionPath is the setting that keeps pods from the metadata service.
const RestrictionPath = "$.network.metadataRestriction"

// The settings.
const (
	gpuPath          = "$.system.gpu"
	instanceTypePath = "$.cloud.instanceType"

	GPUVendorPath  = gpuPath + ".vendor"
	GPUDriverPath  = gpuPath + ".installDriver"
	GPUManagedPath = gpuPath + ".managed"
	DRAPath        = gpuPath + ".dynamicResourceAllocation"
)

const localDNSPath = "$.network.localDNS"

const nameserversPath = "$.network.nameservers"

const providerPath = "$.kubelet.imageCredentialProvider"

const kubeadmPath = "$.cluster.kubeadm"

// pinsPath is the setting that pins the cluster's CA.
const pinsPath = "$.cluster.certificateAuthorityHashes"

// skipPath is the setting that accepts any CA.
const skipPath = "$.cluster.unsafeSkipCAVerification"

// regionPath is the setting that names the region.
const regionPath = "$.cloud.aws.region"

const capacityPath = "$.kubelet.capacity"

// Where the version of containerd's package is said: by the contract, or by the last name of its URL.
const (
	ContainerdVersionPath = "$.components.artifacts.containerd.version"
	ContainerdURLPath     = "$.components.artifacts.containerd.url"
)

// artifactOf is the section of an artifact.
func artifactOf(name string) string { return document.FieldPath("$.components.artifacts", name) }

// dnsPath is the field that the addresses of the cluster's DNS service come from.
func dnsPath(c *nodeconfig.NodeConfig) string {
	if len(c.Cluster.ServiceCIDRs) > 0 && slices.Equal(c.Cluster.DNSServiceIPs, nodeconfig.DefaultDNSServiceIPs(c.Cluster.ServiceCIDRs)) {
		return "$.cluster.serviceCIDRs"
	}
	return "$.cluster.dnsServiceIPs"
}

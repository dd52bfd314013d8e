// Code generated from aksnodeconfig/v1/config.proto. DO NOT EDIT.

package aksnodeconfig

// WorkloadRuntime is the runtime of the node's workloads.
type WorkloadRuntime int32

const (
	// Unspecified.
	WorkloadRuntime_WORKLOAD_RUNTIME_UNSPECIFIED WorkloadRuntime = 0
	// OCI containers.
	WorkloadRuntime_WORKLOAD_RUNTIME_OCI_CONTAINER WorkloadRuntime = 1
)

var namesOfWorkloadRuntime = [...]string{
	"WORKLOAD_RUNTIME_UNSPECIFIED",
	"WORKLOAD_RUNTIME_OCI_CONTAINER",
}

// Names are the names of the values, by their numbers.
func (WorkloadRuntime) Names() []string { return namesOfWorkloadRuntime[:] }

// Configuration is the whole document: everything AKS tells a Linux node about itself and its
// cluster. Only version is needed to parse it; what is needed to join a cluster is checked later.
type Configuration struct {
	// Contract version: "v1", or the older "v0", which means the same. Anything else is refused.
	Version string `aks:"1,version"`
	// Where kubelet, kubectl and their companions are downloaded from.
	KubeBinaryConfig *KubeBinaryConfig `aks:"2,kube_binary_config,kubeBinaryConfig"`
	// Endpoints of a cloud that is not one of the public Azure clouds.
	CustomCloudConfig *CustomCloudConfig `aks:"3,custom_cloud_config,customCloudConfig"`
	// The API server this node joins.
	ApiServerConfig *ApiServerConfig `aks:"4,api_server_config,apiServerConfig"`
	// The Azure resources around the cluster, as the cloud provider needs them.
	ClusterConfig *ClusterConfig `aks:"5,cluster_config,clusterConfig"`
	// How kubelet gets its first credential.
	BootstrappingConfig *BootstrappingConfig `aks:"6,bootstrapping_config,bootstrappingConfig"`
	// The Azure identity the node acts with.
	AuthConfig *AuthConfig `aks:"7,auth_config,authConfig"`
	// The runc package.
	RuncConfig *RuncConfig `aks:"8,runc_config,runcConfig"`
	// The containerd package.
	ContainerdConfig *ContainerdConfig `aks:"9,containerd_config,containerdConfig"`
	// Flags, labels, config file and certificates of kubelet.
	KubeletConfig *KubeletConfig `aks:"11,kubelet_config,kubeletConfig"`
	// The realm the node joins for its DNS search domain.
	CustomSearchDomainConfig *CustomSearchDomainConfig `aks:"12,custom_search_domain_config,customSearchDomainConfig"`
	// Sysctls, limits, swap and huge pages.
	CustomLinuxOsConfig *CustomLinuxOsConfig `aks:"13,custom_linux_os_config,customLinuxOsConfig"`
	// Proxy for everything on the node that speaks HTTP.
	HttpProxyConfig *HttpProxyConfig `aks:"14,http_proxy_config,httpProxyConfig"`
	// GPU driver, device plugin and partitioning.
	GpuConfig *GpuConfig `aks:"15,gpu_config,gpuConfig"`
	// Pod network plugin and secondary network cards.
	NetworkConfig *NetworkConfig `aks:"16,network_config,networkConfig"`
	// CA of the cluster as base64 of PEM; becomes /etc/kubernetes/certs/ca.crt.
	KubernetesCaCert string `aks:"17,kubernetes_ca_cert,kubernetesCaCert"`
	// Kubernetes version of the node, such as "1.34.2". Picks binaries and version-dependent defaults.
	KubernetesVersion string `aks:"18,kubernetes_version,kubernetesVersion"`
	// Image reference of kube-proxy. Only used to decide which cached images to keep.
	KubeProxyUrl string `aks:"19,kube_proxy_url,kubeProxyUrl"`
	// Azure VM size, such as "Standard_D4s_v5". GPU and SGX decisions are looked up by it.
	VmSize string `aks:"20,vm_size,vmSize"`
	// Name of the VM's administrator account. Empty means "azureuser".
	LinuxAdminUsername string `aks:"21,linux_admin_username,linuxAdminUsername"`
	// Whether the machine was started from a golden image. Unset means true; if true, the image's
	// completion marker must be present.
	IsVhd *bool `aks:"22,is_vhd,isVhd"`
	// Whether the SSH server keeps running. Unset leaves it on.
	EnableSsh *bool `aks:"23,enable_ssh,enableSsh"`
	// Turns the distribution's automatic package updates on.
	EnableUnattendedUpgrade bool `aks:"24,enable_unattended_upgrade,enableUnattendedUpgrade"`
	// Text shown at login, as base64.
	MessageOfTheDay string `aks:"25,message_of_the_day,messageOfTheDay"`
	// Runs the agent that keeps the API server's private address in /etc/hosts. The name lookup of
	// the API server is skipped then.
	EnableHostsConfigAgent bool `aks:"26,enable_hosts_config_agent,enableHostsConfigAgent"`
	// Extra CA certificates for the system trust store, each one base64 of PEM.
	CustomCaCerts []string `aks:"27,custom_ca_certs,customCaCerts"`
	// Where provisioning output goes. Part of the contract, but the path is fixed: no effect.
	ProvisionOutput string `aks:"28,provision_output,provisionOutput"`
	// What runs containers. Part of the contract, without effect on the node.
	WorkloadRuntime WorkloadRuntime `aks:"29,workload_runtime,workloadRuntime"`
	// Prepares the node for IPv6 next to IPv4.
	Ipv6DualStackEnabled bool `aks:"30,ipv6_dual_stack_enabled,ipv6DualStackEnabled"`
	// Shell text that proves outbound connectivity; retried, and fatal if it never succeeds. Empty
	// means no such check.
	OutboundCommand string `aks:"31,outbound_command,outboundCommand"`
	// Private registry that stands in for the public one.
	AzurePrivateRegistryServer string `aks:"32,azure_private_registry_server,azurePrivateRegistryServer"`
	// Address of a private egress proxy. Recorded in the log, nothing more.
	PrivateEgressProxyAddress string `aks:"33,private_egress_proxy_address,privateEgressProxyAddress"`
	// Pulls image layers on demand (artifact streaming).
	EnableArtifactStreaming bool `aks:"34,enable_artifact_streaming,enableArtifactStreaming"`
	// The node runs Kata sandboxes: adds their runtime classes, keeps unattended upgrades off.
	IsKata bool `aks:"35,is_kata,isKata"`
	// The node uses cgroup v2, so kubelet and containerd must use the systemd cgroup driver. Unset
	// means false.
	NeedsCgroupv2 *bool `aks:"36,needs_cgroupv2,needsCgroupv2"`
	// Asks the producer to leave custom data out. Without effect on the node.
	DisableCustomData bool `aks:"37,disable_custom_data,disableCustomData"`
	// Registry of a network-isolated cluster; everything that would come from the public registry is
	// pulled from here. Empty means the cluster is not isolated.
	BootstrapProfileContainerRegistryServer string `aks:"38,bootstrap_profile_container_registry_server,bootstrapProfileContainerRegistryServer"`
	// Keeps pods away from the instance metadata service.
	ImdsRestrictionConfig *ImdsRestrictionConfig `aks:"39,imds_restriction_config,imdsRestrictionConfig"`
	// Do only the part that needs no cluster, so the machine can be captured as an image.
	PreProvisionOnly bool `aks:"40,pre_provision_only,preProvisionOnly"`
	// Node-local DNS cache.
	LocalDnsProfile *LocalDnsProfile `aks:"41,local_dns_profile,localDnsProfile"`
	// Refuses public keys at SSH login. Unset means false.
	DisablePubkeyAuth *bool `aks:"42,disable_pubkey_auth,disablePubkeyAuth"`
	// Image pulls with a pod's service account instead of the node's identity.
	ServiceAccountImagePullProfile *ServiceAccountImagePullProfile `aks:"43,service_account_image_pull_profile,serviceAccountImagePullProfile"`
	// Seconds provisioning may take. Unset, not positive, or over 21600 means 900.
	CseTimeout *int32 `aks:"44,cse_timeout,cseTimeout"`
	// Feature switches for the launcher, as environment variables. Invalid names and values of more
	// than one line are dropped.
	EnabledFeatures map[string]string `aks:"45,enabled_features,enabledFeatures"`
}

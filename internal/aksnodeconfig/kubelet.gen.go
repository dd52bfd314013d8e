// Code generated from aksnodeconfig/v1/kubelet.proto. DO NOT EDIT.

package aksnodeconfig

// KubeletDisk is the disk kubelet's data is kept on.
type KubeletDisk int32

const (
	// Unspecified; the OS disk.
	KubeletDisk_KUBELET_DISK_UNSPECIFIED KubeletDisk = 0
	// The OS disk.
	KubeletDisk_KUBELET_DISK_OS_DISK KubeletDisk = 1
	// The VM's temporary disk, bind-mounted.
	KubeletDisk_KUBELET_DISK_TEMP_DISK KubeletDisk = 2
)

var namesOfKubeletDisk = [...]string{
	"KUBELET_DISK_UNSPECIFIED",
	"KUBELET_DISK_OS_DISK",
	"KUBELET_DISK_TEMP_DISK",
}

// Names are the names of the values, by their numbers.
func (KubeletDisk) Names() []string { return namesOfKubeletDisk[:] }

// KubeletConfig is how kubelet is run.
type KubeletConfig struct {
	// Command line flags with their leading dashes, such as "--max-pods": "30".
	KubeletFlags map[string]string `aks:"1,kubelet_flags,kubeletFlags"`
	// Labels the node registers with.
	KubeletNodeLabels map[string]string `aks:"2,kubelet_node_labels,kubeletNodeLabels"`
	// Disk that kubelet's data is kept on.
	KubeletDiskType KubeletDisk `aks:"3,kubelet_disk_type,kubeletDiskType"`
	// Gives kubelet a config file next to its flags.
	EnableKubeletConfigFile bool `aks:"4,enable_kubelet_config_file,enableKubeletConfigFile"`
	// Content of that file.
	KubeletConfigFileConfig *KubeletConfigFileConfig `aks:"5,kubelet_config_file_config,kubeletConfigFileConfig"`
	// Private key of kubelet_client_cert_content, as base64 of PEM. Secret.
	KubeletClientKey string `aks:"6,kubelet_client_key,kubeletClientKey"`
	// Client certificate as base64 of PEM. Used only if the node does not bootstrap one.
	KubeletClientCertContent string `aks:"7,kubelet_client_cert_content,kubeletClientCertContent"`
	// Directory containerd keeps images and containers in. Empty means its own default.
	ContainerDataDir string `aks:"8,container_data_dir,containerDataDir"`
}

// KubeletConfigFileConfig is the part of kubelet's own config file that the contract knows. JSON
// names are kubelet's. What is unset is not written, so kubelet's default holds.
type KubeletConfigFileConfig struct {
	// Object kind: "KubeletConfiguration".
	Kind *string `aks:"1,kind"`
	// Object version: "kubelet.config.k8s.io/v1beta1".
	ApiVersion *string `aks:"2,api_version,apiVersion"`
	// Directory or file with static pods.
	StaticPodPath *string `aks:"3,static_pod_path,staticPodPath"`
	// Address kubelet listens on.
	Address *string `aks:"4,address"`
	// Port of the unauthenticated, read-only endpoint. Zero is the same as unset.
	ReadOnlyPort *int32 `aks:"5,read_only_port,readOnlyPort"`
	// Serving certificate.
	TlsCertFile *string `aks:"6,tls_cert_file,tlsCertFile"`
	// Private key of the serving certificate.
	TlsPrivateKeyFile *string `aks:"7,tls_private_key_file,tlsPrivateKeyFile"`
	// Cipher suites kubelet offers, by their Go names.
	TlsCipherSuites []string `aks:"8,tls_cipher_suites,tlsCipherSuites"`
	// Renews the client certificate before it expires.
	RotateCertificates *bool `aks:"9,rotate_certificates,rotateCertificates"`
	// Has the cluster sign the serving certificate.
	ServerTlsBootstrap *bool `aks:"10,server_tls_bootstrap,serverTLSBootstrap"`
	// Who may talk to kubelet.
	Authentication *KubeletAuthentication `aks:"11,authentication"`
	// What they may do.
	Authorization *KubeletAuthorization `aks:"12,authorization"`
	// Events sent per second; zero is no limit.
	EventRecordQps *int32 `aks:"13,event_record_qps,eventRecordQPS"`
	// DNS domain of the cluster.
	ClusterDomain *string `aks:"14,cluster_domain,clusterDomain"`
	// DNS servers of pods.
	ClusterDns []string `aks:"15,cluster_dns,clusterDNS"`
	// How long exec, attach and port-forward may idle. Not written for Kubernetes 1.34 and later.
	StreamingConnectionIdleTimeout *string `aks:"16,streaming_connection_idle_timeout,streamingConnectionIdleTimeout"`
	// Time between two computations of the node's status.
	NodeStatusUpdateFrequency *string `aks:"17,node_status_update_frequency,nodeStatusUpdateFrequency"`
	// Time between two reports of an unchanged status.
	NodeStatusReportFrequency *string `aks:"18,node_status_report_frequency,nodeStatusReportFrequency"`
	// Disk use, in percent, above which unused images are removed.
	ImageGcHighThresholdPercent *int32 `aks:"19,image_gc_high_threshold_percent,imageGCHighThresholdPercent"`
	// Disk use, in percent, that removal of images aims at.
	ImageGcLowThresholdPercent *int32 `aks:"20,image_gc_low_threshold_percent,imageGCLowThresholdPercent"`
	// Gives each quality of service class a separate cgroup.
	CgroupsPerQos *bool `aks:"21,cgroups_per_qos,cgroupsPerQOS"`
	// How CPUs are assigned: "none" or "static".
	CpuManagerPolicy *string `aks:"22,cpu_manager_policy,cpuManagerPolicy"`
	// How strictly resources are aligned to NUMA nodes.
	TopologyManagerPolicy *string `aks:"23,topology_manager_policy,topologyManagerPolicy"`
	// Pods the node accepts.
	MaxPods *int32 `aks:"24,max_pods,maxPods"`
	// Processes one pod may have.
	PodPidsLimit *int32 `aks:"25,pod_pids_limit,podPidsLimit"`
	// Resolver config that pods inherit from.
	ResolvConf *string `aks:"26,resolv_conf,resolvConf"`
	// Enforces CPU limits through CFS quota.
	CpuCfsQuota *bool `aks:"27,cpu_cfs_quota,cpuCFSQuota"`
	// Accounting period of that quota.
	CpuCfsQuotaPeriod *string `aks:"28,cpu_cfs_quota_period,cpuCFSQuotaPeriod"`
	// Signals and thresholds that evict pods at once.
	EvictionHard map[string]string `aks:"29,eviction_hard,evictionHard"`
	// Refuses to start if kernel parameters are not what kubelet wants, instead of setting them.
	ProtectKernelDefaults *bool `aks:"30,protect_kernel_defaults,protectKernelDefaults"`
	// Kubernetes features switched on or off.
	FeatureGates map[string]bool `aks:"31,feature_gates,featureGates"`
	// Refuses to start on a node with swap.
	FailSwapOn *bool `aks:"32,fail_swap_on,failSwapOn"`
	// Size at which a container's log is rotated.
	ContainerLogMaxSize *string `aks:"33,container_log_max_size,containerLogMaxSize"`
	// Log files kept per container.
	ContainerLogMaxFiles *int32 `aks:"34,container_log_max_files,containerLogMaxFiles"`
	// Resources set aside for the operating system.
	SystemReserved map[string]string `aks:"35,system_reserved,systemReserved"`
	// Resources set aside for kubelet and the container runtime.
	KubeReserved map[string]string `aks:"36,kube_reserved,kubeReserved"`
	// Which of these reservations are enforced by cgroups.
	EnforceNodeAllocatable []string `aks:"37,enforce_node_allocatable,enforceNodeAllocatable"`
	// Unsafe sysctls pods may set.
	AllowedUnsafeSysctls []string `aks:"38,allowed_unsafe_sysctls,allowedUnsafeSysctls"`
	// Pulls one image at a time.
	SerializeImagePulls *bool `aks:"39,serialize_image_pulls,serializeImagePulls"`
	// Makes the runtime's seccomp profile the default of all pods.
	SeccompDefault *bool `aks:"40,seccomp_default,seccompDefault"`
	// Signals and thresholds that evict pods after a grace period.
	EvictionSoft map[string]string `aks:"41,eviction_soft,evictionSoft"`
	// Grace period of each soft eviction signal.
	EvictionSoftGracePeriod map[string]string `aks:"42,eviction_soft_grace_period,evictionSoftGracePeriod"`
	// Longest grace, in seconds, a pod gets when it is softly evicted.
	EvictionMaxPodGracePeriod *int32 `aks:"43,eviction_max_pod_grace_period,evictionMaxPodGracePeriod"`
	// Cgroup that kube_reserved is enforced on.
	KubeReservedCgroup *string `aks:"44,kube_reserved_cgroup,kubeReservedCgroup"`
	// Cgroup that system_reserved is enforced on.
	SystemReservedCgroup *string `aks:"45,system_reserved_cgroup,systemReservedCgroup"`
}

// KubeletAuthentication is who may talk to kubelet.
type KubeletAuthentication struct {
	// Clients with a certificate.
	X509 *KubeletX509Authentication `aks:"1,x509"`
	// Clients with a token.
	Webhook *KubeletWebhookAuthentication `aks:"2,webhook"`
	// Clients with nothing.
	Anonymous *KubeletAnonymousAuthentication `aks:"3,anonymous"`
}

// KubeletX509Authentication accepts client certificates.
type KubeletX509Authentication struct {
	// CA file that client certificates must be signed by.
	ClientCaFile *string `aks:"1,client_ca_file,clientCAFile"`
}

// KubeletWebhookAuthentication asks the API server about tokens.
type KubeletWebhookAuthentication struct {
	// Turns it on. False is the same as unset.
	Enabled *bool `aks:"1,enabled"`
	// How long an answer is remembered. The JSON name is the contract's; kubelet spells it cacheTTL.
	CacheTtl *string `aks:"2,cache_ttl,cacheTtl"`
}

// KubeletAnonymousAuthentication accepts requests without a credential.
type KubeletAnonymousAuthentication struct {
	// Turns it on. False is the same as unset.
	Enabled *bool `aks:"1,enabled"`
}

// KubeletAuthorization is what authenticated clients may do.
type KubeletAuthorization struct {
	// "Webhook" asks the API server, "AlwaysAllow" allows everything.
	Mode *string `aks:"1,mode"`
	// How long the API server's answers are remembered.
	Webhook *KubeletWebhookAuthorization `aks:"2,webhook"`
}

// KubeletWebhookAuthorization is how long authorization answers are remembered. The JSON names are
// the contract's; kubelet spells them with TTL.
type KubeletWebhookAuthorization struct {
	// For requests that were allowed.
	CacheAuthorizedTtl *string `aks:"1,cache_authorized_ttl,cacheAuthorizedTtl"`
	// For requests that were refused.
	CacheUnauthorizedTtl *string `aks:"2,cache_unauthorized_ttl,cacheUnauthorizedTtl"`
}

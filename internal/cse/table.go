package cse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/akstext"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/dnscache"
	"github.com/slipway-dev/slipway/internal/plan/gpusize"
	"github.com/slipway-dev/slipway/internal/plan/runtime"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// row is a variable and the function that makes its value.
type row struct {
	name  string
	value func(*view) string
}

// scripts is the directory of the image's scripts.
const scripts = "/opt/azure/containers/"

// table has the variables of AKS's program in its order (AKS node contract, section 4.1). A comment names the part of the contract,
// and the rule, for the rows below it. A value in the config that is only for the scripts wins over each row.
var table = []row{
	// the run itself.
	{"PROVISION_OUTPUT", constant("/var/log/azure/cluster-provision-cse-output.log")},
	{"MOBY_VERSION", constant("")},

	// cluster_config.cloud_provider_config: the value, or the default of the contract's field.
	{"CLOUDPROVIDER_BACKOFF", text(func(v *view) any { return *v.azure.Backoff.Enabled })},
	{"CLOUDPROVIDER_BACKOFF_MODE", func(v *view) string { return v.azure.Backoff.Mode }},
	{"CLOUDPROVIDER_BACKOFF_RETRIES", text(func(v *view) any { return *v.azure.Backoff.Retries })},
	{"CLOUDPROVIDER_BACKOFF_EXPONENT", text(func(v *view) any { return *v.azure.Backoff.Exponent })},
	{"CLOUDPROVIDER_BACKOFF_DURATION", text(func(v *view) any { return *v.azure.Backoff.Duration })},
	{"CLOUDPROVIDER_BACKOFF_JITTER", text(func(v *view) any { return *v.azure.Backoff.Jitter })},
	{"CLOUDPROVIDER_RATELIMIT", text(func(v *view) any { return *v.azure.RateLimit.Enabled })},
	{"CLOUDPROVIDER_RATELIMIT_QPS", text(func(v *view) any { return *v.azure.RateLimit.QPS })},
	{"CLOUDPROVIDER_RATELIMIT_QPS_WRITE", text(func(v *view) any { return *v.azure.RateLimit.QPSWrite })},
	{"CLOUDPROVIDER_RATELIMIT_BUCKET", text(func(v *view) any { return *v.azure.RateLimit.Bucket })},
	{"CLOUDPROVIDER_RATELIMIT_BUCKET_WRITE", text(func(v *view) any { return *v.azure.RateLimit.BucketWrite })},
	{"CLI_TOOL", constant("ctr")},
	{"NETWORK_MODE", constant("")},
	{"ADMINUSER", func(v *view) string { return cmp.Or(v.written.Access.AdminUser, "azureuser") }},

	// auth_config, kube_binary_config, cluster_config: unchanged values.
	{"TENANT_ID", func(v *view) string { return v.azure.TenantID }},
	{"KUBERNETES_VERSION", func(v *view) string { return v.written.Cluster.KubernetesVersion }},
	{"KUBE_BINARY_URL", (*view).kubernetes},
	{"CUSTOM_KUBE_BINARY_URL", scriptsOwn},
	{"PRIVATE_KUBE_BINARY_URL", scriptsOwn},
	{"KUBEPROXY_URL", scriptsOwn},
	{"APISERVER_PUBLIC_KEY", func(v *view) string { return encodedPEM(v.written.Cluster.ServerCertificate) }},
	{"SUBSCRIPTION_ID", func(v *view) string { return v.azure.SubscriptionID }},
	{"RESOURCE_GROUP", func(v *view) string { return v.azure.ResourceGroup }},
	{"LOCATION", func(v *view) string { return v.azure.Location }},
	{"VM_TYPE", func(v *view) string { return v.azure.VMType }},
	{"SUBNET", func(v *view) string { return v.azure.Subnet }},
	{"NETWORK_SECURITY_GROUP", func(v *view) string { return v.azure.SecurityGroup }},
	{"VIRTUAL_NETWORK", func(v *view) string { return v.azure.VNet }},
	{"VIRTUAL_NETWORK_RESOURCE_GROUP", func(v *view) string { return v.azure.VNetResourceGroup }},
	{"ROUTE_TABLE", func(v *view) string { return v.azure.RouteTable }},
	{"PRIMARY_AVAILABILITY_SET", func(v *view) string { return v.azure.PrimaryAvailabilitySetName }},
	{"PRIMARY_SCALE_SET", func(v *view) string { return v.azure.PrimaryScaleSetName }},
	{"SERVICE_PRINCIPAL_CLIENT_ID", func(v *view) string { return v.azure.Identity.ClientID }},

	// network_config: enumerations are their last word in lower case.
	{"NETWORK_PLUGIN", func(v *view) string { return v.written.Network.Plugin }},
	{"VNET_CNI_PLUGINS_URL", func(v *view) string { return v.artifact("azure-cni") }},
	{"LOAD_BALANCER_DISABLE_OUTBOUND_SNAT", text(func(v *view) any { return v.azure.LoadBalancer.DisableOutboundSNAT })},
	{"USE_MANAGED_IDENTITY_EXTENSION", text(func(v *view) any { return v.azure.Identity.Managed })},
	{"USE_INSTANCE_METADATA", text(func(v *view) any { return v.azure.UseInstanceMetadata })},
	{"LOAD_BALANCER_SKU", func(v *view) string { return v.azure.LoadBalancer.SKU }},
	{"EXCLUDE_MASTER_FROM_STANDARD_LB", text(func(v *view) any { return *v.azure.LoadBalancer.ExcludeMaster })},
	{"MAXIMUM_LOADBALANCER_RULE_COUNT", text(func(v *view) any { return *v.azure.LoadBalancer.MaxRules })},
	{"CONTAINERD_DOWNLOAD_URL_BASE", scriptsOwn},
	{"USER_ASSIGNED_IDENTITY_ID", func(v *view) string { return v.azure.Identity.UserAssignedID }},
	{"API_SERVER_NAME", (*view).apiServer},
	{"IS_VHD", text(func(v *view) any { p := v.written.Components.Preinstalled; return p == nil || *p })},

	// gpu_config, and values that follow from vm_size.
	{"GPU_NODE", text(func(v *view) any { return v.gpu.Vendor == "nvidia" })},
	{"SGX_NODE", text(func(v *view) any { return slices.Contains(sgxSizes, v.written.Cloud.InstanceType) })},
	{"MIG_NODE", text(func(v *view) any { return v.gpu.InstanceProfile != "" })},
	{"CONFIG_GPU_DRIVER_IF_NEEDED", text(func(v *view) any { return v.gpu.InstallDriver })},
	{"ENABLE_GPU_DEVICE_PLUGIN_IF_NEEDED", text(func(v *view) any { return v.gpu.DevicePlugin })},
	{"MANAGED_GPU_EXPERIENCE_AFEC_ENABLED", scriptsSwitch},
	{"ENABLE_MANAGED_GPU", text(func(v *view) any { return v.gpu.Managed })},
	{"NVIDIA_MIG_STRATEGY", func(v *view) string { return v.gpu.Strategy }},
	{"NVIDIA_MIG_PROFILE_LAYOUT", func(v *view) string { return strings.Join(v.gpu.ProfileLayout, ",") }},
	{"CREDENTIAL_PROVIDER_DOWNLOAD_URL", func(v *view) string { return v.artifact("credential-provider") }},
	{"CONTAINERD_VERSION", func(v *view) string { return v.written.Components.Artifacts["containerd"].Version }},
	{"CONTAINERD_PACKAGE_URL", func(v *view) string { return v.artifact("containerd") }},
	{"RUNC_VERSION", func(v *view) string { return v.written.Components.Artifacts["runc"].Version }},
	{"RUNC_PACKAGE_URL", func(v *view) string { return v.artifact("runc") }},
	{"ENABLE_HOSTS_CONFIG_AGENT", text(func(v *view) any { return v.written.Network.HostsAgent })},
	{"DISABLE_SSH", text(func(v *view) any { on := v.written.Access.SSH.Enabled; return on != nil && !*on })},

	// http_proxy_config, custom_ca_certs: certificates on one line.
	{"SHOULD_CONFIGURE_HTTP_PROXY", text(func(v *view) any { return !v.written.Proxy.HTTP.IsZero() || !v.written.Proxy.HTTPS.IsZero() })},
	{"SHOULD_CONFIGURE_HTTP_PROXY_CA", text(func(v *view) any { return v.written.Proxy.CertificateAuthority != "" })},
	{"HTTP_PROXY_TRUSTED_CA", func(v *view) string { return oneLine(encodedPEM(v.written.Proxy.CertificateAuthority)) }},
	{"SHOULD_CONFIGURE_CUSTOM_CA_TRUST", text(func(v *view) any { return len(v.written.Trust.Certificates) > 0 })},
	{"CUSTOM_CA_TRUST_COUNT", text(func(v *view) any { return len(v.written.Trust.Certificates) })},
	{"GPU_NEEDS_FABRIC_MANAGER", text(func(v *view) any { return gpusize.HasFabric(v.size()) })},
	{"IPV6_DUAL_STACK_ENABLED", (*view).dualStack},
	{"OUTBOUND_COMMAND", func(v *view) string { return v.written.Checks.OutboundCommand }},
	{"ENABLE_UNATTENDED_UPGRADES", text(func(v *view) any { return deref(v.written.System.UnattendedUpgrades) })},
	{"ENSURE_NO_DUPE_PROMISCUOUS_BRIDGE", text(func(v *view) any { return runtime.Kubenet(v.written) })},

	// custom_linux_os_config.
	{"SHOULD_CONFIG_SWAP_FILE", text(func(v *view) any { return v.written.System.SwapMB > 0 })},
	{"SHOULD_CONFIG_TRANSPARENT_HUGE_PAGE", text(func(v *view) any { return v.hugePages("enabled") != "" || v.hugePages("defrag") != "" })},
	{"SHOULD_CONFIG_CONTAINERD_ULIMITS", text(func(v *view) any { return v.written.Runtime.Containerd.Limits != nil })},
	{"CONTAINERD_ULIMITS", (*view).limits},

	// custom_cloud_config and cluster_config.location: the cloud's names.
	{"TARGET_CLOUD", func(v *view) string { return v.azure.Environment }},
	{"TARGET_ENVIRONMENT", (*view).environment},
	{"ARM_RESOURCE_ENDPOINT", func(v *view) string { return concern.ResourceManager(&v.azure) }},
	{"CUSTOM_ENV_JSON", func(v *view) string { return encoded(v.custom().Endpoints) }},
	{"IS_CUSTOM_CLOUD", text(func(v *view) any { return v.isCustom() })},
	{"AKS_CUSTOM_CLOUD_CONTAINER_REGISTRY_DNS_SUFFIX", func(v *view) string { return v.custom().RegistryDNSSuffix }},

	// the scripts' own files.
	{"CSE_HELPERS_FILEPATH", constant(scripts + "provision_source.sh")},
	{"CSE_DISTRO_HELPERS_FILEPATH", constant(scripts + "provision_source_distro.sh")},
	{"CSE_INSTALL_FILEPATH", constant(scripts + "provision_installs.sh")},
	{"CSE_DISTRO_INSTALL_FILEPATH", constant(scripts + "provision_installs_distro.sh")},
	{"CSE_CONFIG_FILEPATH", constant(scripts + "provision_configs.sh")},
	{"AZURE_PRIVATE_REGISTRY_SERVER", func(v *view) string { return v.azure.PrivateRegistry }},
	{"HAS_CUSTOM_SEARCH_DOMAIN", text(func(v *view) any { return v.written.Access.Realm != nil })},
	{"CUSTOM_SEARCH_DOMAIN_FILEPATH", constant(scripts + "setup-custom-search-domains.sh")},
	{"HTTP_PROXY_URLS", func(v *view) string { return v.written.Proxy.HTTP.Reveal() }},
	{"HTTPS_PROXY_URLS", func(v *view) string { return v.written.Proxy.HTTPS.Reveal() }},
	{"NO_PROXY_URLS", func(v *view) string { return strings.Join(v.written.Proxy.NoProxy, ",") }},
	{"PROXY_VARS", (*view).proxyVariables},

	// bootstrapping_config.
	{"TLS_BOOTSTRAP_TOKEN", func(v *view) string { return v.written.Join.BootstrapToken.Reveal() }},
	{"ENABLE_SECURE_TLS_BOOTSTRAPPING", text(func(v *view) any { return v.written.Join.Attested != nil })},
	{"SECURE_TLS_BOOTSTRAPPING_AAD_RESOURCE", func(v *view) string { return deref(v.written.Join.Attested).Resource }},
	{"SECURE_TLS_BOOTSTRAPPING_USER_ASSIGNED_IDENTITY_ID", func(v *view) string { return deref(v.written.Join.Attested).IdentityID }},
	{"SECURE_TLS_BOOTSTRAPPING_VALIDATE_KUBECONFIG_TIMEOUT", timeout("validateKubeconfig")},
	{"SECURE_TLS_BOOTSTRAPPING_GET_ACCESS_TOKEN_TIMEOUT", timeout("accessToken")},
	{"SECURE_TLS_BOOTSTRAPPING_GET_INSTANCE_DATA_TIMEOUT", timeout("instanceData")},
	{"SECURE_TLS_BOOTSTRAPPING_GET_NONCE_TIMEOUT", timeout("nonce")},
	{"SECURE_TLS_BOOTSTRAPPING_GET_ATTESTED_DATA_TIMEOUT", timeout("attestedData")},
	{"SECURE_TLS_BOOTSTRAPPING_GET_CREDENTIAL_TIMEOUT", timeout("credential")},
	{"CUSTOM_SECURE_TLS_BOOTSTRAPPING_CLIENT_DOWNLOAD_URL", func(v *view) string { return v.artifact("bootstrap-client") }},

	// kubelet_config.kubelet_config_file_config.server_tls_bootstrap, whether or not the file is written.
	{"ENABLE_KUBELET_SERVING_CERTIFICATE_ROTATION", (*view).servingRotation},
	{"DHCPV6_SERVICE_FILEPATH", constant("/etc/systemd/system/dhcpv6.service")},
	{"DHCPV6_CONFIG_FILEPATH", constant(scripts + "enable-dhcpv6.sh")},
	{"THP_ENABLED", func(v *view) string { return v.hugePages("enabled") }},
	{"THP_DEFRAG", func(v *view) string { return v.hugePages("defrag") }},

	// credentials, in base64 as in the contract.
	{"SERVICE_PRINCIPAL_FILE_CONTENT", func(v *view) string { return encoded(v.azure.Identity.ClientSecret.Reveal()) }},
	{"KUBELET_CLIENT_CONTENT", func(v *view) string { return encodedPEM(deref(v.written.Join.ClientCertificate).Key.Reveal()) }},
	{"KUBELET_CLIENT_CERT_CONTENT", func(v *view) string { return encodedPEM(deref(v.written.Join.ClientCertificate).Certificate) }},
	{"KUBELET_CONFIG_FILE_ENABLED", text(func(v *view) any { return v.written.Kubelet.Config != nil })},
	{"KUBELET_CONFIG_FILE_CONTENT", (*view).kubeletConfig},
	{"SWAP_FILE_SIZE_MB", text(func(v *view) any { return v.written.System.SwapMB })},

	// values in the image's list of components are empty here.
	{"GPU_DRIVER_VERSION", (*view).driverVersion},
	{"GPU_IMAGE_SHA", constant("")},
	{"GPU_INSTANCE_PROFILE", func(v *view) string { return v.gpu.InstanceProfile }},
	{"GPU_DRIVER_TYPE", (*view).driver},
	{"CUSTOM_SEARCH_DOMAIN_NAME", func(v *view) string { return deref(v.written.Access.Realm).Domain }},
	{"CUSTOM_SEARCH_REALM_USER", func(v *view) string { return deref(v.written.Access.Realm).User }},
	{"CUSTOM_SEARCH_REALM_PASSWORD", func(v *view) string { return deref(v.written.Access.Realm).Password.Reveal() }},
	{"MESSAGE_OF_THE_DAY", func(v *view) string { return encoded(v.written.Access.MessageOfTheDay) }},
	{"HAS_KUBELET_DISK_TYPE", text(func(v *view) any { return v.written.Kubelet.DataDisk == "Temporary" })},
	{"NEEDS_CGROUPV2", text(func(v *view) any { return v.written.Runtime.CgroupDriver == "systemd" })},
	{"KUBELET_FLAGS", (*view).kubeletFlags},
	{"NETWORK_POLICY", func(v *view) string { return v.written.Network.Policy }},
	{"KUBELET_NODE_LABELS", func(v *view) string { return akstext.Pairs(v.written.Kubelet.Labels, ",") }},
	{"AZURE_ENVIRONMENT_FILEPATH", (*view).environmentFile},
	{"KUBE_CA_CRT", func(v *view) string { return encodedPEM(v.written.Cluster.CertificateAuthority) }},
	{"KUBENET_TEMPLATE", constant(encoded(runtime.KubenetTemplate))},
	{"CONTAINERD_CONFIG_CONTENT", func(v *view) string { return encoded(v.containerdConfig(false)) }},
	{"CONTAINERD_CONFIG_NO_GPU_CONTENT", func(v *view) string { return encoded(v.containerdConfig(true)) }},
	{"IS_KATA", text(func(v *view) any { return slices.Contains(v.written.Runtime.Sandboxes, "kata") })},
	{"ARTIFACT_STREAMING_ENABLED", text(func(v *view) any { return v.written.Runtime.LazyPull == "overlaybd" })},
	{"SYSCTL_CONTENT", func(v *view) string { return encoded(v.sysctls()) }},
	{"PRIVATE_EGRESS_PROXY_ADDRESS", scriptsOwn},
	{"BOOTSTRAP_PROFILE_CONTAINER_REGISTRY_SERVER", func(v *view) string { return v.written.Components.Registry }},
	{"ENABLE_IMDS_RESTRICTION", text(func(v *view) any { return v.written.Network.MetadataRestriction != nil })},
	{"INSERT_IMDS_RESTRICTION_RULE_TO_MANGLE_TABLE", text(func(v *view) any { return deref(v.written.Network.MetadataRestriction).Table == "mangle" })},
	{"PRE_PROVISION_ONLY", text(func(v *view) any { return v.written.Join.Method == nodeconfig.JoinNone })},

	// local_dns_profile: limits and Corefiles if it is on.
	{"SHOULD_ENABLE_LOCALDNS", text(func(v *view) any { return v.written.Network.LocalDNS != nil })},
	{"SHOULD_ENABLE_HOSTS_PLUGIN", text(func(v *view) any { return v.dns.Hosts != nil })},
	{"LOCALDNS_CPU_LIMIT", (*view).dnsCPU},
	{"LOCALDNS_MEMORY_LIMIT", (*view).dnsMemory},
	{"LOCALDNS_CRITICAL_FQDNS", (*view).dnsNames},
	{"LOCALDNS_HOSTS_PLUGIN_REFRESH_INTERVAL_IN_SECONDS", (*view).dnsRefresh},
	{"LOCALDNS_GENERATED_COREFILE", corefile(false)},
	{"LOCALDNS_COREFILE_BASE", corefile(false)},
	{"LOCALDNS_COREFILE_WITH_HOSTS", corefile(true)},
	{"DISABLE_PUBKEY_AUTH", text(func(v *view) any { on := v.written.Access.SSH.PublicKeyAuthentication; return on != nil && !*on })},

	// service_account_image_pull_profile.
	{"SERVICE_ACCOUNT_IMAGE_PULL_ENABLED", scriptsSwitch},
	{"SERVICE_ACCOUNT_IMAGE_PULL_DEFAULT_CLIENT_ID", scriptsOwn},
	{"SERVICE_ACCOUNT_IMAGE_PULL_DEFAULT_TENANT_ID", scriptsOwn},
	{"IDENTITY_BINDINGS_LOCAL_AUTHORITY_SNI", scriptsOwn},
	{"CSE_TIMEOUT", (*view).timeout},
	{"SKIP_WAAGENT_HOLD", constant("true")},
	{"NETWORK_ISOLATED_CLUSTER_TEST_MODE", constant("false")},
	{"STANDARD_SECONDARY_NIC_COUNT", text(func(v *view) any { return v.written.Network.SecondaryInterfaces })},
	{"ENABLE_MANAGED_GPU_DRA", text(func(v *view) any { return v.gpu.DynamicResourceAllocation })},
	{"INIT_AKS_CLOUD_FILEPATH", constant(scripts + "init-aks-cloud.sh")},
	{"REPO_DEPOT_ENDPOINT", func(v *view) string { return v.custom().RepositoryEndpoint }},
}

// constant returns the same value for all contracts.
//
//go:noinline
func constant(text string) func(*view) string { return func(*view) string { return text } }

// Values that only the scripts read are in the config under the variable's name. Without one, a text is empty, and a switch is off.
var (
	scriptsOwn    = constant("")
	scriptsSwitch = constant("false")
)

// text formats a boolean or a number as Go does: true, 6, 1.5.
//
//go:noinline
func text(value func(*view) any) func(*view) string {
	return func(v *view) string { return fmt.Sprint(value(v)) }
}

// timeout is the limit of a step of the bootstrap client, or "".
func timeout(step string) func(*view) string {
	return func(v *view) string {
		if limit := deref(v.written.Join.Attested).Timeouts[step]; limit != 0 {
			return limit.String()
		}
		return ""
	}
}

// corefile is the DNS cache's configuration.
func corefile(withHosts bool) func(*view) string {
	return func(v *view) string { return encoded(string(dnscache.Corefile(v.written, withHosts))) }
}

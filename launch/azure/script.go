package azure

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/cse"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/userdata"
)

// ScriptVariable describes the purpose of one variable of a [Script]. It does not have the value, because some are credentials.
type ScriptVariable struct {
	Name string `json:"name"`
	// Class is "decides" for one of the 28 that make nodes differ, "constant" for one that is the same for all nodes, "unused" for
	// a constant that the scripts do not need, and "more" for one that Karpenter for Azure does not have.
	Class string `json:"class"`
	// Field is its name in Karpenter for Azure, Source the source of its value there. Both are empty for "more".
	Field  string        `json:"field,omitempty"`
	Source launch.Source `json:"source,omitempty"`
	// Bytes is how long its value is.
	Bytes int `json:"bytes"`
}

// errScript refuses what no image of one's own has scripts for.
var errScript = errors.New("the script of variables is only for AKS images; an image of the family Custom has Slipway, and takes the user data without a script")

// Script returns the user data for an AKS image without Slipway, in base64: a script that sets the variables of the image's scripts. The
// variables are sorted, and quoted so that a shell reads each value unchanged. The report lists them by name. The error is one of
// [launch.Launch.Contract] or a [*userdata.TooLargeError], or names a variable that a shell cannot hold, or states that the image is
// not an AKS image.
func Script(l *launch.Launch, token nodeconfig.Secret) (userData string, report []ScriptVariable, err error) {
	contract, err := l.Contract(token)
	if err != nil {
		return "", nil, err
	}
	made := l.Document()
	if isOwn(made) {
		return "", nil, errScript
	}
	if len(contract.Parts) > 0 {
		return "", nil, errors.New("$.machine.userData: the script of variables has no place for it; use an image with Slipway, or leave it out")
	}
	read := compile.Read([]compile.Document{{Data: contract.Document}}, "")
	variables, problems := cse.Variables(read, facts.Facts{Architecture: made.Machine.Type.Architecture})
	var wrong []error
	for _, p := range nodeconfig.Fatal(problems) {
		wrong = append(wrong, fmt.Errorf("%s: %s", p.Path, p.Reason))
	}
	if wrong != nil {
		return "", nil, errors.Join(wrong...)
	}
	script, err := cse.Script(variables)
	if err != nil {
		return "", nil, err
	}
	if err := userdata.Azure.Check(len(script)); err != nil {
		if large, ok := errors.AsType[*userdata.TooLargeError](err); ok {
			large.Parts, large.Settings = scriptSizes(variables, len(script)), contract.LargestSettings()
		}
		return "", nil, err
	}
	return base64.StdEncoding.EncodeToString(script), reportOf(cse.Assigned(variables)), nil
}

// scriptSizes are what a script of a size is made of.
func scriptSizes(variables []cse.Variable, size int) []userdata.Size {
	rows := make([]userdata.Size, 0, len(variables))
	for _, v := range variables {
		rows = append(rows, userdata.Size{What: v.Name, Bytes: len(v.Value)})
		size -= len(v.Value)
	}
	return append(userdata.LargestAnd(rows, "the values of all other variables"), userdata.Size{What: "the script without these values", Bytes: size})
}

// reportOf returns the purpose of each variable.
func reportOf(variables []cse.Variable) []ScriptVariable {
	report := make([]ScriptVariable, 0, len(variables))
	for _, v := range variables {
		shown := ScriptVariable{Name: v.Name, Class: "more", Bytes: len(v.Value)}
		if i := slices.IndexFunc(scriptRows, func(r scriptRow) bool { return r.variable == v.Name }); i >= 0 {
			r := &scriptRows[i]
			shown.Field, shown.Source, shown.Class = r.field, r.source, "decides"
			switch {
			case r.source == launch.Hardcoded && r.unused:
				shown.Class = "unused"
			case r.source == launch.Hardcoded:
				shown.Class = "constant"
			}
		}
		report = append(report, shown)
	}
	return report
}

// scriptRow is one of the fields that Karpenter for Azure fills in for the scripts.
type scriptRow struct {
	// field is its name there. variable is the name that the scripts read. Empty means that the field only decides whether lines exist.
	field, variable string
	// source is the source of its value there. A hardcoded value is the same for all nodes.
	source launch.Source
	// unused is true if Karpenter for Azure marks the field as unnecessary.
	unused bool
}

// scriptRows are all 127 fields, in their order (Karpenter for Azure v1.7: pkg/providers/imagefamily/bootstrap, NodeBootstrapVariables).
var scriptRows = []scriptRow{
	{"IsAKSCustomCloud", "", launch.Hardcoded, false},
	{"InitAKSCustomCloudFilepath", "", launch.Hardcoded, false},
	{"AKSCustomCloudRepoDepotEndpoint", "REPO_DEPOT_ENDPOINT", launch.Hardcoded, false},
	{"AdminUsername", "ADMINUSER", launch.Hardcoded, false},
	{"MobyVersion", "MOBY_VERSION", launch.Hardcoded, true},
	{"TenantID", "TENANT_ID", launch.Environment, false},
	{"KubernetesVersion", "KUBERNETES_VERSION", launch.Detected, false},
	{"HyperkubeURL", "HYPERKUBE_URL", launch.Hardcoded, true},
	{"KubeBinaryURL", "KUBE_BINARY_URL", launch.Computed, false},
	{"CredentialProviderDownloadURL", "CREDENTIAL_PROVIDER_DOWNLOAD_URL", launch.Computed, true},
	{"CustomKubeBinaryURL", "CUSTOM_KUBE_BINARY_URL", launch.Hardcoded, true},
	{"KubeproxyURL", "KUBEPROXY_URL", launch.Hardcoded, true},
	{"APIServerPublicKey", "APISERVER_PUBLIC_KEY", launch.Hardcoded, true},
	{"SubscriptionID", "SUBSCRIPTION_ID", launch.Environment, false},
	{"ResourceGroup", "RESOURCE_GROUP", launch.Global, false},
	{"Location", "LOCATION", launch.Environment, false},
	{"VMType", "VM_TYPE", launch.Hardcoded, false},
	{"Subnet", "SUBNET", launch.Computed, false},
	{"NetworkSecurityGroup", "NETWORK_SECURITY_GROUP", launch.Detected, false},
	{"VirtualNetwork", "VIRTUAL_NETWORK", launch.Computed, false},
	{"VirtualNetworkResourceGroup", "VIRTUAL_NETWORK_RESOURCE_GROUP", launch.Computed, false},
	{"RouteTable", "ROUTE_TABLE", launch.Computed, false},
	{"PrimaryAvailabilitySet", "PRIMARY_AVAILABILITY_SET", launch.Hardcoded, true},
	{"PrimaryScaleSet", "PRIMARY_SCALE_SET", launch.Hardcoded, true},
	{"ServicePrincipalClientID", "SERVICE_PRINCIPAL_CLIENT_ID", launch.Hardcoded, false},
	{"NetworkPlugin", "NETWORK_PLUGIN", launch.Computed, false},
	{"NetworkPolicy", "NETWORK_POLICY", launch.Global, false},
	{"VNETCNILinuxPluginsURL", "VNET_CNI_PLUGINS_URL", launch.Computed, true},
	{"CNIPluginsURL", "CNI_PLUGINS_URL", launch.Computed, true},
	{"CloudProviderBackoff", "CLOUDPROVIDER_BACKOFF", launch.Hardcoded, false},
	{"CloudProviderBackoffMode", "CLOUDPROVIDER_BACKOFF_MODE", launch.Hardcoded, false},
	{"CloudProviderBackoffRetries", "CLOUDPROVIDER_BACKOFF_RETRIES", launch.Hardcoded, false},
	{"CloudProviderBackoffExponent", "CLOUDPROVIDER_BACKOFF_EXPONENT", launch.Hardcoded, false},
	{"CloudProviderBackoffDuration", "CLOUDPROVIDER_BACKOFF_DURATION", launch.Hardcoded, false},
	{"CloudProviderBackoffJitter", "CLOUDPROVIDER_BACKOFF_JITTER", launch.Hardcoded, false},
	{"CloudProviderRatelimit", "CLOUDPROVIDER_RATELIMIT", launch.Hardcoded, false},
	{"CloudProviderRatelimitQPS", "CLOUDPROVIDER_RATELIMIT_QPS", launch.Hardcoded, false},
	{"CloudProviderRatelimitQPSWrite", "CLOUDPROVIDER_RATELIMIT_QPS_WRITE", launch.Hardcoded, false},
	{"CloudProviderRatelimitBucket", "CLOUDPROVIDER_RATELIMIT_BUCKET", launch.Hardcoded, false},
	{"CloudProviderRatelimitBucketWrite", "CLOUDPROVIDER_RATELIMIT_BUCKET_WRITE", launch.Hardcoded, false},
	{"LoadBalancerDisableOutboundSNAT", "LOAD_BALANCER_DISABLE_OUTBOUND_SNAT", launch.Hardcoded, false},
	{"UseManagedIdentityExtension", "USE_MANAGED_IDENTITY_EXTENSION", launch.Hardcoded, false},
	{"UseInstanceMetadata", "USE_INSTANCE_METADATA", launch.Hardcoded, false},
	{"LoadBalancerSKU", "LOAD_BALANCER_SKU", launch.Hardcoded, false},
	{"ExcludeMasterFromStandardLB", "EXCLUDE_MASTER_FROM_STANDARD_LB", launch.Hardcoded, false},
	{"MaximumLoadbalancerRuleCount", "MAXIMUM_LOADBALANCER_RULE_COUNT", launch.Hardcoded, false},
	{"ContainerRuntime", "CONTAINER_RUNTIME", launch.Hardcoded, false},
	{"CLITool", "CLI_TOOL", launch.Hardcoded, false},
	{"ContainerdDownloadURLBase", "CONTAINERD_DOWNLOAD_URL_BASE", launch.Hardcoded, true},
	{"NetworkMode", "NETWORK_MODE", launch.Hardcoded, false},
	{"UserAssignedIdentityID", "USER_ASSIGNED_IDENTITY_ID", launch.Global, false},
	{"APIServerName", "API_SERVER_NAME", launch.Computed, false},
	{"IsVHD", "IS_VHD", launch.Hardcoded, false},
	{"GPUNode", "GPU_NODE", launch.Computed, false},
	{"SGXNode", "SGX_NODE", launch.Hardcoded, true},
	{"MIGNode", "MIG_NODE", launch.Hardcoded, false},
	{"ConfigGPUDriverIfNeeded", "CONFIG_GPU_DRIVER_IF_NEEDED", launch.Computed, false},
	{"EnableGPUDevicePluginIfNeeded", "ENABLE_GPU_DEVICE_PLUGIN_IF_NEEDED", launch.Hardcoded, true},
	{"TeleportdPluginDownloadURL", "TELEPORTD_PLUGIN_DOWNLOAD_URL", launch.Hardcoded, true},
	{"ContainerdVersion", "CONTAINERD_VERSION", launch.Hardcoded, true},
	{"ContainerdPackageURL", "CONTAINERD_PACKAGE_URL", launch.Hardcoded, true},
	{"RuncVersion", "RUNC_VERSION", launch.Hardcoded, true},
	{"RuncPackageURL", "RUNC_PACKAGE_URL", launch.Hardcoded, true},
	{"EnableHostsConfigAgent", "ENABLE_HOSTS_CONFIG_AGENT", launch.Hardcoded, false},
	{"DisableSSH", "DISABLE_SSH", launch.Hardcoded, false},
	{"NeedsContainerd", "NEEDS_CONTAINERD", launch.Hardcoded, false},
	{"TeleportEnabled", "TELEPORT_ENABLED", launch.Hardcoded, false},
	{"ShouldConfigureHTTPProxy", "SHOULD_CONFIGURE_HTTP_PROXY", launch.Hardcoded, false},
	{"ShouldConfigureHTTPProxyCA", "SHOULD_CONFIGURE_HTTP_PROXY_CA", launch.Hardcoded, false},
	{"HTTPProxyTrustedCA", "HTTP_PROXY_TRUSTED_CA", launch.Hardcoded, false},
	{"ShouldConfigureCustomCATrust", "SHOULD_CONFIGURE_CUSTOM_CA_TRUST", launch.Hardcoded, false},
	{"CustomCATrustConfigCerts", "CUSTOM_CA_TRUST_COUNT", launch.Hardcoded, false},
	{"IsKrustlet", "IS_KRUSTLET", launch.Hardcoded, false},
	{"GPUNeedsFabricManager", "GPU_NEEDS_FABRIC_MANAGER", launch.Hardcoded, false},
	{"NeedsDockerLogin", "NEEDS_DOCKER_LOGIN", launch.Hardcoded, false},
	{"IPv6DualStackEnabled", "IPV6_DUAL_STACK_ENABLED", launch.Hardcoded, false},
	{"OutboundCommand", "OUTBOUND_COMMAND", launch.Hardcoded, false},
	{"EnableUnattendedUpgrades", "ENABLE_UNATTENDED_UPGRADES", launch.Hardcoded, false},
	{"EnsureNoDupePromiscuousBridge", "ENSURE_NO_DUPE_PROMISCUOUS_BRIDGE", launch.Hardcoded, false},
	{"ShouldConfigSwapFile", "SHOULD_CONFIG_SWAP_FILE", launch.Hardcoded, false},
	{"ShouldConfigTransparentHugePage", "SHOULD_CONFIG_TRANSPARENT_HUGE_PAGE", launch.Hardcoded, false},
	{"TargetCloud", "TARGET_CLOUD", launch.Hardcoded, false},
	{"TargetEnvironment", "TARGET_ENVIRONMENT", launch.Hardcoded, false},
	{"CustomEnvJSON", "CUSTOM_ENV_JSON", launch.Hardcoded, false},
	{"IsCustomCloud", "IS_CUSTOM_CLOUD", launch.Hardcoded, false},
	{"CSEHelpersFilepath", "CSE_HELPERS_FILEPATH", launch.Hardcoded, false},
	{"CSEDistroHelpersFilepath", "CSE_DISTRO_HELPERS_FILEPATH", launch.Hardcoded, false},
	{"CSEInstallFilepath", "CSE_INSTALL_FILEPATH", launch.Hardcoded, false},
	{"CSEDistroInstallFilepath", "CSE_DISTRO_INSTALL_FILEPATH", launch.Hardcoded, false},
	{"CSEConfigFilepath", "CSE_CONFIG_FILEPATH", launch.Hardcoded, false},
	{"AzurePrivateRegistryServer", "AZURE_PRIVATE_REGISTRY_SERVER", launch.Hardcoded, false},
	{"HasCustomSearchDomain", "HAS_CUSTOM_SEARCH_DOMAIN", launch.Hardcoded, false},
	{"CustomSearchDomainFilepath", "CUSTOM_SEARCH_DOMAIN_FILEPATH", launch.Hardcoded, false},
	{"HTTPProxyURLs", "HTTP_PROXY_URLS", launch.Hardcoded, false},
	{"HTTPSProxyURLs", "HTTPS_PROXY_URLS", launch.Hardcoded, false},
	{"NoProxyURLs", "NO_PROXY_URLS", launch.Hardcoded, false},
	{"TLSBootstrappingEnabled", "ENABLE_TLS_BOOTSTRAPPING", launch.Hardcoded, false},
	{"SecureTLSBootstrappingEnabled", "ENABLE_SECURE_TLS_BOOTSTRAPPING", launch.Hardcoded, false},
	{"EnableKubeletServingCertificateRotation", "ENABLE_KUBELET_SERVING_CERTIFICATE_ROTATION", launch.Hardcoded, false},
	{"DHCPv6ServiceFilepath", "DHCPV6_SERVICE_FILEPATH", launch.Hardcoded, false},
	{"DHCPv6ConfigFilepath", "DHCPV6_CONFIG_FILEPATH", launch.Hardcoded, false},
	{"THPEnabled", "THP_ENABLED", launch.Hardcoded, false},
	{"THPDefrag", "THP_DEFRAG", launch.Hardcoded, false},
	{"ServicePrincipalFileContent", "SERVICE_PRINCIPAL_FILE_CONTENT", launch.Hardcoded, false},
	{"KubeletClientContent", "KUBELET_CLIENT_CONTENT", launch.Hardcoded, true},
	{"KubeletClientCertContent", "KUBELET_CLIENT_CERT_CONTENT", launch.Hardcoded, true},
	{"KubeletConfigFileEnabled", "KUBELET_CONFIG_FILE_ENABLED", launch.Hardcoded, false},
	{"KubeletConfigFileContent", "KUBELET_CONFIG_FILE_CONTENT", launch.Hardcoded, false},
	{"SwapFileSizeMB", "SWAP_FILE_SIZE_MB", launch.Hardcoded, false},
	{"GPUImageSHA", "GPU_IMAGE_SHA", launch.Computed, false},
	{"GPUDriverVersion", "GPU_DRIVER_VERSION", launch.Computed, false},
	{"GPUDriverType", "GPU_DRIVER_TYPE", launch.Computed, false},
	{"GPUInstanceProfile", "GPU_INSTANCE_PROFILE", launch.Hardcoded, false},
	{"CustomSearchDomainName", "CUSTOM_SEARCH_DOMAIN_NAME", launch.Hardcoded, false},
	{"CustomSearchRealmUser", "CUSTOM_SEARCH_REALM_USER", launch.Hardcoded, false},
	{"CustomSearchRealmPassword", "CUSTOM_SEARCH_REALM_PASSWORD", launch.Hardcoded, false},
	{"MessageOfTheDay", "MESSAGE_OF_THE_DAY", launch.Hardcoded, false},
	{"HasKubeletDiskType", "HAS_KUBELET_DISK_TYPE", launch.Hardcoded, false},
	{"NeedsCgroupV2", "NEEDS_CGROUPV2", launch.Hardcoded, false},
	{"SysctlContent", "SYSCTL_CONTENT", launch.Hardcoded, false},
	{"TLSBootstrapToken", "TLS_BOOTSTRAP_TOKEN", launch.Global, false},
	{"KubeletFlags", "KUBELET_FLAGS", launch.Computed, false},
	{"KubeletNodeLabels", "KUBELET_NODE_LABELS", launch.Computed, false},
	{"AzureEnvironmentFilepath", "AZURE_ENVIRONMENT_FILEPATH", launch.Hardcoded, false},
	{"KubeCACrt", "KUBE_CA_CRT", launch.Detected, false},
	{"ContainerdConfigContent", "CONTAINERD_CONFIG_CONTENT", launch.Computed, false},
	{"IsKata", "IS_KATA", launch.Hardcoded, false},
}

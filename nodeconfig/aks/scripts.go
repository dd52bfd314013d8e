package aks

import (
	"encoding/base64"
	"maps"
	"reflect"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/akstext"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// unsaid is a value that AKS's scripts read, with its variable and the field from which it comes. said reports whether the
// NodeConfig has the same value without it.
type unsaid struct {
	variable, field, value string
	said                   bool
}

// scriptVariables keeps values that only AKS's scripts read: fields that have no path in NodeConfig, or are off because of another
// field, and strings that the NodeConfig has in another form.
func (t *translation) scriptVariables() {
	for _, values := range [][]unsaid{t.unsaidComponents(), t.unsaidSettings(), t.unsaidBootstrap(), t.unsaidKubelet(), t.unsaidDNS()} {
		for _, u := range values {
			if !u.said {
				t.scriptVariable(u.variable, u.value, u.field)
			}
		}
	}
}

func (t *translation) scriptVariable(name, value, field string) {
	if t.out.Components.ScriptVariables == nil {
		t.out.Components.ScriptVariables = make(map[string]nodeconfig.Secret)
	}
	t.out.Components.ScriptVariables[name] = nodeconfig.NewSecret(value)
	t.moved(entry("$.components.scriptVariables", name), at("$."+field))
}

// unsaidComponents are versions and URLs of components. The scripts read a URL even if another one wins over it, and if it is a
// reference to an image.
func (t *translation) unsaidComponents() []unsaid {
	kubernetes, network := deref(t.in.KubeBinaryConfig), deref(t.in.NetworkConfig)
	containerd, runc := deref(t.in.ContainerdConfig), deref(t.in.RuncConfig)
	client := deref(deref(t.in.BootstrappingConfig).SecureTlsBootstrappingCustomClientDownloadUrl)
	place := func(variable, field, value, artifact string) unsaid {
		return unsaid{variable, field, value, value == "" || value == t.out.Components.Artifacts[artifact].URL}
	}
	only := func(variable, field, value string) unsaid { return unsaid{variable, field, value, value == ""} }
	return []unsaid{
		{"KUBE_BINARY_URL", "kube_binary_config.kube_binary_url", kubernetes.KubeBinaryUrl,
			kubernetes.KubeBinaryUrl == "" || kubernetes.CustomKubeBinaryUrl == "" && kubernetes.PrivateKubeBinaryUrl == ""},
		only("CUSTOM_KUBE_BINARY_URL", "kube_binary_config.custom_kube_binary_url", kubernetes.CustomKubeBinaryUrl),
		only("PRIVATE_KUBE_BINARY_URL", "kube_binary_config.private_kube_binary_url", kubernetes.PrivateKubeBinaryUrl),
		place("CREDENTIAL_PROVIDER_DOWNLOAD_URL", "kube_binary_config.linux_credential_provider_url", kubernetes.LinuxCredentialProviderUrl, "credential-provider"),
		only("KUBEPROXY_URL", "kube_proxy_url", t.in.KubeProxyUrl),
		place("VNET_CNI_PLUGINS_URL", "network_config.vnet_cni_plugins_url", network.VnetCniPluginsUrl, "azure-cni"),
		only("CONTAINERD_DOWNLOAD_URL_BASE", "containerd_config.containerd_download_url_base", containerd.ContainerdDownloadUrlBase),
		only("CONTAINERD_VERSION", "containerd_config.containerd_version", containerd.ContainerdVersion),
		place("CONTAINERD_PACKAGE_URL", "containerd_config.containerd_package_url", containerd.ContainerdPackageUrl, "containerd"),
		only("RUNC_VERSION", "runc_config.runc_version", runc.RuncVersion),
		place("RUNC_PACKAGE_URL", "runc_config.runc_package_url", runc.RuncPackageUrl, "runc"),
		place("CUSTOM_SECURE_TLS_BOOTSTRAPPING_CLIENT_DOWNLOAD_URL", "bootstrapping_config.secure_tls_bootstrapping_custom_client_download_url", client, "bootstrap-client"),
	}
}

// unsaidSettings are those of the machine and its cloud.
func (t *translation) unsaidSettings() []unsaid {
	cloud, realm, pull := deref(t.in.CustomCloudConfig), deref(t.in.CustomSearchDomainConfig), deref(t.in.ServiceAccountImagePullProfile)
	os, imds := deref(t.in.CustomLinuxOsConfig), deref(t.in.ImdsRestrictionConfig)
	custom, joined := t.out.Cloud.Azure.Custom != nil, t.out.Access.Realm != nil
	secret := deref(t.in.AuthConfig).ServicePrincipalSecret
	text := func(variable, field, value string, said bool) unsaid {
		return unsaid{variable, field, value, said || value == ""}
	}
	on := func(variable, field string, value, said bool) unsaid {
		return unsaid{variable, field, strconv.FormatBool(value), said || !value}
	}
	return []unsaid{
		text("CUSTOM_ENV_JSON", "custom_cloud_config.custom_env_json_content", cloud.CustomEnvJsonContent, custom),
		text("AKS_CUSTOM_CLOUD_CONTAINER_REGISTRY_DNS_SUFFIX", "custom_cloud_config.container_registry_dns_suffix", cloud.ContainerRegistryDnsSuffix, custom),
		text("CUSTOM_SEARCH_DOMAIN_NAME", "custom_search_domain_config.domain_name", realm.DomainName, joined && t.out.Access.Realm.Domain == realm.DomainName),
		text("CUSTOM_SEARCH_REALM_USER", "custom_search_domain_config.realm_user", realm.RealmUser, joined),
		text("CUSTOM_SEARCH_REALM_PASSWORD", "custom_search_domain_config.realm_password", realm.RealmPassword, joined),
		text("SERVICE_PRINCIPAL_FILE_CONTENT", "auth_config.service_principal_secret", secret, isBase64Of(secret, t.out.Cloud.Azure.Identity.ClientSecret.Reveal())),
		text("MESSAGE_OF_THE_DAY", "message_of_the_day", t.in.MessageOfTheDay, isBase64Of(t.in.MessageOfTheDay, t.out.Access.MessageOfTheDay)),
		text("PRIVATE_EGRESS_PROXY_ADDRESS", "private_egress_proxy_address", t.in.PrivateEgressProxyAddress, false),
		on("IPV6_DUAL_STACK_ENABLED", "ipv6_dual_stack_enabled", t.in.Ipv6DualStackEnabled, false),
		on("INSERT_IMDS_RESTRICTION_RULE_TO_MANGLE_TABLE", "imds_restriction_config.insert_imds_restriction_rule_to_mangle_table",
			imds.InsertImdsRestrictionRuleToMangleTable, t.out.Network.MetadataRestriction != nil),
		on("MANAGED_GPU_EXPERIENCE_AFEC_ENABLED", "gpu_config.managed_gpu_experience_afec_enabled", deref(t.in.GpuConfig).ManagedGpuExperienceAfecEnabled, false),
		on("SERVICE_ACCOUNT_IMAGE_PULL_ENABLED", "service_account_image_pull_profile.enabled", pull.Enabled, false),
		text("SERVICE_ACCOUNT_IMAGE_PULL_DEFAULT_CLIENT_ID", "service_account_image_pull_profile.default_client_id", pull.DefaultClientId, false),
		text("SERVICE_ACCOUNT_IMAGE_PULL_DEFAULT_TENANT_ID", "service_account_image_pull_profile.default_tenant_id", pull.DefaultTenantId, false),
		text("IDENTITY_BINDINGS_LOCAL_AUTHORITY_SNI", "service_account_image_pull_profile.local_authority_sni", pull.LocalAuthoritySni, false),
		{"SWAP_FILE_SIZE_MB", "custom_linux_os_config.swap_file_size", strconv.Itoa(int(os.SwapFileSize)), os.SwapFileSize == t.out.System.SwapMB},
		t.unsaidPorts(deref(deref(os.SysctlConfig).NetIpv4IpLocalPortRange)),
	}
}

// isBase64Of reports whether a string is the base64 of another one, in the standard encoding.
func isBase64Of(encoded, text string) bool {
	return encoded == base64.StdEncoding.EncodeToString([]byte(text))
}

// unsaidPorts is a range of ports that is invalid, or has a different spelling. The scripts get it unchanged.
func (t *translation) unsaidPorts(value string) unsaid {
	const field = "custom_linux_os_config.sysctl_config.net_ipv4_ip_local_port_range"
	parameters := t.out.System.Sysctls
	u := unsaid{variable: "SYSCTL_CONTENT", field: field}
	if u.said = value == parameters[localPortRange]; !u.said {
		parameters = maps.Clone(parameters)
		delete(parameters, reservedPorts)
		if parameters[localPortRange] = value; value == "" {
			delete(parameters, localPortRange)
		}
		u.value = base64.StdEncoding.EncodeToString([]byte(akstext.Pairs(parameters, "\n") + "\n"))
	}
	return u
}

// unsaidBootstrap are the settings of secure TLS bootstrapping if it is off, and times with a different spelling.
func (t *translation) unsaidBootstrap() []unsaid {
	boot, attested := deref(t.in.BootstrappingConfig), t.out.Join.Attested
	const field = "bootstrapping_config.secure_tls_bootstrapping_"
	resource, identity := deref(boot.SecureTlsBootstrappingAadResource), deref(boot.SecureTlsBootstrappingUserAssignedIdentityId)
	values := []unsaid{
		{"SECURE_TLS_BOOTSTRAPPING_AAD_RESOURCE", field + "aad_resource", resource, resource == "" || attested != nil},
		{"SECURE_TLS_BOOTSTRAPPING_USER_ASSIGNED_IDENTITY_ID", field + "user_assigned_identity_id", identity, identity == "" || attested != nil},
	}
	for _, step := range []struct {
		name, field string
		limit       *string
	}{
		{"validateKubeconfig", "validate_kubeconfig_timeout", boot.SecureTlsBootstrappingValidateKubeconfigTimeout},
		{"accessToken", "get_access_token_timeout", boot.SecureTlsBootstrappingGetAccessTokenTimeout},
		{"instanceData", "get_instance_data_timeout", boot.SecureTlsBootstrappingGetInstanceDataTimeout},
		{"nonce", "get_nonce_timeout", boot.SecureTlsBootstrappingGetNonceTimeout},
		{"attestedData", "get_attested_data_timeout", boot.SecureTlsBootstrappingGetAttestedDataTimeout},
		{"credential", "get_credential_timeout", boot.SecureTlsBootstrappingGetCredentialTimeout},
	} {
		limit := deref(step.limit)
		if limit != "" && (attested == nil || attested.Timeouts[step.name].String() != limit) {
			values = append(values, unsaid{"SECURE_TLS_BOOTSTRAPPING_" + strings.ToUpper(step.field), field + step.field, limit, false})
		}
	}
	return values
}

// unsaidKubelet are flags and labels with a different spelling, and a configuration without a file.
func (t *translation) unsaidKubelet() []unsaid {
	in, k := deref(t.in.KubeletConfig), &t.out.Kubelet
	var values []unsaid
	if !maps.Equal(in.KubeletNodeLabels, k.Labels) {
		values = append(values, unsaid{"KUBELET_NODE_LABELS", "kubelet_config.kubelet_node_labels", akstext.Pairs(in.KubeletNodeLabels, ","), false})
	}
	if !akstext.AreFlagsOf(in.KubeletFlags, k) {
		values = append(values, unsaid{"KUBELET_FLAGS", "kubelet_config.kubelet_flags", akstext.Flags(in.KubeletFlags, t.in.KubernetesVersion), false})
	}
	if config := in.KubeletConfigFileConfig; config != nil && !in.EnableKubeletConfigFile {
		aside := &translation{Result: new(Result)}
		data := aside.asData(reflect.ValueOf(*config), configPath, "$")
		text := base64.StdEncoding.EncodeToString([]byte(akstext.KubeletConfig(data, t.in.KubernetesVersion)))
		const field = "kubelet_config.kubelet_config_file_config"
		values = append(values,
			unsaid{"KUBELET_CONFIG_FILE_CONTENT", field, text, len(data) == 0},
			unsaid{"ENABLE_KUBELET_SERVING_CERTIFICATE_ROTATION", field + ".server_tls_bootstrap", "true", !deref(config.ServerTlsBootstrap)})
	}
	return values
}

// unsaidDNS are settings of the DNS cache whose part of the cache is off.
func (t *translation) unsaidDNS() []unsaid {
	in := deref(t.in.LocalDnsProfile)
	said := t.out.Network.LocalDNS != nil && t.out.Network.LocalDNS.Hosts != nil
	names, _ := criticalNames(&in)
	seconds := deref(in.HostsPluginRefreshIntervalInSeconds)
	return []unsaid{
		{"LOCALDNS_CRITICAL_FQDNS", "local_dns_profile.critical_fqdns", strings.Join(names, ","), said || len(names) == 0},
		{"LOCALDNS_HOSTS_PLUGIN_REFRESH_INTERVAL_IN_SECONDS", "local_dns_profile.hosts_plugin_refresh_interval_in_seconds",
			strconv.Itoa(int(seconds)), said || seconds <= 0},
	}
}

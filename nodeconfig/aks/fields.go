package aks

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/aksnodeconfig"
	"github.com/slipway-dev/slipway/internal/akstext"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// row maps a field of the contract to NodeConfig. A row for a message covers all its fields without a separate row. Consumers of
// the NodeConfig decide whether the node applies a value: the planner warns of values that it does not read, and this table has the
// contract's name for them.
type row struct {
	field string
	// to are the paths in NodeConfig. It is empty if there is no such path.
	to []string
	// kind and why are the warning for a field that is set but has no path in NodeConfig.
	kind nodeconfig.ProblemKind
	why  string
	// under is the field that turns it on. A warning names that field instead. While that field is off, no warning is needed.
	under string
	// idle reports whether the field has no effect in a contract, though it is set. There is no warning then.
	idle func(*aksnodeconfig.Configuration) bool
}

// always is for a field that AKS's own nodes do not read either. dialect.Unplanned has its consequence.
func always(*aksnodeconfig.Configuration) bool { return true }

// finished reports whether the image was built to be a node: then it has all components, and settings for downloading others change
// nothing (AKS: is_vhd, and cse_install.sh).
func finished(c *aksnodeconfig.Configuration) bool { return c.IsVhd == nil || *c.IsVhd }

// Why a field has no path in NodeConfig.
const (
	// unreadByAKS is for a field without effect (AKS node contract; the comment of each field says so).
	unreadByAKS = "has no effect; AKS's own scripts do not read it either"
	installed   = "has no effect; the image's own is used, as AKS's scripts use it on a finished image"
)

// fields is the table, in the order of the contract.
var fields = []row{
	{field: "version", to: []string{"$.apiVersion"}},

	{field: "kube_binary_config.kube_binary_url", to: []string{"$.components.artifacts.kubernetes.url"}},
	{field: "kube_binary_config.custom_kube_binary_url", to: []string{"$.components.artifacts.kubernetes.url", "$.components.artifacts.kubernetes.force"}},
	{field: "kube_binary_config.private_kube_binary_url", to: []string{"$.components.artifacts.kubernetes.file"}},
	{field: "kube_binary_config.pod_infra_container_image_url", to: []string{"$.runtime.sandboxImage"}},
	{field: "kube_binary_config.linux_credential_provider_url", to: []string{`$.components.artifacts["credential-provider"].url`}},

	{field: "custom_cloud_config.custom_cloud_env_name", to: []string{"$.cloud.azure.environment"}},
	{field: "custom_cloud_config.repo_depot_endpoint", to: []string{"$.cloud.azure.custom.repositoryEndpoint"}},
	{field: "custom_cloud_config.custom_env_json_content", to: []string{"$.cloud.azure.custom.endpoints"}},
	{field: "custom_cloud_config.container_registry_dns_suffix", to: []string{"$.cloud.azure.custom.registryDNSSuffix"}},

	{field: "api_server_config.api_server_public_key", to: []string{"$.cluster.serverCertificate"}},
	{field: "api_server_config.api_server_name", to: []string{"$.cluster.server"}},

	{field: "cluster_config.cluster_network_config.vnet_name", to: []string{"$.cloud.azure.vnet"}},
	{field: "cluster_config.cluster_network_config.vnet_resource_group", to: []string{"$.cloud.azure.vnetResourceGroup"}},
	{field: "cluster_config.cluster_network_config.subnet", to: []string{"$.cloud.azure.subnet"}},
	{field: "cluster_config.cluster_network_config.security_group_name", to: []string{"$.cloud.azure.securityGroup"}},
	{field: "cluster_config.cluster_network_config.route_table", to: []string{"$.cloud.azure.routeTable"}},
	{field: "cluster_config.cluster_network_config.core_dns_service_ip", to: []string{"$.cluster.dnsServiceIPs"}, idle: always},
	{field: "cluster_config.load_balancer_config.load_balancer_sku", to: []string{"$.cloud.azure.loadBalancer.sku"}},
	{field: "cluster_config.load_balancer_config.exclude_master_from_standard_load_balancer", to: []string{"$.cloud.azure.loadBalancer.excludeMaster"}},
	{field: "cluster_config.load_balancer_config.max_load_balancer_rule_count", to: []string{"$.cloud.azure.loadBalancer.maxRules"}},
	{field: "cluster_config.load_balancer_config.disable_outbound_snat", to: []string{"$.cloud.azure.loadBalancer.disableOutboundSNAT"}},
	{field: "cluster_config.resource_group", to: []string{"$.cloud.azure.resourceGroup"}},
	{field: "cluster_config.location", to: []string{"$.cloud.azure.location"}},
	{field: "cluster_config.vm_type", to: []string{"$.cloud.azure.vmType"}},
	{field: "cluster_config.primary_availability_set", to: []string{"$.cloud.azure.primaryAvailabilitySetName"}},
	{field: "cluster_config.primary_scale_set", to: []string{"$.cloud.azure.primaryScaleSetName"}},
	{field: "cluster_config.use_instance_metadata", to: []string{"$.cloud.azure.useInstanceMetadata"}},
	{field: "cluster_config.cloud_provider_config.backoff", to: []string{"$.cloud.azure.backoff.enabled"}},
	{field: "cluster_config.cloud_provider_config.backoff_mode", to: []string{"$.cloud.azure.backoff.mode"}},
	{field: "cluster_config.cloud_provider_config.backoff_retries", to: []string{"$.cloud.azure.backoff.retries"}},
	{field: "cluster_config.cloud_provider_config.backoff_exponent", to: []string{"$.cloud.azure.backoff.exponent"}},
	{field: "cluster_config.cloud_provider_config.backoff_duration", to: []string{"$.cloud.azure.backoff.duration"}},
	{field: "cluster_config.cloud_provider_config.backoff_jitter", to: []string{"$.cloud.azure.backoff.jitter"}},
	{field: "cluster_config.cloud_provider_config.rate_limit", to: []string{"$.cloud.azure.rateLimit.enabled"}},
	{field: "cluster_config.cloud_provider_config.rate_limit_qps", to: []string{"$.cloud.azure.rateLimit.qps"}},
	{field: "cluster_config.cloud_provider_config.rate_limit_qps_write", to: []string{"$.cloud.azure.rateLimit.qpsWrite"}},
	{field: "cluster_config.cloud_provider_config.rate_limit_bucket", to: []string{"$.cloud.azure.rateLimit.bucket"}},
	{field: "cluster_config.cloud_provider_config.rate_limit_bucket_write", to: []string{"$.cloud.azure.rateLimit.bucketWrite"}},

	{field: "bootstrapping_config.bootstrapping_auth_method", to: []string{"$.join.attested"}},
	{field: "bootstrapping_config.cluster_join_method", kind: nodeconfig.NoEffect, why: unreadByAKS, idle: always},
	{field: "bootstrapping_config.tls_bootstrapping_token", to: []string{"$.join.bootstrapToken"}},
	{field: "bootstrapping_config.secure_tls_bootstrapping_aad_resource", to: []string{"$.join.attested.resource"}},
	{field: "bootstrapping_config.secure_tls_bootstrapping_user_assigned_identity_id", to: []string{"$.join.attested.identityID"}},
	{field: "bootstrapping_config.secure_tls_bootstrapping_custom_client_download_url", to: []string{`$.components.artifacts["bootstrap-client"].url`, `$.components.artifacts["bootstrap-client"].force`}},
	{field: "bootstrapping_config.secure_tls_bootstrapping_validate_kubeconfig_timeout", to: []string{"$.join.attested.timeouts.validateKubeconfig"}},
	{field: "bootstrapping_config.secure_tls_bootstrapping_get_access_token_timeout", to: []string{"$.join.attested.timeouts.accessToken"}},
	{field: "bootstrapping_config.secure_tls_bootstrapping_get_instance_data_timeout", to: []string{"$.join.attested.timeouts.instanceData"}},
	{field: "bootstrapping_config.secure_tls_bootstrapping_get_nonce_timeout", to: []string{"$.join.attested.timeouts.nonce"}},
	{field: "bootstrapping_config.secure_tls_bootstrapping_get_attested_data_timeout", to: []string{"$.join.attested.timeouts.attestedData"}},
	{field: "bootstrapping_config.secure_tls_bootstrapping_get_credential_timeout", to: []string{"$.join.attested.timeouts.credential"}},

	{field: "auth_config.tenant_id", to: []string{"$.cloud.azure.tenantID"}},
	{field: "auth_config.subscription_id", to: []string{"$.cloud.azure.subscriptionID"}},
	{field: "auth_config.service_principal_id", to: []string{"$.cloud.azure.identity.clientID"}},
	{field: "auth_config.service_principal_secret", to: []string{"$.cloud.azure.identity.clientSecret"}},
	{field: "auth_config.assigned_identity_id", to: []string{"$.cloud.azure.identity.userAssignedID"}},
	{field: "auth_config.use_managed_identity_extension", to: []string{"$.cloud.azure.identity.managed"}},

	{field: "runc_config.runc_version", kind: nodeconfig.NoEffect, why: installed, idle: finished},
	{field: "runc_config.runc_package_url", to: []string{"$.components.artifacts.runc.url", "$.components.artifacts.runc.force"}},
	{field: "containerd_config.containerd_download_url_base", kind: nodeconfig.NoEffect, why: installed, idle: finished},
	{field: "containerd_config.containerd_version", kind: nodeconfig.NoEffect, why: installed, idle: finished},
	{field: "containerd_config.containerd_package_url", to: []string{"$.components.artifacts.containerd.url", "$.components.artifacts.containerd.force"}},

	{field: "kubelet_config.kubelet_flags", to: []string{"$.kubelet.flags"}},
	{field: "kubelet_config.kubelet_node_labels", to: []string{"$.kubelet.labels"}},
	{field: "kubelet_config.kubelet_disk_type", to: []string{"$.kubelet.dataDisk"}},
	{field: "kubelet_config.enable_kubelet_config_file", to: []string{"$.kubelet.config"}},
	{field: "kubelet_config.kubelet_config_file_config", to: []string{"$.kubelet.config"}},
	{field: "kubelet_config.kubelet_client_key", to: []string{"$.join.clientCertificate.key"}},
	{field: "kubelet_config.kubelet_client_cert_content", to: []string{"$.join.clientCertificate.certificate"}},
	{field: "kubelet_config.container_data_dir", to: []string{"$.runtime.containerd.dataDir"}},

	{field: "custom_search_domain_config.domain_name", to: []string{"$.access.realm.domain", "$.network.searchDomains"}},
	{field: "custom_search_domain_config.realm_user", to: []string{"$.access.realm.user"}, under: "custom_search_domain_config.domain_name"},
	{field: "custom_search_domain_config.realm_password", to: []string{"$.access.realm.password"}, under: "custom_search_domain_config.domain_name"},

	{field: "custom_linux_os_config.sysctl_config", to: []string{"$.system.sysctls"}},
	{field: "custom_linux_os_config.ulimit_config", to: []string{"$.runtime.containerd.limits"}},
	{field: "custom_linux_os_config.enable_swap_config", to: []string{"$.system.swapMB", "$.system.swapDisk"}},
	{field: "custom_linux_os_config.swap_file_size", to: []string{"$.system.swapMB", "$.system.swapDisk"}},
	{field: "custom_linux_os_config.transparent_hugepage_support", to: []string{"$.system.transparentHugePages.enabled"}},
	{field: "custom_linux_os_config.transparent_defrag", to: []string{"$.system.transparentHugePages.defrag"}},

	{field: "http_proxy_config.http_proxy", to: []string{"$.proxy.http"}},
	{field: "http_proxy_config.https_proxy", to: []string{"$.proxy.https"}},
	{field: "http_proxy_config.no_proxy_entries", to: []string{"$.proxy.noProxy"}},
	{field: "http_proxy_config.proxy_trusted_ca", to: []string{"$.proxy.certificateAuthority"}},

	{field: "gpu_config.enable_nvidia", to: []string{"$.system.gpu.vendor"}},
	{field: "gpu_config.config_gpu_driver", to: []string{"$.system.gpu.installDriver"}},
	{field: "gpu_config.gpu_device_plugin", to: []string{"$.system.gpu.devicePlugin"}},
	{field: "gpu_config.gpu_instance_profile", to: []string{"$.system.gpu.instanceProfile"}},
	{field: "gpu_config.enable_amd_gpu", kind: nodeconfig.NoEffect, why: "has no effect; vm_size says what an accelerator of AMD's needs, as in AKS's own scripts"},
	{field: "gpu_config.managed_gpu_experience_afec_enabled", kind: nodeconfig.NoEffect, why: "has no effect; enable_managed_gpu and the machine's tag say what runs", idle: always},
	{field: "gpu_config.enable_managed_gpu", to: []string{"$.system.gpu.managed"}},
	{field: "gpu_config.mig_strategy", to: []string{"$.system.gpu.strategy"}},
	{field: "gpu_config.mig_profile_layout", to: []string{"$.system.gpu.profileLayout"}},
	{field: "gpu_config.enable_managed_gpu_dra", to: []string{"$.system.gpu.dynamicResourceAllocation"}},

	{field: "network_config.network_plugin", to: []string{"$.network.plugin"}},
	{field: "network_config.network_policy", to: []string{"$.network.policy"}},
	{field: "network_config.vnet_cni_plugins_url", to: []string{`$.components.artifacts["azure-cni"].url`}},
	{field: "network_config.cni_plugins_url", kind: nodeconfig.NoEffect, why: unreadByAKS, idle: always},
	{field: "network_config.standard_secondary_nic_count", to: []string{"$.network.secondaryInterfaces"}},

	{field: "kubernetes_ca_cert", to: []string{"$.cluster.certificateAuthority"}},
	{field: "kubernetes_version", to: []string{"$.cluster.kubernetesVersion"}},
	{field: "kube_proxy_url", kind: nodeconfig.NoEffect, why: "has no effect; it says which images are worth keeping, and none is removed", idle: always},
	{field: "vm_size", to: []string{"$.cloud.instanceType"}},
	{field: "linux_admin_username", to: []string{"$.access.adminUser"}},
	{field: "is_vhd", to: []string{"$.components.preinstalled"}},
	{field: "enable_ssh", to: []string{"$.access.ssh.enabled"}},
	{field: "enable_unattended_upgrade", to: []string{"$.system.unattendedUpgrades"}},
	{field: "message_of_the_day", to: []string{"$.access.messageOfTheDay"}},
	{field: "enable_hosts_config_agent", to: []string{"$.network.hostsAgent"}},
	{field: "custom_ca_certs", to: []string{"$.trust.certificates"}},
	{field: "provision_output", kind: nodeconfig.NoEffect, why: unreadByAKS, idle: always},
	{field: "workload_runtime", kind: nodeconfig.NoEffect, why: unreadByAKS, idle: always},
	{field: "ipv6_dual_stack_enabled", to: []string{"$.network.ipFamilies"}},
	{field: "outbound_command", to: []string{"$.checks.outboundCommand"}},
	{field: "azure_private_registry_server", to: []string{"$.cloud.azure.privateRegistry"}, idle: always},
	{field: "private_egress_proxy_address", kind: nodeconfig.NoEffect, why: unreadByAKS},
	{field: "enable_artifact_streaming", to: []string{"$.runtime.lazyPull"}},
	{field: "is_kata", to: []string{"$.runtime.sandboxes"}},
	{field: "needs_cgroupv2", to: []string{"$.runtime.cgroupDriver"}},
	{field: "disable_custom_data", kind: nodeconfig.NoEffect, why: unreadByAKS, idle: always},
	{field: "bootstrap_profile_container_registry_server", to: []string{"$.components.registry"}},

	{field: "imds_restriction_config.enable_imds_restriction", to: []string{"$.network.metadataRestriction", "$.network.metadataRestriction.table"}},
	{field: "imds_restriction_config.insert_imds_restriction_rule_to_mangle_table", to: []string{"$.network.metadataRestriction.table"}},

	{field: "pre_provision_only", to: []string{"$.join.method"}},

	{field: "local_dns_profile.enable_local_dns", to: []string{"$.network.localDNS"}},
	{field: "local_dns_profile.cpu_limit_in_milli_cores", to: []string{"$.network.localDNS.cpuMilli"}, under: "local_dns_profile.enable_local_dns"},
	{field: "local_dns_profile.memory_limit_in_mb", to: []string{"$.network.localDNS.memoryMB"}, under: "local_dns_profile.enable_local_dns"},
	{field: "local_dns_profile.vnet_dns_overrides", to: []string{"$.network.localDNS.host"}, under: "local_dns_profile.enable_local_dns"},
	{field: "local_dns_profile.kube_dns_overrides", to: []string{"$.network.localDNS.pods"}, under: "local_dns_profile.enable_local_dns"},
	{field: "local_dns_profile.enable_hosts_plugin", to: []string{"$.network.localDNS.hosts"}, under: "local_dns_profile.enable_local_dns"},
	{field: "local_dns_profile.critical_fqdns", to: []string{"$.network.localDNS.hosts.names"}, under: "local_dns_profile.enable_local_dns"},
	{field: "local_dns_profile.hosts_plugin_refresh_interval_in_seconds", to: []string{"$.network.localDNS.hosts.refreshSeconds"}, under: "local_dns_profile.enable_local_dns"},

	{field: "disable_pubkey_auth", to: []string{"$.access.ssh.publicKeyAuthentication"}},

	{field: "service_account_image_pull_profile.enabled", to: []string{providerConfig}},
	{field: "service_account_image_pull_profile.default_client_id", to: []string{providerConfig}, under: "service_account_image_pull_profile.enabled"},
	{field: "service_account_image_pull_profile.default_tenant_id", to: []string{providerConfig}, under: "service_account_image_pull_profile.enabled"},
	{field: "service_account_image_pull_profile.local_authority_sni", to: []string{providerConfig}, under: "service_account_image_pull_profile.enabled"},

	{field: "cse_timeout", to: []string{"$.checks.timeout"}},
	{field: "enabled_features", to: []string{"$.components.features"}},
}

// index is the table in the forms for lookups.
type index struct {
	// rows are by the fields' names.
	rows map[string]*row
	// origins are the fields, as paths, by their paths in NodeConfig. Of several, the last in the table counts; a translation
	// records the right one.
	origins map[string]string
	// steps lead to the value of a row's field, from the contract's top.
	steps map[*row][]int
}

var indexed = sync.OnceValue(func() index {
	x := index{make(map[string]*row, len(fields)), make(map[string]string, len(fields)), make(map[*row][]int, len(fields))}
	for i := range fields {
		r := &fields[i]
		x.rows[r.field] = r
		for _, to := range r.to {
			x.origins[to] = "$." + r.field
		}
		x.steps[r] = steps(reflect.TypeFor[aksnodeconfig.Configuration](), r.field)
	}
	nameSettings(x.origins, reflect.TypeFor[aksnodeconfig.KubeletConfigFileConfig](), configPath, "$.kubelet.config")
	return x
})

// nameSettings adds the contract's path for each setting of the kubelet's file, including unset ones.
func nameSettings(origins map[string]string, message reflect.Type, from, to string) {
	for i := range message.NumField() {
		own, name := aksnodeconfig.Names(message.Field(i))
		from, to := from+"."+own, to+"."+akstext.KubeletName(name)
		origins[to] = from
		if t := message.Field(i).Type; t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct {
			nameSettings(origins, t.Elem(), from, to)
		}
	}
}

// steps are the indexes of the fields on the way to a field, by its name.
func steps(t reflect.Type, name string) []int {
	first, rest, below := strings.Cut(name, ".")
	for i := range t.NumField() {
		if aksnodeconfig.FieldNames(t.Field(i))[0] == first {
			if !below {
				return []int{i}
			}
			return append([]int{i}, steps(t.Field(i).Type.Elem(), rest)...)
		}
	}
	panic("aks: the contract has no field " + name)
}

// isSet reports whether the contract sets a row's field.
func isSet(config *aksnodeconfig.Configuration, r *row) bool {
	v := reflect.ValueOf(config)
	for _, step := range indexed().steps[r] {
		if v.IsNil() {
			return false
		}
		v = v.Elem().Field(step)
	}
	return says(v)
}

// says reports whether a value is set: an empty string is not.
func says(v reflect.Value) bool {
	if v.Kind() == reflect.Pointer && !v.IsNil() && v.Elem().Kind() == reflect.String {
		v = v.Elem()
	}
	return !v.IsZero() && (v.Kind() != reflect.Slice && v.Kind() != reflect.Map || v.Len() > 0)
}

// isOn reports whether the contract turns a field on.
func isOn(config *aksnodeconfig.Configuration, r *row) bool {
	v := reflect.ValueOf(config)
	for _, step := range indexed().steps[r] {
		if v.IsNil() {
			return false
		}
		v = v.Elem().Field(step)
	}
	return says(v) && !reflect.Indirect(v).IsZero()
}

// quiet reports whether there is no warning that a field is not applied: it has no effect in this contract, or there is a warning
// for the field that turns it on.
func (r *row) quiet(config *aksnodeconfig.Configuration) bool {
	return r.idle != nil && r.idle(config) || r.under != "" && isOn(config, indexed().rows[r.under])
}

// TurnedOnBy returns the path of the field that turns a field on, and that warnings name instead, or "".
func TurnedOnBy(path string) string {
	for name := strings.TrimPrefix(path, "$."); name != ""; {
		if r := indexed().rows[name]; r != nil && r.under != "" {
			return "$." + r.under
		}
		name = name[:max(strings.LastIndexAny(name, ".["), 0)]
	}
	return ""
}

// vital reports whether a problem with the value at a path of the contract is fatal: it is if the value is translated to a vital
// one, or to one that contains a vital one.
func vital(path string) bool {
	name := strings.TrimPrefix(path, "$.")
	for prefix := name; ; {
		if r, ok := indexed().rows[prefix]; ok {
			return goesToVital(r)
		}
		cut := strings.LastIndexAny(prefix, ".[")
		if cut <= 0 {
			break
		}
		prefix = prefix[:cut]
	}
	for i := range fields {
		if strings.HasPrefix(fields[i].field, name+".") && goesToVital(&fields[i]) {
			return true
		}
	}
	return false
}

func goesToVital(r *row) bool { return slices.ContainsFunc(r.to, nodeconfig.Vital) }

// withoutPlace warns of every field that is set and has no path in NodeConfig, so that the author does not expect an effect.
func (t *translation) withoutPlace() {
	for i := range fields {
		// A field below one that is off has no effect, and a number 0 or an empty string needs no warning.
		if r := &fields[i]; r.kind != "" && isSet(t.in, r) && r.under == "" && !r.quiet(t.in) {
			t.Report(false, r.kind, "$."+r.field, r.why)
		}
	}
}

// without warns of a message's fields that have an effect only together with others that are missing: of all fields, or of those
// for which meant returns true.
func (t *translation) without(message any, path string, meant func(name string) bool, because string) {
	v := reflect.Indirect(reflect.ValueOf(message))
	if !v.IsValid() {
		return
	}
	for i := range v.NumField() {
		if !says(v.Field(i)) {
			continue
		}
		if name, _ := aksnodeconfig.Names(v.Type().Field(i)); meant == nil || meant(name) {
			t.Warn(nodeconfig.NotApplied, document.FieldPath(path, name), "is not applied, because %s", because)
		}
	}
}

func isOneOf(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

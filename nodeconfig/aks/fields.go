package aks

import (
	"reflect"
	"strings"

	"github.com/slipway-dev/slipway/internal/aksnodeconfig"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// translated lists the contract's fields that this version translates, each with the place in
// NodeConfig that it goes to; a message stands for all its fields. A test holds that exactly these
// fields change the result.
var translated = map[string]string{
	"version":            "$.apiVersion",
	"kubernetes_version": "$.cluster.kubernetesVersion",
	"kubernetes_ca_cert": "$.cluster.certificateAuthority",
	"vm_size":            "$.cloud.instanceType",
	"is_vhd":             "$.components.preinstalled",
	"needs_cgroupv2":     "$.runtime.cgroupDriver",
	"pre_provision_only": "$.join.method",
	"cse_timeout":        "$.checks.timeout",
	"enabled_features":   "$.components.features",

	"kube_binary_config.pod_infra_container_image_url": "$.runtime.sandboxImage",

	"custom_cloud_config.custom_cloud_env_name":         "$.cloud.azure.environment",
	"custom_cloud_config.custom_env_json_content":       "$.cloud.azure.custom.endpoints",
	"custom_cloud_config.container_registry_dns_suffix": "$.cloud.azure.custom.registryDNSSuffix",

	"api_server_config.api_server_name":       "$.cluster.server",
	"api_server_config.api_server_public_key": "$.cluster.serverCertificate",

	"bootstrapping_config.bootstrapping_auth_method": "$.join.attested",
	"bootstrapping_config.tls_bootstrapping_token":   "$.join.bootstrapToken",

	"auth_config.tenant_id":                      "$.cloud.azure.tenantID",
	"auth_config.subscription_id":                "$.cloud.azure.subscriptionID",
	"auth_config.service_principal_id":           "$.cloud.azure.identity.clientID",
	"auth_config.service_principal_secret":       "$.cloud.azure.identity.clientSecret",
	"auth_config.assigned_identity_id":           "$.cloud.azure.identity.userAssignedID",
	"auth_config.use_managed_identity_extension": "$.cloud.azure.identity.managed",

	"cluster_config.resource_group":                             "$.cloud.azure.resourceGroup",
	"cluster_config.location":                                   "$.cloud.azure.location",
	"cluster_config.vm_type":                                    "$.cloud.azure.vmType",
	"cluster_config.primary_availability_set":                   "$.cloud.azure.primaryAvailabilitySetName",
	"cluster_config.primary_scale_set":                          "$.cloud.azure.primaryScaleSetName",
	"cluster_config.use_instance_metadata":                      "$.cloud.azure.useInstanceMetadata",
	"cluster_config.cluster_network_config.vnet_name":           "$.cloud.azure.vnet",
	"cluster_config.cluster_network_config.vnet_resource_group": "$.cloud.azure.vnetResourceGroup",
	"cluster_config.cluster_network_config.subnet":              "$.cloud.azure.subnet",
	"cluster_config.cluster_network_config.security_group_name": "$.cloud.azure.securityGroup",
	"cluster_config.cluster_network_config.route_table":         "$.cloud.azure.routeTable",

	"cluster_config.load_balancer_config.load_balancer_sku":                          "$.cloud.azure.loadBalancer.sku",
	"cluster_config.load_balancer_config.exclude_master_from_standard_load_balancer": "$.cloud.azure.loadBalancer.excludeMaster",
	"cluster_config.load_balancer_config.max_load_balancer_rule_count":               "$.cloud.azure.loadBalancer.maxRules",
	"cluster_config.load_balancer_config.disable_outbound_snat":                      "$.cloud.azure.loadBalancer.disableOutboundSNAT",

	"cluster_config.cloud_provider_config.backoff":                 "$.cloud.azure.backoff.enabled",
	"cluster_config.cloud_provider_config.backoff_mode":            "$.cloud.azure.backoff.mode",
	"cluster_config.cloud_provider_config.backoff_retries":         "$.cloud.azure.backoff.retries",
	"cluster_config.cloud_provider_config.backoff_exponent":        "$.cloud.azure.backoff.exponent",
	"cluster_config.cloud_provider_config.backoff_duration":        "$.cloud.azure.backoff.duration",
	"cluster_config.cloud_provider_config.backoff_jitter":          "$.cloud.azure.backoff.jitter",
	"cluster_config.cloud_provider_config.rate_limit":              "$.cloud.azure.rateLimit.enabled",
	"cluster_config.cloud_provider_config.rate_limit_qps":          "$.cloud.azure.rateLimit.qps",
	"cluster_config.cloud_provider_config.rate_limit_qps_write":    "$.cloud.azure.rateLimit.qpsWrite",
	"cluster_config.cloud_provider_config.rate_limit_bucket":       "$.cloud.azure.rateLimit.bucket",
	"cluster_config.cloud_provider_config.rate_limit_bucket_write": "$.cloud.azure.rateLimit.bucketWrite",

	"kubelet_config.kubelet_flags":               "$.kubelet.flags",
	"kubelet_config.kubelet_node_labels":         "$.kubelet.labels",
	"kubelet_config.enable_kubelet_config_file":  "$.kubelet.config",
	"kubelet_config.kubelet_config_file_config":  "$.kubelet.config",
	"kubelet_config.kubelet_client_key":          "$.join.clientCertificate.key",
	"kubelet_config.kubelet_client_cert_content": "$.join.clientCertificate.certificate",
	"kubelet_config.container_data_dir":          "$.runtime.containerd.dataDir",

	"network_config.network_plugin": "$.network.plugin",
	"network_config.network_policy": "$.network.policy",

	"custom_linux_os_config.sysctl_config": "$.system.sysctls",
	"custom_linux_os_config.ulimit_config": "$.runtime.containerd.limits",
}

// inert lists the fields that change nothing on a node under AKS either.
var inert = map[string]bool{
	"provision_output":                         true,
	"workload_runtime":                         true,
	"disable_custom_data":                      true,
	"private_egress_proxy_address":             true,
	"bootstrapping_config.cluster_join_method": true,
	"network_config.cni_plugins_url":           true,
	"gpu_config.enable_amd_gpu":                true,
}

// fieldOrigins is translated, the other way round; the fields that are translated to several places
// or as parts of one add theirs as they go.
var fieldOrigins = func() map[string]string {
	origins := make(map[string]string, len(translated))
	for from, to := range translated {
		if other, taken := origins[to]; !taken || "$."+from > other {
			origins[to] = "$." + from
		}
	}
	return origins
}()

// vital reports whether a problem with the value at a path of the contract is fatal, which it is where the value is
// translated to one that is vital, or has such a one within.
func vital(path string) bool {
	name := strings.TrimPrefix(path, "$.")
	for prefix := name; ; {
		if to, ok := translated[prefix]; ok {
			return nodeconfig.Vital(to)
		}
		cut := strings.LastIndexAny(prefix, ".[")
		if cut <= 0 {
			break
		}
		prefix = prefix[:cut]
	}
	for from, to := range translated {
		if strings.HasPrefix(from, name+".") && nodeconfig.Vital(to) {
			return true
		}
	}
	return false
}

// untranslated warns of every field that is set and not translated, so that nobody waits for what
// will not happen.
func (t *translation) untranslated(message reflect.Value, at, name string) {
	for i := range message.NumField() {
		field := message.Field(i)
		if field.IsZero() || (field.Kind() == reflect.Slice || field.Kind() == reflect.Map) && field.Len() == 0 {
			continue
		}
		own := aksnodeconfig.FieldNames(message.Type().Field(i))[0]
		path, full := document.FieldPath(at, own), strings.TrimPrefix(name+"."+own, ".")
		switch {
		case translated[full] != "":
		case inert[full]:
			t.warn(nodeconfig.NoEffect, path, "has no effect; AKS's own scripts do not read it either")
		case field.Kind() == reflect.Pointer && field.Elem().Kind() == reflect.Struct:
			t.untranslated(field.Elem(), path, full)
		default:
			t.warn(nodeconfig.NotApplied, path, "is not applied by this version")
		}
	}
}

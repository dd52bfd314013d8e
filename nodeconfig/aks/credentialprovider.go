package aks

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/aksnodeconfig"
	"github.com/slipway-dev/slipway/internal/akstext"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

const (
	providerConfig = "$.kubelet.imageCredentialProvider.config"
	providerPath   = providerConfig + ".providers[0]"
	suffixField    = "$.custom_cloud_config.container_registry_dns_suffix"
	registryField  = "$.bootstrap_profile_container_registry_server"
	pullPath       = "$.service_account_image_pull_profile"
)

// given is a value of the provider's configuration, and the field from which it comes. from may be empty.
type given struct{ value, from string }

// credentialProvider configures Azure's provider if both flags ask for one, as in AKS (AKS: writeCredentialProviderConfig).
func (t *translation) credentialProvider(binDir, configFile string) {
	pull := deref(t.in.ServiceAccountImagePullProfile)
	if binDir == "" || configFile == "" {
		if binDir != "" || configFile != "" {
			t.Warn(nodeconfig.NotApplied, flagsPath, "has only one of --image-credential-provider-bin-dir and --image-credential-provider-config; no provider is configured")
		}
		if pull.Enabled {
			t.Warn(nodeconfig.NotApplied, pullPath+".enabled", "is not applied, because no image credential provider is configured")
		}
		return
	}
	family := profile.Named(nodeconfig.LayoutAKS)
	var images []given
	for _, image := range akstext.Registries() {
		images = append(images, given{value: image.(string)})
	}
	args := []given{{value: family.Paths.CloudConfig}}
	if suffix := deref(t.in.CustomCloudConfig).ContainerRegistryDnsSuffix; suffix != "" {
		images = append(images, given{"*" + suffix, suffixField})
	}
	if own := strings.TrimRight(t.in.BootstrapProfileContainerRegistryServer, "/"); own != "" {
		system := family.Runtime.Registry
		images = append(images, given{system, registryField})
		args = append(args, given{"--registry-mirror=" + system + ":" + own, registryField})
	}
	bound := pull.Enabled && t.bindable(&pull)
	if bound {
		args = append(args, t.identityBinding(&pull)...)
	}
	config := akstext.CredentialProvider(t.listOf(images, providerPath+".matchImages"), t.listOf(args, providerPath+".args"), bound)
	if bound {
		t.moved(at(providerPath+".tokenAttributes"), at(pullPath+".enabled"))
		for name := range config["providers"].([]any)[0].(map[string]any)["tokenAttributes"].(map[string]any) {
			t.moved(at(providerPath+".tokenAttributes."+name), at(pullPath+".enabled"))
		}
	}
	t.out.Kubelet.ImageCredentialProvider = &nodeconfig.ImageCredentialProvider{BinDir: binDir, ConfigFile: configFile, Config: config}
}

// bindable reports whether the provider can pull with a pod's identity: it needs the name of a server that issues the identity's
// tokens. It refuses a URL. Without a name it refuses a default identity and knows no other (Azure/cloud-provider-azure:
// ParseIdentityBindingsConfig). Then images would be pulled with the node's identity, against the contract.
func (t *translation) bindable(pull *aksnodeconfig.ServiceAccountImagePullProfile) bool {
	why := ""
	switch sni := pull.LocalAuthoritySni; {
	case sni == "":
		why = "local_authority_sni is missing"
	case strings.Contains(sni, "://"):
		why = "local_authority_sni is a URL, and not the name of a server"
	default:
		return true
	}
	t.Fatal(nodeconfig.NotApplied, pullPath+".enabled", "is not applied, because %s: images would be pulled with the node's identity, and not with the pod's", why)
	return false
}

// identityBinding are the arguments with which the provider pulls with a pod's identity, in the order of AKS's scripts.
func (t *translation) identityBinding(pull *aksnodeconfig.ServiceAccountImagePullProfile) []given {
	args := []given{{"--ib-sni-name=" + pull.LocalAuthoritySni, pullPath + ".local_authority_sni"}}
	if id := pull.DefaultClientId; id != "" {
		args = append(args, given{"--ib-default-client-id=" + id, pullPath + ".default_client_id"})
	}
	if id := pull.DefaultTenantId; id != "" {
		args = append(args, given{"--ib-default-tenant-id=" + id, pullPath + ".default_tenant_id"})
	}
	return append(args, given{"--ib-apiserver-ip=" + deref(t.in.ApiServerConfig).ApiServerName, "$.api_server_config.api_server_name"})
}

// listOf returns values as a list at a path, and records each value's field.
func (t *translation) listOf(values []given, path string) []any {
	list := make([]any, len(values))
	for i, v := range values {
		if list[i] = v.value; v.from != "" {
			t.moved(item(path, i), at(v.from))
		}
	}
	return list
}

package aks

import (
	"strings"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// artifacts translates where components may be fetched. Of several places for one the first counts, in the order of
// AKS's scripts.
func (t *translation) artifacts() {
	kubernetes, network := deref(t.in.KubeBinaryConfig), deref(t.in.NetworkConfig)
	for _, a := range []struct {
		name   string
		places []source
	}{
		{"kubernetes", []source{
			{"$.kube_binary_config.custom_kube_binary_url", kubernetes.CustomKubeBinaryUrl},
			{"$.kube_binary_config.private_kube_binary_url", kubernetes.PrivateKubeBinaryUrl},
			{"$.kube_binary_config.kube_binary_url", kubernetes.KubeBinaryUrl},
		}},
		{"credential-provider", []source{{"$.kube_binary_config.linux_credential_provider_url", kubernetes.LinuxCredentialProviderUrl}}},
		{"runc", []source{{"$.runc_config.runc_package_url", deref(t.in.RuncConfig).RuncPackageUrl}}},
		{"containerd", []source{{"$.containerd_config.containerd_package_url", deref(t.in.ContainerdConfig).ContainerdPackageUrl}}},
		{"azure-cni", []source{{"$.network_config.vnet_cni_plugins_url", network.VnetCniPluginsUrl}}},
		{"bootstrap-client", []source{{"$.bootstrapping_config.secure_tls_bootstrapping_custom_client_download_url",
			deref(deref(t.in.BootstrappingConfig).SecureTlsBootstrappingCustomClientDownloadUrl)}}},
	} {
		t.artifact(a.name, a.places)
	}
}

// source is a field of the contract that says where a component is, and its value.
type source struct{ path, url string }

func (t *translation) artifact(name string, places []source) {
	var from string
	for _, s := range places {
		switch {
		case s.url == "":
		case from != "":
			t.warn(nodeconfig.Dropped, s.path, "is left out, because %s comes before it", strings.TrimPrefix(from, "$."))
		case name == "azure-cni" && !strings.Contains(s.url, "://"):
			from = s.path
			t.warn(nodeconfig.Dropped, s.path, "is left out, because it is no URL, whose last name would say which package of the image is used")
		case !strings.Contains(s.url, "://"): // a reference to an image, which has no scheme
			from = s.path
			t.warn(nodeconfig.NotApplied, s.path, "is not applied by this version")
		default:
			from = s.path
			if t.out.Components.Artifacts == nil {
				t.out.Components.Artifacts = make(map[string]nodeconfig.Artifact)
			}
			t.out.Components.Artifacts[name] = nodeconfig.Artifact{URL: s.url}
			t.moved(entry(entry("$.components.artifacts", name).String(), "url"), at(s.path))
		}
	}
}

package aks

import (
	"path"
	"strings"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// privatePackages is where an image has Kubernetes' archives that are called by the last name of a private URL (AKS:
// K8S_PRIVATE_PACKAGES_CACHE_DIR).
const privatePackages = "/opt/kubernetes/downloads/private-packages/"

// artifacts translates where components may be fetched.
func (t *translation) artifacts() {
	t.kubernetesArtifact()
	kubernetes, network := deref(t.in.KubeBinaryConfig), deref(t.in.NetworkConfig)
	t.artifact("credential-provider", "$.kube_binary_config.linux_credential_provider_url", kubernetes.LinuxCredentialProviderUrl)
	t.artifact("runc", "$.runc_config.runc_package_url", deref(t.in.RuncConfig).RuncPackageUrl)
	t.artifact("containerd", "$.containerd_config.containerd_package_url", deref(t.in.ContainerdConfig).ContainerdPackageUrl)
	// They are meant to be other builds of what the image has (AKS: installStandaloneContainerd).
	t.force("runc")
	t.force("containerd")
	if url := network.VnetCniPluginsUrl; url != "" && !strings.Contains(url, "://") {
		t.Warn(nodeconfig.Dropped, "$.network_config.vnet_cni_plugins_url", "is left out, because it is no URL, whose last name would say which package of the image is used")
	} else {
		t.artifact("azure-cni", "$.network_config.vnet_cni_plugins_url", url)
	}
	client := deref(deref(t.in.BootstrappingConfig).SecureTlsBootstrappingCustomClientDownloadUrl)
	t.artifact("bootstrap-client", "$.bootstrapping_config.secure_tls_bootstrapping_custom_client_download_url", client)
	t.force("bootstrap-client")
}

// kubernetesArtifact is where the kubelet comes from. A custom place is used whatever the image has; a private one names a file of
// the image, and what is not there is taken from the usual place (AKS: installKubeletKubectlFromURL).
func (t *translation) kubernetesArtifact() {
	const section, name = "$.kube_binary_config.", "kubernetes"
	in := deref(t.in.KubeBinaryConfig)
	if in.CustomKubeBinaryUrl != "" {
		t.artifact(name, section+"custom_kube_binary_url", in.CustomKubeBinaryUrl)
		t.force(name)
		for _, other := range []struct{ field, url string }{
			{"private_kube_binary_url", in.PrivateKubeBinaryUrl}, {"kube_binary_url", in.KubeBinaryUrl},
		} {
			if other.url != "" {
				t.Warn(nodeconfig.Dropped, section+other.field, "is left out, because kube_binary_config.custom_kube_binary_url comes before it")
			}
		}
		return
	}
	t.artifact(name, section+"kube_binary_url", in.KubeBinaryUrl)
	if in.PrivateKubeBinaryUrl != "" {
		a := t.out.Components.Artifacts[name]
		a.File = privatePackages + path.Base(in.PrivateKubeBinaryUrl)
		t.setArtifact(name, a)
		t.moved(entry(entry("$.components.artifacts", name).String(), "file"), at(section+"private_kube_binary_url"))
	}
}

// artifact translates one place.
func (t *translation) artifact(name, field, url string) {
	if url == "" {
		return
	}
	t.setArtifact(name, nodeconfig.Artifact{URL: url})
	t.moved(entry(entry("$.components.artifacts", name).String(), "url"), at(field))
}

// force has an artifact fetched whatever the image has, if it has a place.
func (t *translation) force(name string) {
	if a, ok := t.out.Components.Artifacts[name]; ok {
		a.Force = true
		t.setArtifact(name, a)
	}
}

func (t *translation) setArtifact(name string, a nodeconfig.Artifact) {
	if t.out.Components.Artifacts == nil {
		t.out.Components.Artifacts = make(map[string]nodeconfig.Artifact)
	}
	t.out.Components.Artifacts[name] = a
}

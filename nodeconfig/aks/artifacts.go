package aks

import (
	"path"
	"strings"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// privatePackages is an image's directory for Kubernetes' archives; their file names are the last part of a private URL (AKS:
// K8S_PRIVATE_PACKAGES_CACHE_DIR).
const privatePackages = "/opt/kubernetes/downloads/private-packages/"

// artifacts translates the URLs of components.
func (t *translation) artifacts() {
	t.kubernetesArtifact()
	kubernetes, network := deref(t.in.KubeBinaryConfig), deref(t.in.NetworkConfig)
	t.artifact("credential-provider", "$.kube_binary_config.linux_credential_provider_url", kubernetes.LinuxCredentialProviderUrl)
	t.artifact("runc", "$.runc_config.runc_package_url", deref(t.in.RuncConfig).RuncPackageUrl)
	t.artifact("containerd", "$.containerd_config.containerd_package_url", deref(t.in.ContainerdConfig).ContainerdPackageUrl)
	// They are meant to replace the image's builds (AKS: installStandaloneContainerd).
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

// kubernetesArtifact is the source of the kubelet. A custom URL is used even if the image has a kubelet. A private one names a file
// of the image; if the file is missing, the usual URL is used (AKS: installKubeletKubectlFromURL).
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

// artifact translates one URL.
func (t *translation) artifact(name, field, url string) {
	if url == "" {
		return
	}
	t.setArtifact(name, nodeconfig.Artifact{URL: url})
	t.moved(entry(entry("$.components.artifacts", name).String(), "url"), at(field))
}

// force makes an artifact replace the image's, if it has a URL.
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

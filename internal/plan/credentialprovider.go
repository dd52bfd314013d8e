package plan

import (
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

const providerPath = "$.kubelet.imageCredentialProvider"

// imageCredentialProvider writes the configuration of the kubelet's image credential provider. One
// without a configuration in the contract is configured by a file of the image's.
var imageCredentialProvider = concern{
	name:     "image credential provider",
	joins:    true,
	reads:    []string{providerPath},
	declines: []string{"$.cloud.azure.custom.registryDNSSuffix"},
	plan:     planImageCredentialProvider,
}

func planImageCredentialProvider(in *input, out *output) {
	provider := in.config.Kubelet.ImageCredentialProvider
	// A provider's configuration names the registries itself; AKS's does so for this one too.
	if a := in.config.Cloud.Azure; a != nil && a.Custom != nil && a.Custom.RegistryDNSSuffix != "" && !providerNames(provider, "*"+a.Custom.RegistryDNSSuffix) {
		out.warn(nodeconfig.NotApplied, "$.cloud.azure.custom.registryDNSSuffix",
			"is not applied: a provider's matchImages in kubelet.imageCredentialProvider.config names these registries, and none does")
	}
	switch {
	case provider == nil:
	case provider.Config == nil && provider.ConfigFile == "":
		out.warn(nodeconfig.Missing, providerPath+".config", "is missing, and so is configFile: no provider is configured")
	case provider.Config != nil:
		if in.misplaced != "" {
			out.warn(nodeconfig.Invalid, providerPath+".configFile", "%s; the default path is used", in.misplaced)
		}
		plain, secret := nodeconfig.Revealed(provider.Config)
		out.guarded(secret, resource.Join, in.credentialConfig, 0o644, yamlFile(document.Of(plain)), "credentials for image registries", kubeletUnit)
		if in.credentialConfig == provider.ConfigFile {
			out.askedBy(providerPath + ".configFile")
		}
	}
}

// credentialConfig returns where the image credential provider's configuration is, empty for none, and why that is not
// where the contract wants it.
func credentialConfig(k nodeconfig.Kubelet, l *profile.Paths) (place, misplaced string) {
	provider := k.ImageCredentialProvider
	switch {
	case provider == nil:
		return "", ""
	case provider.Config == nil: // it is the image's
		return provider.ConfigFile, ""
	case provider.ConfigFile == "":
		return l.CredentialConfig, ""
	}
	if reason := unplaceable(provider.ConfigFile, k, l); reason != "" {
		return l.CredentialConfig, reason
	}
	return provider.ConfigFile, ""
}

// unplaceable returns why the credential provider's file cannot be where the contract wants it, or "". That
// the place is meant for it has been validated; another file of this node may be there.
func unplaceable(name string, k nodeconfig.Kubelet, l *profile.Paths) string {
	if reason := place.CredentialProviderConfig.Check(name); reason != "" {
		return reason
	}
	for _, other := range l.Files() {
		if overlap(name, other) {
			return "is the path of another file of the node"
		}
	}
	for _, dir := range l.Directories() {
		if name == dir || strings.HasPrefix(dir, name+"/") {
			return "is a directory of the node"
		}
	}
	for _, dir := range []string{ // where this kubelet runs what it finds, or keeps what is its own
		kubeletSetting(k, "pod-manifest-path", "staticPodPath", l.Manifests),
		kubeletSetting(k, "volume-plugin-dir", "volumePluginDir", l.VolumePlugins),
		kubeletSetting(k, "cert-dir", "", kubeletCertDir),
	} {
		if overlap(name, path.Clean(dir)) {
			return "is in a directory that the kubelet manages"
		}
	}
	return ""
}

// overlap reports whether two paths are one, or one is below the other.
func overlap(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// providerNames reports whether an image credential provider is configured for images that match a pattern.
func providerNames(p *nodeconfig.ImageCredentialProvider, pattern string) bool {
	if p == nil {
		return false
	}
	providers, _ := p.Config["providers"].([]any)
	for _, provider := range providers {
		fields, _ := provider.(map[string]any)
		images, _ := fields["matchImages"].([]any)
		if slices.Contains(images, any(pattern)) {
			return true
		}
	}
	return false
}

package kubelet

import (
	"path"
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/plan/textfile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// imageCredentialProvider writes the configuration of the kubelet's image credential provider. One
// without a configuration in the contract is configured by a file of the image's.
var imageCredentialProvider = concern.Concern{
	Name:     "image credential provider",
	Joins:    true,
	Reads:    []string{setting.AWSFIPS, setting.ImageCredentialProvider},
	Declines: []string{"$.cloud.azure.custom.registryDNSSuffix"},
	Plan:     planImageCredentialProvider,
}

func planImageCredentialProvider(in *concern.Input, out *concern.Output) {
	provider := in.Config.Kubelet.ImageCredentialProvider
	at, misplaced := credentialConfig(in)
	// A provider's configuration names the registries itself; AKS's does so for this one too.
	if a := in.Config.Cloud.Azure; a != nil && a.Custom != nil && a.Custom.RegistryDNSSuffix != "" && !providerNames(provider, "*"+a.Custom.RegistryDNSSuffix) {
		out.Warn(nodeconfig.NotApplied, "$.cloud.azure.custom.registryDNSSuffix",
			"is not applied: a provider's matchImages in kubelet.imageCredentialProvider.config names these registries, and none does")
	}
	own := &in.Family.Kubelet.ImageProvider
	switch _, needed := in.FamilyProvider(); {
	case needed:
		out.Fatal(nodeconfig.NotInstalled, setting.ImageCredentialProvider, "the machine's image has no %s, without which the kubelet pulls no image from Amazon's registries: "+
			"use an image that has it, such as %s, name its URL in components.artifacts.%s, or name another provider in kubelet.imageCredentialProvider", own.Name, own.Holders, concern.ProviderName)
	case provider == nil:
	case provider.Config == nil && provider.ConfigFile == "":
		out.Warn(nodeconfig.Missing, setting.ImageCredentialProvider+".config", "is missing, and so is configFile: no provider is configured")
	case provider.Config != nil:
		if misplaced != "" {
			out.Warn(nodeconfig.Invalid, setting.ImageCredentialProvider+".configFile", "%s; the default path is used", misplaced)
		}
		plain, secret := nodeconfig.Revealed(provider.Config)
		content := textfile.YAML(document.Of(plain))
		if path.Ext(at) == ".json" {
			content = textfile.JSON(plain)
		}
		out.Guarded(secret, resource.Join, at, 0o644, content, "credentials for image registries", concern.KubeletUnit)
		if at == provider.ConfigFile {
			out.AskedBy(setting.ImageCredentialProvider + ".configFile")
		}
	}
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

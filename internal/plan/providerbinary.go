package plan

import (
	"strconv"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// providerName is the artifact of the image credential provider, and packagedProvider what its package and its program are called.
const (
	providerName     = "credential-provider"
	packagedProvider = "azure-acr-credential-provider"
)

// providerProgram is what the kubelet's configuration calls the provider (AKS: CREDENTIAL_PROVIDER_BIN_DIR, acr-credential-provider).
const providerProgram = "acr-credential-provider"

// providerBinary brings the image credential provider, where the contract configures one: out of the image's package, from the
// contract's URL, or from the registry of an isolated cluster. Otherwise the image's own is used.
var providerBinary = concern{
	name:  "image credential provider's program",
	joins: true,
	reads: append(artifactReads(providerName), RegistryPath, providerPath),
	plan:  planProviderBinary,
}

func planProviderBinary(in *input, out *output) {
	provider, artifact := in.config.Kubelet.ImageCredentialProvider, in.config.Components.Artifacts[providerName]
	if provider == nil || provider.BinDir == "" {
		if len(places(artifact)) > 0 {
			out.warn(nodeconfig.NoEffect, artifactPath(providerName, "url"), "has no effect, because the contract configures no image credential provider with a directory")
		}
		return
	}
	d := &resource.Download{
		Component: providerName, From: places(artifact), SHA256: artifact.SHA256,
		Files: []resource.Unpacked{{Name: providerProgram, Members: []string{packagedProvider, "usr/bin/" + packagedProvider, "usr/local/bin/" + packagedProvider, providerProgram}}},
	}
	code := exitcode.ProviderDownloadFailed
	if !artifact.Force && in.family.Host.CNIPackages {
		version := in.config.Cluster.KubernetesVersion
		if packages := providerPackages(in); len(packages) > 0 {
			d.From = append(packages, d.From...)
		} else if registry := in.config.Components.Registry; registry != "" && version != "" {
			d.From = append([]string{registry + registryPackages + packagedProvider + ":v" + version}, d.From...)
			d.OSVersion, d.Identity, d.ExitCodes, code = osVersion(in), registryIdentity(in), registryCodes, exitcode.RegistryProviderFailed
		}
	}
	if len(d.From) == 0 {
		return
	}
	out.download(in, code, sourced("it gets the credentials for the registries of images", "AKS: installCredentialProvider"), d)
	out.program(d, providerProgram, provider.BinDir+"/"+providerProgram, "the kubelet runs it for images of the registries that it knows", kubeletUnit)
}

// providerPackages are the image's packages of the provider, which follows Kubernetes' minor version.
func providerPackages(in *input) []string {
	if in.minor == newest {
		return nil
	}
	return packagesFor(in, packagedProvider, "1."+strconv.Itoa(in.minor))
}

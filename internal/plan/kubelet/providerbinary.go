package kubelet

import (
	"path"
	"strconv"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// providerBinary brings the image credential provider, where the contract configures one: out of the image's package, from the
// contract's URL, or from the registry of an isolated cluster. Otherwise the image's own is used.
var providerBinary = concern.Concern{
	Name:  "image credential provider's program",
	Joins: true,
	Reads: []string{setting.Artifact(concern.ProviderName), setting.ComponentsRegistry, setting.ImageCredentialProvider},
	Plan:  planProviderBinary,
}

func planProviderBinary(in *concern.Input, out *concern.Output) {
	provider, artifact := in.Config.Kubelet.ImageCredentialProvider, in.Config.Components.Artifacts[concern.ProviderName]
	program := providerProgram(provider)
	if program == "" {
		return // a sender may name its URL in every contract, also if the node has no provider
	}
	members := []string{program, "*/" + program, "usr/bin/" + program}
	packaged := in.Family.Components.Provider
	if packaged != "" {
		members = append(members, packaged, "*/"+packaged, "usr/bin/"+packaged, "usr/local/bin/"+packaged)
	}
	d := &resource.Download{
		Component: concern.ProviderName, From: concern.Places(artifact), SHA256: artifact.SHA256,
		Files: []resource.Unpacked{{Name: program, Members: members}},
	}
	code := exitcode.ProviderDownloadFailed
	if !artifact.Force && packaged != "" && in.Minor != concern.Newest {
		// Its minor version is Kubernetes' minor version; its patch versions differ.
		packages := packagesFor(in, packaged, "1."+strconv.Itoa(in.Minor))
		registry := in.Config.Components.Registry
		switch {
		case len(packages) > 0:
			d.From = append(packages, d.From...)
		case registry != "":
			d.From = append([]string{registry + "/" + in.Family.Components.RegistryPackages + "/" + packaged + ":v" + in.Config.Cluster.KubernetesVersion}, d.From...)
			d.OSVersion, d.ExitCodes, code = osVersion(in), concern.RegistryCodes, exitcode.RegistryProviderFailed
		}
	}
	if len(d.From) == 0 {
		if at := concern.ProgramOf(in.Facts, program); path.IsAbs(at) && path.Dir(at) != provider.BinDir {
			out.Warn(nodeconfig.NotInstalled, setting.ImageCredentialProvider+".binDir", "the machine's image has the provider's program at %s; if it is not in this directory too, the kubelet does not start", at)
		}
		return
	}
	out.Download(code, "it gets the credentials for the registries of images", d)
	out.Program(d, program, provider.BinDir+"/"+program, "the kubelet runs it for images of the registries that it knows", concern.KubeletUnit)
}

// providerProgram returns the name of the first provider in a configuration, which is its program's name, or "".
func providerProgram(p *nodeconfig.ImageCredentialProvider) string {
	if p == nil || p.BinDir == "" {
		return ""
	}
	plain, _ := nodeconfig.Revealed(p.Config)
	providers, _ := plain["providers"].([]any)
	if len(providers) == 0 {
		return ""
	}
	fields, _ := providers[0].(map[string]any)
	name, _ := fields["name"].(string)
	if !resource.PlainName(name) {
		return ""
	}
	return name
}

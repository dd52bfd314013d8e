package concern

import (
	"path"
	"slices"

	"github.com/slipway-dev/slipway/internal/awsname"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// providerFlags are those by which a contract can name an image credential provider, too.
var providerFlags = []string{"image-credential-provider-bin-dir", "image-credential-provider-config"}

// FamilyProvider is the path of the family's image credential provider: where the contract brings it, where the image has
// it, or, if nothing is known of the image, where it would be. It is empty if the image has none. needed reports whether the node
// needs that provider: its kubelet does not know the cloud's registries itself, and its contract names no other provider.
func (in *Input) FamilyProvider() (program string, needed bool) {
	provider, k := &in.Family.Kubelet.ImageProvider, &in.Config.Kubelet
	if provider.Name == "" || in.Minor < provider.Since || k.ImageCredentialProvider != nil ||
		slices.ContainsFunc(k.Flags, func(f nodeconfig.Flag) bool { return slices.Contains(providerFlags, f.Name) }) {
		return "", false
	}
	usual := path.Join(path.Dir(in.Family.Paths.CredentialConfig), provider.Name)
	if i := slices.IndexFunc(in.Distro.Programs.Credentials, func(at string) bool { return path.Base(at) == provider.Name }); i >= 0 {
		usual = in.Distro.Programs.Credentials[i]
	}
	if len(Places(in.Config.Components.Artifacts[ProviderName])) > 0 {
		return usual, true
	}
	return ProgramOf(in.Facts, usual), true
}

// withFamilyProvider is the config with that provider.
func (in *Input) withFamilyProvider() *nodeconfig.NodeConfig {
	program := in.ImageProvider
	if program == "" {
		return in.Config
	}
	provider := &in.Family.Kubelet.ImageProvider
	var images []any
	for _, pattern := range provider.Patterns(in.Minor) {
		images = append(images, pattern)
	}
	own := map[string]any{
		"name": path.Base(program), "matchImages": images, "defaultCacheDuration": "12h0m0s", "apiVersion": "credentialprovider.kubelet.k8s.io/v1",
	}
	if in.UsesFIPS() {
		own["env"] = []any{map[string]any{"name": awsname.FIPSVariable, "value": "true"}}
	}
	config := *in.Config
	config.Kubelet.ImageCredentialProvider = &nodeconfig.ImageCredentialProvider{
		BinDir: path.Dir(program),
		Config: map[string]any{
			"apiVersion": "kubelet.config.k8s.io/v1",
			"kind":       "CredentialProviderConfig",
			"providers":  []any{own},
		},
	}
	return &config
}

package plan

import (
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// credentialConfig returns where the image credential provider's configuration is, empty for none, and why that is not
// where the contract wants it.
func credentialConfig(in *input) (at, misplaced string) {
	k, l := in.config.Kubelet, &in.family.Paths
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

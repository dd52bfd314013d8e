package kubelet

import (
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// credentialConfig returns the path of the image credential provider's configuration, or "". misplaced is the
// reason why that path differs from the contract's.
func credentialConfig(in *concern.Input) (at, misplaced string) {
	k, l := in.Config.Kubelet, &in.Family.Paths
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
		kubeletsetting.Value(k, "pod-manifest-path", "staticPodPath", l.Manifests),
		kubeletsetting.Value(k, "volume-plugin-dir", "volumePluginDir", l.VolumePlugins),
		kubeletsetting.Value(k, "cert-dir", "", concern.KubeletCertDir),
	} {
		if overlap(name, path.Clean(dir)) {
			return "is in a directory that the kubelet manages"
		}
	}
	return ""
}

// overlap reports whether two paths are equal, or one is below the other.
func overlap(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

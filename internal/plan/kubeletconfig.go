package plan

import (
	"maps"
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// kubeletConfig writes the kubelet's configuration file. The contract's fields pass through as they
// are; what they do not say is Slipway's default, in a layout that has any.
func (p *planner) kubeletConfig() {
	p.checkKubeletConfig()
	config := p.config.Kubelet.Config
	if p.layout.kubeletDefaults {
		config = merge(p.defaultKubeletConfig(), config)
	}
	if config == nil {
		return
	}
	config = merge(map[string]any{
		"apiVersion": nodeconfig.KubeletConfigVersion,
		"kind":       nodeconfig.KubeletConfigKind,
	}, config)
	plain, secret := nodeconfig.Revealed(p.without(config))
	p.guarded(secret, resource.Join, p.layout.kubeletConfig, 0o600, jsonFile(plain), "the kubelet's configuration", kubeletUnit)
	p.file(resource.Join, kubeletDropIns+"10-componentconfig.conf", 0o644,
		unitFile("[Service]", `Environment="KUBELET_CONFIG_FILE_FLAGS=--config=`+p.layout.kubeletConfig+`"`),
		"part of the kubelet's command line (AKS: 10-componentconfig.conf)", kubeletUnit)
}

// defaultKubeletConfig is what kubeadm would write: only the API server and who it authorises may
// talk to the kubelet, and certificates renew themselves (kubeadm: componentconfigs, kubelet).
func (p *planner) defaultKubeletConfig() map[string]any {
	c := p.config
	config := map[string]any{
		"authentication": map[string]any{
			"anonymous": map[string]any{"enabled": false},
			"webhook":   map[string]any{"enabled": true},
			"x509":      map[string]any{"clientCAFile": p.layout.ca},
		},
		"authorization":      map[string]any{"mode": "Webhook"},
		"clusterDomain":      c.Cluster.DNSDomain,
		"cgroupDriver":       c.Runtime.CgroupDriver,
		"rotateCertificates": true,
		"staticPodPath":      p.layout.manifests,
	}
	if ips := c.Cluster.DNSServiceIPs; len(ips) > 0 {
		dns := make([]any, len(ips))
		for i, ip := range ips {
			dns[i] = ip
		}
		config["clusterDNS"] = dns
	}
	return config
}

// merge returns base with over laid on top of it: maps by field, everything else replaced. Neither
// argument is changed.
func merge(base, over map[string]any) map[string]any {
	merged := maps.Clone(base)
	for name, value := range over {
		below, isMap := merged[name].(map[string]any)
		if above, ok := value.(map[string]any); ok && isMap {
			value = merge(below, above)
		}
		merged[name] = value
	}
	return merged
}

// imageCredentialProvider writes the configuration of the kubelet's image credential provider. One
// without a configuration in the contract is configured by a file of the image's.
func (p *planner) imageCredentialProvider() {
	const at = "$.kubelet.imageCredentialProvider"
	provider := p.config.Kubelet.ImageCredentialProvider
	switch {
	case provider == nil:
	case provider.Config == nil && provider.ConfigFile == "":
		p.warn(nodeconfig.Missing, at+".config", "is missing, and so is configFile: no provider is configured")
	case provider.Config == nil:
		p.credentialConfig = provider.ConfigFile
	default:
		p.credentialConfig = p.layout.credentialConfig
		if wanted := provider.ConfigFile; wanted != "" {
			if reason := p.unplaceable(wanted); reason == "" {
				p.credentialConfig = wanted
			} else {
				p.warn(nodeconfig.Invalid, at+".configFile", "%s; the default path is used", reason)
			}
		}
		plain, secret := nodeconfig.Revealed(provider.Config)
		p.guarded(secret, resource.Join, p.credentialConfig, 0o644, yamlFile(plain), "credentials for image registries", kubeletUnit)
	}
}

// unplaceable returns why the credential provider's file cannot be where the contract wants it, or "". That
// the place is meant for it has been validated; another file of this node may be there.
func (p *planner) unplaceable(name string) string {
	if reason := place.CredentialProviderConfig.Check(name); reason != "" {
		return reason
	}
	for _, planned := range p.layout.files() {
		if overlap(name, planned) {
			return "is the path of another file of the node"
		}
	}
	for _, r := range p.plan.Resources {
		switch spec := r.Spec.(type) {
		case *resource.File, *resource.Symlink:
			if overlap(name, spec.Name()) {
				return "is the path of another file of the node"
			}
		case *resource.Directory:
			if name == spec.Path || strings.HasPrefix(spec.Path, name+"/") {
				return "is a directory of the node"
			}
		}
	}
	k := p.config.Kubelet
	for _, dir := range []string{ // where this kubelet runs what it finds, or keeps what is its own
		kubeletSetting(k, "pod-manifest-path", "staticPodPath", p.layout.manifests),
		kubeletSetting(k, "volume-plugin-dir", "volumePluginDir", p.layout.volumePlugins),
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

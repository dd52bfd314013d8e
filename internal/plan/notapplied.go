package plan

import (
	"maps"
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// unapplied are the settings that the contract can express and this planner does not apply yet. Each
// is warned of where it is set: nothing is dropped in silence.
var unapplied = []struct {
	path string
	set  func(*nodeconfig.NodeConfig) bool
}{
	{"$.access.adminUser", func(c *nodeconfig.NodeConfig) bool { return c.Access.AdminUser != "" }},
	{"$.access.messageOfTheDay", func(c *nodeconfig.NodeConfig) bool { return c.Access.MessageOfTheDay != "" }},
	{"$.access.realm", func(c *nodeconfig.NodeConfig) bool { return c.Access.Realm != nil }},
	{"$.access.ssh", func(c *nodeconfig.NodeConfig) bool { return c.Access.SSH != nodeconfig.SSH{} }},
	{"$.checks.outboundCommand", func(c *nodeconfig.NodeConfig) bool { return c.Checks.OutboundCommand != "" }},
	{"$.cloud.aws", func(c *nodeconfig.NodeConfig) bool { return c.Cloud.AWS != nil }},
	{"$.cloud.azure.backoff.exponent", func(c *nodeconfig.NodeConfig) bool { return backoffV2(c) && nonzero(c.Cloud.Azure.Backoff.Exponent) }},
	{"$.cloud.azure.backoff.jitter", func(c *nodeconfig.NodeConfig) bool { return backoffV2(c) && nonzero(c.Cloud.Azure.Backoff.Jitter) }},
	{"$.cloud.azure.custom.registryDNSSuffix", func(c *nodeconfig.NodeConfig) bool {
		// A provider's configuration names the registries itself; AKS's does so for this one too.
		return c.Cloud.Azure != nil && c.Cloud.Azure.Custom != nil && c.Cloud.Azure.Custom.RegistryDNSSuffix != "" &&
			!providerNames(c.Kubelet.ImageCredentialProvider, "*"+c.Cloud.Azure.Custom.RegistryDNSSuffix)
	}},
	{"$.cloud.azure.custom.repositoryEndpoint", func(c *nodeconfig.NodeConfig) bool {
		return c.Cloud.Azure != nil && c.Cloud.Azure.Custom != nil && c.Cloud.Azure.Custom.RepositoryEndpoint != ""
	}},
	{"$.cloud.azure.privateRegistry", func(c *nodeconfig.NodeConfig) bool {
		return c.Cloud.Azure != nil && c.Cloud.Azure.PrivateRegistry != ""
	}},
	{"$.cloud.provider", func(c *nodeconfig.NodeConfig) bool { return c.Cloud.Provider == "aws" && c.Cloud.AWS == nil }},
	{"$.cluster.dnsDomain", func(c *nodeconfig.NodeConfig) bool {
		return !layoutOf(c).kubeletDefaults && c.Cluster.DNSDomain != nodeconfig.DefaultDNSDomain
	}},
	{"$.cluster.dnsServiceIPs", func(c *nodeconfig.NodeConfig) bool {
		return !layoutOf(c).kubeletDefaults && len(c.Cluster.DNSServiceIPs) > 0 && dnsPath(c) == "$.cluster.dnsServiceIPs"
	}},
	{"$.cluster.serviceCIDRs", func(c *nodeconfig.NodeConfig) bool {
		return !layoutOf(c).kubeletDefaults && len(c.Cluster.ServiceCIDRs) > 0
	}},
	{"$.components.preinstalled", func(c *nodeconfig.NodeConfig) bool {
		return layoutOf(c).installed == "" && c.Components.Preinstalled != nil && *c.Components.Preinstalled
	}},
	{"$.components.registry", func(c *nodeconfig.NodeConfig) bool { return c.Components.Registry != "" }},
	{"$.join.attested", func(c *nodeconfig.NodeConfig) bool { return c.Join.Attested != nil || attested(c) }},
	{"$.kubelet.dataDisk", func(c *nodeconfig.NodeConfig) bool { return c.Kubelet.DataDisk == "Temporary" }},
	{"$.kubelet.maxPodsExpression", func(c *nodeconfig.NodeConfig) bool { return c.Kubelet.MaxPodsExpression != "" }},
	{"$.network.hostsAgent", func(c *nodeconfig.NodeConfig) bool { return c.Network.HostsAgent }},
	{"$.network.ipFamilies", func(c *nodeconfig.NodeConfig) bool {
		return !layoutOf(c).nodeIP && !slices.Equal(c.Network.IPFamilies, []string{"IPv4"})
	}},
	{"$.network.localDNS", func(c *nodeconfig.NodeConfig) bool { return c.Network.LocalDNS != nil }},
	{"$.network.metadataRestriction", func(c *nodeconfig.NodeConfig) bool { return c.Network.MetadataRestriction != nil }},
	{"$.network.nameservers", func(c *nodeconfig.NodeConfig) bool { return len(c.Network.Nameservers) > 0 }},
	{"$.network.searchDomains", func(c *nodeconfig.NodeConfig) bool { return len(c.Network.SearchDomains) > 0 }},
	{"$.network.secondaryInterfaces", func(c *nodeconfig.NodeConfig) bool { return c.Network.SecondaryInterfaces > 0 }},
	{"$.proxy", func(c *nodeconfig.NodeConfig) bool {
		return !c.Proxy.HTTP.IsZero() || !c.Proxy.HTTPS.IsZero() || len(c.Proxy.NoProxy) > 0 || c.Proxy.CertificateAuthority != ""
	}},
	{"$.runtime.containerd.baseRuntimeSpec", func(c *nodeconfig.NodeConfig) bool { return c.Runtime.Containerd.BaseRuntimeSpec != nil }},
	{"$.runtime.containerd.config", func(c *nodeconfig.NodeConfig) bool { return !c.Runtime.Containerd.Config.IsZero() }},
	{"$.runtime.lazyPull", func(c *nodeconfig.NodeConfig) bool { return c.Runtime.LazyPull != "" }},
	{"$.runtime.sandboxes", func(c *nodeconfig.NodeConfig) bool { return len(c.Runtime.Sandboxes) > 0 }},
	{"$.system.environment", func(c *nodeconfig.NodeConfig) bool { return len(c.System.Environment) > 0 }},
	{"$.system.gpu", func(c *nodeconfig.NodeConfig) bool { return c.System.GPU != nil }},
	{"$.system.localStorage", func(c *nodeconfig.NodeConfig) bool { return c.System.LocalStorage != nil }},
	{"$.system.swapMB", func(c *nodeconfig.NodeConfig) bool { return c.System.SwapMB > 0 }},
	{"$.system.transparentHugePages", func(c *nodeconfig.NodeConfig) bool { return len(c.System.TransparentHugePages) > 0 }},
	{"$.system.unattendedUpgrades", func(c *nodeconfig.NodeConfig) bool { return c.System.UnattendedUpgrades != nil }},
	{"$.trust.certificates", func(c *nodeconfig.NodeConfig) bool { return len(c.Trust.Certificates) > 0 }},
}

// layoutOf is the config's layout. One that is unknown is a problem that validation has; what else there is to
// say is said of the default.
func layoutOf(c *nodeconfig.NodeConfig) layout {
	if l, ok := layouts[c.Components.Layout]; ok {
		return l
	}
	return layouts[nodeconfig.DefaultLayout]
}

// attested reports whether the node has no other way to join than one that is not applied yet.
func attested(c *nodeconfig.NodeConfig) bool { return c.Join.Method == nodeconfig.JoinAttested }

// backoffV2 reports whether the cloud provider retries in the mode that has neither exponent nor jitter.
func backoffV2(c *nodeconfig.NodeConfig) bool {
	return c.Cloud.Azure != nil && c.Cloud.Azure.Backoff.Mode == "v2"
}

func nonzero(f *float64) bool { return f != nil && *f != 0 }

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

func notApplied(c *nodeconfig.NodeConfig) []nodeconfig.Problem {
	var problems []nodeconfig.Problem
	add := func(path string, fatal bool) {
		problems = append(problems, nodeconfig.Problem{
			Kind: nodeconfig.NotApplied, Path: path, Reason: "is not applied by this version", Fatal: fatal,
		})
	}
	for _, u := range unapplied {
		if u.set(c) {
			add(u.path, u.path == "$.join.attested" && attested(c))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Components.Artifacts)) {
		a, at := c.Components.Artifacts[name], document.FieldPath("$.components.artifacts", name)
		if a.URL != "" {
			add(at+".url", false)
		}
		if a.SHA256 != "" { // the version is applied: the machine must have it (installed.go)
			add(at+".sha256", false)
		}
	}
	return problems
}

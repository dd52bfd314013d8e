package nodeconfig

import (
	"net/netip"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/profile"
)

// The defaults that are plain values. A dialect's translation sets the dialect's own; the planner sets those that depend on the
// machine.
const (
	DefaultDNSDomain        = "cluster.local"
	DefaultSandboxImage     = "registry.k8s.io/pause:3.10" // kubeadm's default, Kubernetes 1.31 and later
	DefaultTimeout          = Duration(15 * time.Minute)   // AKS: CSE_TIMEOUT, 900 s
	DefaultAPIServerTimeout = Duration(5 * time.Minute)    // AKS: name resolution is given 300 s
	DefaultChangeTimeout    = Duration(30 * time.Second)   // a kubelet renews its lease every 10 s
	DefaultLayout           = LayoutStandard
)

// InstalledVersion represents the version of the installed kubelet, if a contract names none.
const InstalledVersion = "installed"

// The layouts: families of nodes, each with its paths.
const (
	// LayoutStandard has kubeadm's paths.
	LayoutStandard = "standard"
	// LayoutAKS has the paths of AKS's node images.
	LayoutAKS = "aks"
	// LayoutEksctl has the paths of eksctl's node groups.
	LayoutEksctl = "eksctl"
	// LayoutEKS has the paths of EKS's images of Amazon Linux 2023.
	LayoutEKS = "eks"
)

// Default completes the config in place: it sets defaults of unset fields, and normalizes values that can be written in two ways.
// It is idempotent.
func Default(c *NodeConfig) {
	setDefault(&c.APIVersion, APIVersion)
	setDefault(&c.Kind, Kind)
	setDefault(&c.Cluster.DNSDomain, DefaultDNSDomain)
	setDefault(&c.Components.Layout, DefaultLayout)
	setDefault(&c.Runtime.SandboxImage, DefaultSandboxImage)
	setDefault(&c.Checks.Timeout, DefaultTimeout)
	setDefault(&c.Checks.APIServerTimeout, DefaultAPIServerTimeout)
	setDefault(&c.Checks.ChangeTimeout, DefaultChangeTimeout)
	setDefault(&c.Join.Method, inferMethod(c.Join))
	if family := profile.Named(c.Components.Layout); family != nil {
		setDefault(&c.Runtime.CgroupDriver, family.Runtime.CgroupDriver)
		if rule := family.Kubelet.Capacity; rule != "" {
			setDefaultPointer(&c.Kubelet.Capacity, Capacity{})
			setDefault(&c.Kubelet.Capacity.Rule, rule)
		}
	}
	if c.Join.Exec != nil {
		setDefault(&c.Join.Exec.APIVersion, "client.authentication.k8s.io/v1")
	}
	if restriction := c.Network.MetadataRestriction; restriction != nil {
		setDefault(&restriction.Table, "filter")
	}
	if len(c.Network.IPFamilies) == 0 {
		c.Network.IPFamilies = []string{"IPv4"}
	}
	if len(c.Cluster.DNSServiceIPs) == 0 {
		c.Cluster.DNSServiceIPs = DefaultDNSServiceIPs(c.Cluster.ServiceCIDRs)
	}
	c.Components.Registry = strings.TrimRight(c.Components.Registry, "/")
	defaultRegistries(c.Runtime.Registries)
	for i, hash := range c.Cluster.CertificateAuthorityHashes {
		c.Cluster.CertificateAuthorityHashes[i] = strings.ToLower(hash) // kubeadm accepts capital letters, too
	}
	c.Cluster.KubernetesVersion = strings.TrimLeft(c.Cluster.KubernetesVersion, "v")
	if c.Kubelet.Config != nil && len(c.Kubelet.Config) == 0 {
		// An empty file is still a file, and the canonical form must distinguish it from no file.
		c.Kubelet.Config = map[string]any{"apiVersion": KubeletConfigVersion, "kind": KubeletConfigKind}
	}
	defaultFiles(c.Files)
	defaultUnits(c.Units)
	normalizePEM(c)
	seal(c)
	if c.Cloud.Azure != nil {
		setDefault(&c.Cloud.Provider, "azure")
		defaultAzure(c.Cloud.Azure)
	}
	if c.Cloud.AWS != nil || c.Join.Method == JoinAWS {
		setDefault(&c.Cloud.Provider, "aws")
	}
	if family := profile.Named(c.Components.Layout); family != nil {
		setDefault(&c.Cloud.Provider, family.Cloud)
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func setDefaultPointer[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// inferMethod chooses the join method by the credentials in the contract. A token wins over a certificate, as in AKS's contract,
// where both may be present; an attested identity wins over both.
func inferMethod(j Join) JoinMethod {
	switch {
	case j.Attested != nil:
		return JoinAttested
	case !j.BootstrapToken.IsZero():
		return JoinBootstrapToken
	case j.ClientCertificate != nil:
		return JoinClientCertificate
	case j.Exec != nil:
		return JoinExec
	case j.AWS != nil:
		return JoinAWS
	}
	return JoinBootstrapToken
}

// DefaultDNSServiceIPs returns the addresses of the DNS service of a cluster with these service ranges: the tenth of each. It is
// the network address plus 10. For a range that does not begin on an octet, that differs from replacing its last number. An invalid
// range is skipped.
func DefaultDNSServiceIPs(cidrs []string) []string {
	var ips []string
	for _, cidr := range cidrs {
		prefix, err := netip.ParsePrefix(cidr)
		if err != nil {
			continue // Repair reports it
		}
		ip := prefix.Masked().Addr()
		for range 10 {
			ip = ip.Next()
		}
		if prefix.Contains(ip) {
			ips = append(ips, ip.String())
		}
	}
	return ips
}

// defaultRegistries sets the URLs of registries' own servers, and each server's capabilities.
func defaultRegistries(registries map[string]Registry) {
	for host, registry := range registries {
		if registry.Server != nil && host != AnyRegistry {
			// containerd: core/remotes/docker/config/hosts.go, ConfigureHosts
			name := host
			if name == "docker.io" {
				name = "registry-1.docker.io"
			}
			setDefault(&registry.Server.URL, "https://"+name)
		}
		for _, server := range registry.hosts() {
			if len(server.Capabilities) == 0 {
				server.Capabilities = []string{"pull", "resolve"}
			}
		}
	}
}

// defaultAzure sets the cloud provider's defaults (AKS node contract, CloudProviderConfig and
// LoadBalancerConfig).
func defaultAzure(a *Azure) {
	setDefault(&a.Environment, AzureEnvironment(a.Location))
	setDefaultPointer(&a.LoadBalancer.ExcludeMaster, true)
	setDefaultPointer(&a.LoadBalancer.MaxRules, 148)
	setDefaultPointer(&a.Backoff.Enabled, true)
	setDefault(&a.Backoff.Mode, "v2")
	setDefaultPointer(&a.Backoff.Retries, 6)
	setDefaultPointer(&a.Backoff.Exponent, 0)
	setDefaultPointer(&a.Backoff.Duration, 5)
	setDefaultPointer(&a.Backoff.Jitter, 0)
	setDefaultPointer(&a.RateLimit.Enabled, true)
	setDefaultPointer(&a.RateLimit.QPS, 10)
	setDefaultPointer(&a.RateLimit.QPSWrite, 10)
	setDefaultPointer(&a.RateLimit.Bucket, 100)
	setDefaultPointer(&a.RateLimit.BucketWrite, 100)
}

// azureEnvironments maps the prefix of a location to its cloud (AKS: TARGET_ENVIRONMENT).
var azureEnvironments = []struct{ location, environment string }{
	{"china", "AzureChinaCloud"},
	{"germanynortheast", "AzureGermanCloud"},
	{"germanycentral", "AzureGermanCloud"},
	{"usgov", "AzureUSGovernmentCloud"},
	{"usdod", "AzureUSGovernmentCloud"},
}

// AzureEnvironment returns the name of the cloud that a location belongs to.
func AzureEnvironment(location string) string {
	location = strings.ToLower(strings.Join(strings.Fields(location), ""))
	for _, e := range azureEnvironments {
		if strings.HasPrefix(location, e.location) {
			return e.environment
		}
	}
	return "AzurePublicCloud"
}

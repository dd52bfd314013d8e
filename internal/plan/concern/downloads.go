package concern

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/versions"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// A component is downloaded only if the contract names a URL for it, or if the image has a package of it that is not unpacked yet.
// A component of the wanted version on the image is used instead of a download, unless the contract decides otherwise.

// mirrors are hosts that have another one's files, in the order in which both are asked. The first is gone sooner or later: AKS's
// scripts ask the second for its health, and use it in the first one's place (AKS: getPackageDownloadBaseURL).
var mirrors = map[string]string{"acs-mirror.azureedge.net": "packages.aks.azure.com/acs-mirror"}

// Places are where an artifact comes from: a file on the machine, then its URL, or that of a mirror before it.
func Places(a nodeconfig.Artifact) (all []string) {
	if a.File != "" {
		all = append(all, a.File)
	}
	if a.URL == "" {
		return all
	}
	for host, mirror := range mirrors {
		if rest, ok := strings.CutPrefix(a.URL, "https://"+host+"/"); ok {
			all = append(all, "https://"+mirror+"/"+rest)
		}
	}
	return append(all, a.URL)
}

// Download adds a component that is brought to its store, and returns it for what leads there.
func (o *Output) Download(code int, reason string, d *resource.Download) *resource.Download {
	o.Append(resource.Resource{Phase: resource.Base, ExitCode: code, Reason: reason, Spec: d})
	return d
}

// Reach records on each download and image how servers are reached. That is the same for all, so no single concern does it.
func (o *Output) Reach(in *Input) {
	for _, r := range o.Resources {
		switch spec := r.Spec.(type) {
		case *resource.Download:
			if slices.ContainsFunc(spec.From, func(place string) bool { return !strings.HasPrefix(place, "/") }) {
				spec.Reach = reachOf(in, slices.ContainsFunc(spec.From, in.isolatedPlace))
			}
		case *resource.Image:
			spec.Reach = reachOf(in, true)
		}
	}
}

// isolatedPlace reports whether a place is in the registry of an isolated cluster.
func (in *Input) isolatedPlace(place string) bool {
	registry := in.Config.Components.Registry
	return registry != "" && strings.HasPrefix(place, registry+"/")
}

// reachOf returns how servers are reached, and the identity for the registry of an isolated cluster.
func reachOf(in *Input, isolated bool) (r resource.Reach) {
	if proxy := in.Config.Proxy; in.Proxied() {
		r.HTTP, r.HTTPS, r.Direct = resource.Hidden{Secret: proxy.HTTP}, resource.Hidden{Secret: proxy.HTTPS}, NoProxy(in)
	}
	r.Authorities = authoritiesFor(in)
	if isolated {
		r.Identity = registryIdentity(in)
	}
	return r
}

// authoritiesFor are the contract's certificate authorities, which a download trusts before the machine does.
func authoritiesFor(in *Input) string {
	var all strings.Builder
	for _, s := range in.Authorities() {
		for _, bundle := range s.Certificates {
			if bundle = strings.TrimSpace(bundle); bundle != "" {
				all.WriteString(bundle + "\n")
			}
		}
	}
	return all.String()
}

// Program has a file of a component where programs look for it.
func (o *Output) Program(d *resource.Download, file, at, reason string, restarts ...string) {
	o.Append(resource.Resource{
		Phase: resource.Base, Effects: resource.Restarting(restarts...), Reason: reason,
		Spec: &resource.Symlink{Path: at, Target: d.Path(file)},
	})
}

// registryIdentity is the identity for the registry of an isolated cluster; nil for an anonymous request
// (AKS: oras_login_with_managed_identity).
func registryIdentity(in *Input) *resource.RegistryIdentity {
	azure, registry := in.Config.Cloud.Azure, in.Config.Components.Registry
	if azure == nil || azure.Identity.UserAssignedID == "" || azure.TenantID == "" || registry == "" {
		return nil
	}
	host, _, _ := strings.Cut(registry, "/")
	return &resource.RegistryIdentity{Registry: host, ClientID: azure.Identity.UserAssignedID, TenantID: azure.TenantID, ResourceManager: ResourceManager(azure)}
}

// RegistryCodes are the exit codes for a failed download from an Azure registry, by cause.
var RegistryCodes = map[resource.Cause]int{
	resource.CauseIdentity:    exitcode.RegistryIdentityMissing,
	resource.CauseUnreachable: exitcode.RegistryUnreachable,
	resource.CauseRefused:     exitcode.RegistryRefused,
}

// resourceManagers are the addresses of the resource managers of Azure's clouds (AKS node contract, helper rules).
var resourceManagers = map[string]string{
	"AzureUSGovernmentCloud": "https://management.usgovcloudapi.net/",
	"AzureChinaCloud":        "https://management.chinacloudapi.cn/",
}

// ResourceManager is the URL of the resource manager in the contract's cloud. For a custom cloud, its document has the URL.
func ResourceManager(a *nodeconfig.Azure) string {
	if a.Custom != nil {
		var environment struct {
			ResourceManagerEndpoint string `json:"resourceManagerEndpoint"`
		}
		if json.Unmarshal([]byte(a.Custom.Endpoints), &environment) != nil {
			return ""
		}
		return environment.ResourceManagerEndpoint
	}
	return cmp.Or(resourceManagers[a.Environment], "https://management.azure.com/")
}

// ComparePackages orders the names of packages by the numbers in them.
func ComparePackages(a, b string) int {
	return cmp.Or(versions.CompareNumbers(a, b), cmp.Compare(a, b))
}

// ContainerdName and RuncName are the artifacts of the container runtime.
const (
	ContainerdName = "containerd"
	RuncName       = "runc"
)

// AzureCNIName is the artifact of Azure's plug-ins.
const AzureCNIName = "azure-cni"

// ClientName is the artifact of the client for an attested identity.
const ClientName = "bootstrap-client"

// KubernetesName is the artifact of Kubernetes' own programs.
const KubernetesName = "kubernetes"

// ProviderName is the artifact of the image credential provider.
const ProviderName = "credential-provider"

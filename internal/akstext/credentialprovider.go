package akstext

import "slices"

// registries are the names of Azure's container registries, for which Azure's image credential provider has credentials (AKS:
// writeCredentialProviderConfig).
var registries = []any{
	"*.azurecr.io", "*.azurecr.cn", "*.azurecr.de", "*.azurecr.us",
	"*.*.geo.azurecr.io", "*.*.geo.azurecr.cn", "*.*.geo.azurecr.de", "*.*.geo.azurecr.us",
}

// Registries returns the patterns of Azure's container registries, in the format of matchImages.
func Registries() []any { return slices.Clone(registries) }

// CredentialProvider returns the configuration of Azure's image credential provider, as AKS writes it (AKS:
// writeCredentialProviderConfig). If bound, the provider pulls with the identity of a pod's service account.
func CredentialProvider(images, args []any, bound bool) map[string]any {
	provider := map[string]any{
		"name": "acr-credential-provider", "apiVersion": "credentialprovider.kubelet.k8s.io/v1", "defaultCacheDuration": "10m",
		"matchImages": images, "args": args,
	}
	if bound {
		provider["tokenAttributes"] = map[string]any{
			"serviceAccountTokenAudience": "api://AKSIdentityBinding", "requireServiceAccount": false, "cacheType": "ServiceAccount",
			"optionalServiceAccountAnnotationKeys": []any{"kubernetes.azure.com/acr-client-id"},
		}
	}
	return map[string]any{"apiVersion": "kubelet.config.k8s.io/v1", "kind": "CredentialProviderConfig", "providers": []any{provider}}
}

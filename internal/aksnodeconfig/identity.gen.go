// Code generated from aksnodeconfig/v1/identity.proto. DO NOT EDIT.

package aksnodeconfig

// BootstrappingAuthMethod is how a node proves who it is before it has a certificate.
type BootstrappingAuthMethod int32

const (
	// Unspecified; a token decides.
	BootstrappingAuthMethod_BOOTSTRAPPING_AUTH_METHOD_UNSPECIFIED BootstrappingAuthMethod = 0
	// A bootstrap token.
	BootstrappingAuthMethod_BOOTSTRAPPING_AUTH_METHOD_BOOTSTRAP_TOKEN BootstrappingAuthMethod = 1
	// Attested instance metadata, through the secure TLS bootstrap client.
	BootstrappingAuthMethod_BOOTSTRAPPING_AUTH_METHOD_SECURE_TLS_BOOTSTRAPPING BootstrappingAuthMethod = 2
	// Managed identity of an Arc machine. Declared, never acted on.
	BootstrappingAuthMethod_BOOTSTRAPPING_AUTH_METHOD_ARC_MSI BootstrappingAuthMethod = 3
	// Managed identity of an Azure VM. Declared, never acted on.
	BootstrappingAuthMethod_BOOTSTRAPPING_AUTH_METHOD_AZURE_MSI BootstrappingAuthMethod = 4
)

var namesOfBootstrappingAuthMethod = [...]string{
	"BOOTSTRAPPING_AUTH_METHOD_UNSPECIFIED",
	"BOOTSTRAPPING_AUTH_METHOD_BOOTSTRAP_TOKEN",
	"BOOTSTRAPPING_AUTH_METHOD_SECURE_TLS_BOOTSTRAPPING",
	"BOOTSTRAPPING_AUTH_METHOD_ARC_MSI",
	"BOOTSTRAPPING_AUTH_METHOD_AZURE_MSI",
}

// Names are the names of the values, by their numbers.
func (BootstrappingAuthMethod) Names() []string { return namesOfBootstrappingAuthMethod[:] }

// ClusterJoinMethod is how a node comes by its kubelet credential.
type ClusterJoinMethod int32

const (
	// Unspecified.
	ClusterJoinMethod_CLUSTER_JOIN_METHOD_UNSPECIFIED ClusterJoinMethod = 0
	// It sends a certificate signing request.
	ClusterJoinMethod_CLUSTER_JOIN_METHOD_GENERATE_CSR ClusterJoinMethod = 1
	// It keeps using what it bootstrapped with.
	ClusterJoinMethod_CLUSTER_JOIN_METHOD_USE_BOOTSTRAPPING_AUTH ClusterJoinMethod = 2
)

var namesOfClusterJoinMethod = [...]string{
	"CLUSTER_JOIN_METHOD_UNSPECIFIED",
	"CLUSTER_JOIN_METHOD_GENERATE_CSR",
	"CLUSTER_JOIN_METHOD_USE_BOOTSTRAPPING_AUTH",
}

// Names are the names of the values, by their numbers.
func (ClusterJoinMethod) Names() []string { return namesOfClusterJoinMethod[:] }

// BootstrappingConfig is how kubelet obtains its first client certificate. With neither a token
// nor secure TLS bootstrapping, the client certificate of KubeletConfig is used.
type BootstrappingConfig struct {
	// How the node proves who it is. Only secure TLS bootstrapping changes anything; otherwise the
	// presence of a token decides.
	BootstrappingAuthMethod BootstrappingAuthMethod `aks:"1,bootstrapping_auth_method,bootstrappingAuthMethod"`
	// How the node joins. Part of the contract, without effect on the node.
	ClusterJoinMethod ClusterJoinMethod `aks:"2,cluster_join_method,clusterJoinMethod"`
	// Bootstrap token. Secret. Non-empty means TLS bootstrapping with this token.
	TlsBootstrappingToken *string `aks:"3,tls_bootstrapping_token,tlsBootstrappingToken"`
	// Entra ID application the bootstrap client asks a token for. Unset means that of AKS.
	SecureTlsBootstrappingAadResource *string `aks:"6,secure_tls_bootstrapping_aad_resource,secureTlsBootstrappingAadResource"`
	// Client ID of the managed identity the bootstrap client uses, if there is more than one.
	SecureTlsBootstrappingUserAssignedIdentityId *string `aks:"7,secure_tls_bootstrapping_user_assigned_identity_id,secureTlsBootstrappingUserAssignedIdentityId"`
	// Downloads another bootstrap client in place of the image's own; for development.
	SecureTlsBootstrappingCustomClientDownloadUrl *string `aks:"8,secure_tls_bootstrapping_custom_client_download_url,secureTlsBootstrappingCustomClientDownloadUrl"`
	// Limit for checking an existing kubeconfig, as a Go duration. As with all limits below, unset
	// leaves it to the client.
	SecureTlsBootstrappingValidateKubeconfigTimeout *string `aks:"10,secure_tls_bootstrapping_validate_kubeconfig_timeout,secureTlsBootstrappingValidateKubeconfigTimeout"`
	// Limit for getting an access token, as a Go duration.
	SecureTlsBootstrappingGetAccessTokenTimeout *string `aks:"11,secure_tls_bootstrapping_get_access_token_timeout,secureTlsBootstrappingGetAccessTokenTimeout"`
	// Limit for reading instance metadata, as a Go duration.
	SecureTlsBootstrappingGetInstanceDataTimeout *string `aks:"12,secure_tls_bootstrapping_get_instance_data_timeout,secureTlsBootstrappingGetInstanceDataTimeout"`
	// Limit for getting a nonce from the bootstrap server, as a Go duration.
	SecureTlsBootstrappingGetNonceTimeout *string `aks:"13,secure_tls_bootstrapping_get_nonce_timeout,secureTlsBootstrappingGetNonceTimeout"`
	// Limit for getting attested instance metadata, as a Go duration.
	SecureTlsBootstrappingGetAttestedDataTimeout *string `aks:"14,secure_tls_bootstrapping_get_attested_data_timeout,secureTlsBootstrappingGetAttestedDataTimeout"`
	// Limit for getting the credential itself, as a Go duration.
	SecureTlsBootstrappingGetCredentialTimeout *string `aks:"15,secure_tls_bootstrapping_get_credential_timeout,secureTlsBootstrappingGetCredentialTimeout"`
}

// AuthConfig is the Azure identity of the node, used by the cloud provider and for image pulls.
type AuthConfig struct {
	// Entra ID tenant.
	TenantId string `aks:"1,tenant_id,tenantId"`
	// Azure subscription of the cluster.
	SubscriptionId string `aks:"2,subscription_id,subscriptionId"`
	// Client ID of the service principal, or "msi" in a cluster with managed identity.
	ServicePrincipalId string `aks:"3,service_principal_id,servicePrincipalId"`
	// Password of the service principal, as base64. Secret.
	ServicePrincipalSecret string `aks:"4,service_principal_secret,servicePrincipalSecret"`
	// Client ID of the user-assigned identity.
	AssignedIdentityId string `aks:"5,assigned_identity_id,assignedIdentityId"`
	// Use a managed identity instead of a service principal.
	UseManagedIdentityExtension bool `aks:"6,use_managed_identity_extension,useManagedIdentityExtension"`
}

// ServiceAccountImagePullProfile lets images be pulled with a pod's service account identity.
type ServiceAccountImagePullProfile struct {
	// Turns it on in the credential provider's config.
	Enabled bool `aks:"1,enabled"`
	// Client ID for service accounts that name none.
	DefaultClientId string `aks:"2,default_client_id,defaultClientId"`
	// Tenant for service accounts that name none.
	DefaultTenantId string `aks:"3,default_tenant_id,defaultTenantId"`
	// TLS server name of the local token authority.
	LocalAuthoritySni string `aks:"4,local_authority_sni,localAuthoritySni"`
}

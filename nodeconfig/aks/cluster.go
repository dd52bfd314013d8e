package aks

import (
	"encoding/base64"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/aksnodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// cluster translates the fields that identify the cluster.
func (t *translation) cluster() {
	c, server := &t.out.Cluster, deref(t.in.ApiServerConfig)
	if c.KubernetesVersion = t.in.KubernetesVersion; c.KubernetesVersion == nodeconfig.InstalledVersion {
		t.Fatal(nodeconfig.Invalid, "$.kubernetes_version", "is not a Kubernetes version; AKS's scripts need one of three numbers, such as 1.34.2")
	}
	c.CertificateAuthority = t.in.KubernetesCaCert
	c.ServerCertificate = server.ApiServerPublicKey
	if server.ApiServerName != "" {
		c.Server = "https://" + server.ApiServerName + ":443"
	}
}

// join translates the credential. An attested identity wins over a token, and a token over a client certificate, as in AKS's
// scripts.
func (t *translation) join() {
	j := &t.out.Join
	boot, kubelet := deref(t.in.BootstrappingConfig), deref(t.in.KubeletConfig)
	j.BootstrapToken = nodeconfig.NewSecret(deref(boot.TlsBootstrappingToken))
	if kubelet.KubeletClientKey != "" || kubelet.KubeletClientCertContent != "" {
		j.ClientCertificate = &nodeconfig.ClientCertificate{
			Certificate: kubelet.KubeletClientCertContent,
			Key:         nodeconfig.NewSecret(kubelet.KubeletClientKey),
		}
	}
	t.attested(boot)
	if t.in.PreProvisionOnly {
		j.Method = nodeconfig.JoinNone
	}
}

// attested translates secure TLS bootstrapping, with the machine's attested identity. It wins over a token, which is its fallback,
// and over a client certificate (AKS: configureK8s, cse_main.sh).
func (t *translation) attested(boot aksnodeconfig.BootstrappingConfig) {
	const path = "$.bootstrapping_config"
	switch boot.BootstrappingAuthMethod {
	case aksnodeconfig.BootstrappingAuthMethod_BOOTSTRAPPING_AUTH_METHOD_SECURE_TLS_BOOTSTRAPPING:
	case aksnodeconfig.BootstrappingAuthMethod_BOOTSTRAPPING_AUTH_METHOD_ARC_MSI, aksnodeconfig.BootstrappingAuthMethod_BOOTSTRAPPING_AUTH_METHOD_AZURE_MSI:
		t.Warn(nodeconfig.NoEffect, path+".bootstrapping_auth_method", "%s: the node joins with its token or its client certificate", unreadByAKS)
		return
	default:
		return
	}
	j := &t.out.Join
	j.Attested = &nodeconfig.AttestedBootstrap{
		Resource:   deref(boot.SecureTlsBootstrappingAadResource),
		IdentityID: deref(boot.SecureTlsBootstrappingUserAssignedIdentityId),
	}
	for _, step := range []struct{ name, field, limit string }{
		{"validateKubeconfig", "validate_kubeconfig", deref(boot.SecureTlsBootstrappingValidateKubeconfigTimeout)},
		{"accessToken", "get_access_token", deref(boot.SecureTlsBootstrappingGetAccessTokenTimeout)},
		{"instanceData", "get_instance_data", deref(boot.SecureTlsBootstrappingGetInstanceDataTimeout)},
		{"nonce", "get_nonce", deref(boot.SecureTlsBootstrappingGetNonceTimeout)},
		{"attestedData", "get_attested_data", deref(boot.SecureTlsBootstrappingGetAttestedDataTimeout)},
		{"credential", "get_credential", deref(boot.SecureTlsBootstrappingGetCredentialTimeout)},
	} {
		if d := t.duration(step.limit, path+".secure_tls_bootstrapping_"+step.field+"_timeout"); d > 0 {
			if j.Attested.Timeouts == nil {
				j.Attested.Timeouts = make(map[string]nodeconfig.Duration)
			}
			j.Attested.Timeouts[step.name] = d
		}
	}
}

// cloud translates the content of azure.json. Missing values get their defaults later.
func (t *translation) cloud() {
	cluster, auth := deref(t.in.ClusterConfig), deref(t.in.AuthConfig)
	network, balancer, calls := deref(cluster.ClusterNetworkConfig), deref(cluster.LoadBalancerConfig), deref(cluster.CloudProviderConfig)
	t.out.Cloud.InstanceType = t.in.VmSize
	t.out.Cloud.Azure = &nodeconfig.Azure{
		TenantID:                   auth.TenantId,
		SubscriptionID:             auth.SubscriptionId,
		ResourceGroup:              cluster.ResourceGroup,
		Location:                   cluster.Location,
		VMType:                     enumWord(cluster.VmType),
		Subnet:                     network.Subnet,
		SecurityGroup:              network.SecurityGroupName,
		VNet:                       network.VnetName,
		VNetResourceGroup:          network.VnetResourceGroup,
		RouteTable:                 network.RouteTable,
		PrimaryAvailabilitySetName: cluster.PrimaryAvailabilitySet,
		PrimaryScaleSetName:        cluster.PrimaryScaleSet,
		UseInstanceMetadata:        cluster.UseInstanceMetadata,
		Identity: nodeconfig.AzureIdentity{
			ClientID:       auth.ServicePrincipalId,
			ClientSecret:   t.principalSecret(auth.ServicePrincipalSecret),
			Managed:        auth.UseManagedIdentityExtension,
			UserAssignedID: auth.AssignedIdentityId,
		},
		LoadBalancer: nodeconfig.AzureLoadBalancer{
			SKU:                 enumWord(balancer.LoadBalancerSku),
			DisableOutboundSNAT: balancer.DisableOutboundSnat,
			ExcludeMaster:       balancer.ExcludeMasterFromStandardLoadBalancer,
			MaxRules:            balancer.MaxLoadBalancerRuleCount,
		},
		Backoff: nodeconfig.AzureBackoff{
			Enabled:  calls.Backoff,
			Mode:     calls.BackoffMode,
			Retries:  calls.BackoffRetries,
			Duration: calls.BackoffDuration,
			Exponent: calls.BackoffExponent,
			Jitter:   calls.BackoffJitter,
		},
		RateLimit: nodeconfig.AzureRateLimit{
			Enabled:     calls.RateLimit,
			QPS:         calls.RateLimitQps,
			QPSWrite:    calls.RateLimitQpsWrite,
			Bucket:      calls.RateLimitBucket,
			BucketWrite: calls.RateLimitBucketWrite,
		},
		Custom:          t.customCloud(),
		PrivateRegistry: t.in.AzurePrivateRegistryServer,
	}
	if t.out.Cloud.Azure.Custom != nil {
		t.out.Cloud.Azure.Environment = "AzureStackCloud"
	}
}

// customCloud translates a custom cloud. Its name alone is enough to make one.
func (t *translation) customCloud() *nodeconfig.AzureCustomCloud {
	c := deref(t.in.CustomCloudConfig)
	if !strings.EqualFold(c.CustomCloudEnvName, "akscustom") {
		if c.ContainerRegistryDnsSuffix != "" && t.out.Kubelet.ImageCredentialProvider == nil {
			t.Warn(nodeconfig.NotApplied, "$.custom_cloud_config.container_registry_dns_suffix", "is not applied, because no image credential provider is configured")
		}
		return nil
	}
	// The contract documents base64, and AKS's own code reads it as plain JSON in one place.
	endpoints := c.CustomEnvJsonContent
	if decoded, err := base64.StdEncoding.DecodeString(endpoints); err == nil {
		endpoints = string(decoded)
	}
	return &nodeconfig.AzureCustomCloud{
		Endpoints:          endpoints,
		RegistryDNSSuffix:  c.ContainerRegistryDnsSuffix,
		RepositoryEndpoint: c.RepoDepotEndpoint,
	}
}

func (t *translation) principalSecret(encoded string) nodeconfig.Secret {
	if encoded == nodeconfig.Redacted {
		return nodeconfig.NewSecret(encoded) // the validation refuses it
	}
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Warn(nodeconfig.Invalid, "$.auth_config.service_principal_secret", "is not base64; left out")
		return nodeconfig.Secret{}
	}
	return nodeconfig.NewSecret(string(decoded))
}

// maxTimeout is the longest cse_timeout that AKS honours, in seconds.
const maxTimeout = 21600

// surroundings translates the rest: checks and components.
func (t *translation) surroundings() {
	if s := deref(t.in.CseTimeout); s > 0 && s <= maxTimeout {
		t.out.Checks.Timeout = nodeconfig.Duration(time.Duration(s) * time.Second)
	} else if t.in.CseTimeout != nil {
		t.Warn(nodeconfig.Invalid, "$.cse_timeout", "is out of range (1 to %d seconds); the default is used", maxTimeout)
	}
	preinstalled := t.in.IsVhd == nil || *t.in.IsVhd
	t.out.Components.Preinstalled = &preinstalled
	t.out.Components.Registry = t.in.BootstrapProfileContainerRegistryServer
	t.out.Checks.OutboundCommand = t.in.OutboundCommand
	if features := t.in.EnabledFeatures; len(features) > 0 {
		t.out.Components.Features = features
	}
}

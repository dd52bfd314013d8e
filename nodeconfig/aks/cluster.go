package aks

import (
	"encoding/base64"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/api/aksnodeconfig/v1"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// cluster translates what identifies the cluster.
func (t *translation) cluster() {
	c := &t.out.Cluster
	c.KubernetesVersion = t.in.GetKubernetesVersion()
	c.CertificateAuthority = t.in.GetKubernetesCaCert()
	c.ServerCertificate = t.in.GetApiServerConfig().GetApiServerPublicKey()
	if name := t.in.GetApiServerConfig().GetApiServerName(); name != "" {
		c.Server = "https://" + name + ":443"
	}
}

// join translates the credential. A token wins over a client certificate, as in AKS's scripts.
func (t *translation) join() {
	j := &t.out.Join
	boot, kubelet := t.in.GetBootstrappingConfig(), t.in.GetKubeletConfig()
	j.BootstrapToken = nodeconfig.NewSecret(boot.GetTlsBootstrappingToken())
	if kubelet.GetKubeletClientKey() != "" || kubelet.GetKubeletClientCertContent() != "" {
		j.ClientCertificate = &nodeconfig.ClientCertificate{
			Certificate: kubelet.GetKubeletClientCertContent(),
			Key:         nodeconfig.NewSecret(kubelet.GetKubeletClientKey()),
		}
	}
	if boot.GetBootstrappingAuthMethod() == aksnodeconfigv1.BootstrappingAuthMethod_BOOTSTRAPPING_AUTH_METHOD_SECURE_TLS_BOOTSTRAPPING {
		t.warn(nodeconfig.NotApplied, "$.bootstrapping_config.bootstrapping_auth_method",
			"secure TLS bootstrapping is not applied by this version; the node joins with its token or client certificate")
	}
	if t.in.GetPreProvisionOnly() {
		j.Method = nodeconfig.JoinNone
	}
}

// cloud translates what azure.json holds.
func (t *translation) cloud() {
	cluster, auth := t.in.GetClusterConfig(), t.in.GetAuthConfig()
	network, balancer := cluster.GetClusterNetworkConfig(), cluster.GetLoadBalancerConfig()
	t.out.Cloud.InstanceType = t.in.GetVmSize()
	t.out.Cloud.Azure = &nodeconfig.Azure{
		TenantID:                   auth.GetTenantId(),
		SubscriptionID:             auth.GetSubscriptionId(),
		ResourceGroup:              cluster.GetResourceGroup(),
		Location:                   cluster.GetLocation(),
		VMType:                     enumWord(cluster.GetVmType()),
		Subnet:                     network.GetSubnet(),
		SecurityGroup:              network.GetSecurityGroupName(),
		VNet:                       network.GetVnetName(),
		VNetResourceGroup:          network.GetVnetResourceGroup(),
		RouteTable:                 network.GetRouteTable(),
		PrimaryAvailabilitySetName: cluster.GetPrimaryAvailabilitySet(),
		PrimaryScaleSetName:        cluster.GetPrimaryScaleSet(),
		UseInstanceMetadata:        cluster.GetUseInstanceMetadata(),
		Identity: nodeconfig.AzureIdentity{
			ClientID:       auth.GetServicePrincipalId(),
			ClientSecret:   t.principalSecret(auth.GetServicePrincipalSecret()),
			Managed:        auth.GetUseManagedIdentityExtension(),
			UserAssignedID: auth.GetAssignedIdentityId(),
		},
		LoadBalancer: nodeconfig.AzureLoadBalancer{
			SKU:                 enumWord(balancer.GetLoadBalancerSku()),
			DisableOutboundSNAT: balancer.GetDisableOutboundSnat(),
			ExcludeMaster:       clone(balancer.GetExcludeMasterFromStandardLoadBalancer, balancer != nil && balancer.ExcludeMasterFromStandardLoadBalancer != nil),
			MaxRules:            clone(balancer.GetMaxLoadBalancerRuleCount, balancer != nil && balancer.MaxLoadBalancerRuleCount != nil),
		},
		Custom: t.customCloud(),
	}
	if t.out.Cloud.Azure.Custom != nil {
		t.out.Cloud.Azure.Environment = "AzureStackCloud"
	}
	t.cloudProvider(cluster.GetCloudProviderConfig())
}

// cloudProvider translates how often the cloud provider calls; absent values are defaulted later.
func (t *translation) cloudProvider(p *aksnodeconfigv1.CloudProviderConfig) {
	if p == nil {
		return
	}
	a := t.out.Cloud.Azure
	a.Backoff = nodeconfig.AzureBackoff{
		Enabled:  clone(p.GetBackoff, p.Backoff != nil),
		Mode:     p.GetBackoffMode(),
		Retries:  clone(p.GetBackoffRetries, p.BackoffRetries != nil),
		Duration: clone(p.GetBackoffDuration, p.BackoffDuration != nil),
		Exponent: clone(p.GetBackoffExponent, p.BackoffExponent != nil),
		Jitter:   clone(p.GetBackoffJitter, p.BackoffJitter != nil),
	}
	a.RateLimit = nodeconfig.AzureRateLimit{
		Enabled:     clone(p.GetRateLimit, p.RateLimit != nil),
		QPS:         clone(p.GetRateLimitQps, p.RateLimitQps != nil),
		QPSWrite:    clone(p.GetRateLimitQpsWrite, p.RateLimitQpsWrite != nil),
		Bucket:      clone(p.GetRateLimitBucket, p.RateLimitBucket != nil),
		BucketWrite: clone(p.GetRateLimitBucketWrite, p.RateLimitBucketWrite != nil),
	}
}

// clone returns a copy of an optional field, so that the result shares no memory with the input.
func clone[T any](get func() T, present bool) *T {
	if !present {
		return nil
	}
	return new(get())
}

// customCloud translates a cloud of one's own, which is one by its name alone.
func (t *translation) customCloud() *nodeconfig.AzureCustomCloud {
	c := t.in.GetCustomCloudConfig()
	if !strings.EqualFold(c.GetCustomCloudEnvName(), "akscustom") {
		if c.GetCustomEnvJsonContent() != "" {
			t.warn(nodeconfig.NotApplied, "$.custom_cloud_config.custom_env_json_content", "is not applied, because custom_cloud_env_name is not akscustom")
		}
		if c.GetContainerRegistryDnsSuffix() != "" && t.out.Kubelet.ImageCredentialProvider == nil {
			t.warn(nodeconfig.NotApplied, "$.custom_cloud_config.container_registry_dns_suffix", "is not applied, because no image credential provider is configured")
		}
		return nil
	}
	// The contract documents base64, and AKS's own code reads it as plain JSON in one place.
	endpoints := c.GetCustomEnvJsonContent()
	if decoded, err := base64.StdEncoding.DecodeString(endpoints); err == nil {
		endpoints = string(decoded)
	}
	return &nodeconfig.AzureCustomCloud{
		Endpoints:         endpoints,
		RegistryDNSSuffix: c.GetContainerRegistryDnsSuffix(),
	}
}

func (t *translation) principalSecret(encoded string) nodeconfig.Secret {
	if encoded == nodeconfig.Redacted {
		return nodeconfig.NewSecret(encoded) // the validation refuses it
	}
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.warn(nodeconfig.Invalid, "$.auth_config.service_principal_secret", "is not base64; left out")
		return nodeconfig.Secret{}
	}
	return nodeconfig.NewSecret(string(decoded))
}

// maxTimeout is the longest cse_timeout that AKS honours, in seconds.
const maxTimeout = 21600

// surroundings translates the rest: checks and components.
func (t *translation) surroundings() {
	if s := t.in.GetCseTimeout(); s > 0 && s <= maxTimeout {
		t.out.Checks.Timeout = nodeconfig.Duration(time.Duration(s) * time.Second)
	} else if t.in.CseTimeout != nil {
		t.warn(nodeconfig.Invalid, "$.cse_timeout", "is out of range (1 to %d seconds); the default is used", maxTimeout)
	}
	preinstalled := t.in.IsVhd == nil || t.in.GetIsVhd()
	t.out.Components.Preinstalled = &preinstalled
	if features := t.in.GetEnabledFeatures(); len(features) > 0 {
		t.out.Components.Features = make(map[string]string, len(features))
		for name, value := range features {
			t.out.Components.Features[name] = value
		}
	}
}

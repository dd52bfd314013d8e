package azure

import (
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/textfile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// cloudConfig is azure.json, the configuration of Azure's cloud provider; its keys are in AKS's
// order (AKS node contract, azure.json).
type cloudConfig struct {
	Cloud                       string   `json:"cloud"`
	TenantID                    string   `json:"tenantId"`
	SubscriptionID              string   `json:"subscriptionId"`
	AADClientID                 string   `json:"aadClientId"`
	AADClientSecret             string   `json:"aadClientSecret"`
	ResourceGroup               string   `json:"resourceGroup"`
	Location                    string   `json:"location"`
	VMType                      string   `json:"vmType"`
	SubnetName                  string   `json:"subnetName"`
	SecurityGroupName           string   `json:"securityGroupName"`
	VnetName                    string   `json:"vnetName"`
	VnetResourceGroup           string   `json:"vnetResourceGroup"`
	RouteTableName              string   `json:"routeTableName"`
	PrimaryAvailabilitySetName  string   `json:"primaryAvailabilitySetName"`
	PrimaryScaleSetName         string   `json:"primaryScaleSetName"`
	BackoffMode                 string   `json:"cloudProviderBackoffMode"`
	Backoff                     bool     `json:"cloudProviderBackoff"`
	BackoffRetries              int32    `json:"cloudProviderBackoffRetries"`
	BackoffExponent             *float64 `json:"cloudProviderBackoffExponent,omitempty"`
	BackoffDuration             int32    `json:"cloudProviderBackoffDuration"`
	BackoffJitter               *float64 `json:"cloudProviderBackoffJitter,omitempty"`
	RateLimit                   bool     `json:"cloudProviderRateLimit"`
	RateLimitQPS                float64  `json:"cloudProviderRateLimitQPS"`
	RateLimitBucket             int32    `json:"cloudProviderRateLimitBucket"`
	RateLimitQPSWrite           float64  `json:"cloudProviderRateLimitQPSWrite"`
	RateLimitBucketWrite        int32    `json:"cloudProviderRateLimitBucketWrite"`
	UseManagedIdentityExtension bool     `json:"useManagedIdentityExtension"`
	UserAssignedIdentityID      string   `json:"userAssignedIdentityID"`
	UseInstanceMetadata         bool     `json:"useInstanceMetadata"`
	LoadBalancerSKU             string   `json:"loadBalancerSku"`
	DisableOutboundSNAT         bool     `json:"disableOutboundSNAT"`
	ExcludeMasterFromStandardLB bool     `json:"excludeMasterFromStandardLB"`
	ProviderVaultName           string   `json:"providerVaultName"`
	MaximumLoadBalancerRules    int32    `json:"maximumLoadBalancerRuleCount"`
	ProviderKeyName             string   `json:"providerKeyName"`
	ProviderKeyVersion          string   `json:"providerKeyVersion"`
}

// azure writes the cloud provider's configuration. Defaults are set already, so every pointer is.
var azure = concern.Concern{
	Name:  "Azure",
	Joins: true,
	Reads: []string{
		"$.cloud.azure.backoff",
		"$.cloud.azure.custom.endpoints",
		"$.cloud.azure.environment",
		"$.cloud.azure.identity",
		"$.cloud.azure.loadBalancer",
		"$.cloud.azure.location",
		"$.cloud.azure.primaryAvailabilitySetName",
		"$.cloud.azure.primaryScaleSetName",
		"$.cloud.azure.rateLimit",
		"$.cloud.azure.resourceGroup",
		"$.cloud.azure.routeTable",
		"$.cloud.azure.securityGroup",
		"$.cloud.azure.subnet",
		"$.cloud.azure.subscriptionID",
		"$.cloud.azure.tenantID",
		"$.cloud.azure.useInstanceMetadata",
		"$.cloud.azure.vmType",
		"$.cloud.azure.vnet",
		"$.cloud.azure.vnetResourceGroup",
		"$.kubelet.flags",
	},
	Plan: planAzure,
}

func planAzure(in *concern.Input, out *concern.Output) {
	a := in.Config.Cloud.Azure
	if a == nil {
		return
	}
	c := cloudConfig{
		Cloud:                       a.Environment,
		TenantID:                    a.TenantID,
		SubscriptionID:              a.SubscriptionID,
		AADClientID:                 a.Identity.ClientID,
		AADClientSecret:             a.Identity.ClientSecret.Reveal(),
		ResourceGroup:               a.ResourceGroup,
		Location:                    a.Location,
		VMType:                      a.VMType,
		SubnetName:                  a.Subnet,
		SecurityGroupName:           a.SecurityGroup,
		VnetName:                    a.VNet,
		VnetResourceGroup:           a.VNetResourceGroup,
		RouteTableName:              a.RouteTable,
		PrimaryAvailabilitySetName:  a.PrimaryAvailabilitySetName,
		PrimaryScaleSetName:         a.PrimaryScaleSetName,
		BackoffMode:                 a.Backoff.Mode,
		Backoff:                     *a.Backoff.Enabled,
		BackoffRetries:              *a.Backoff.Retries,
		BackoffDuration:             *a.Backoff.Duration,
		RateLimit:                   *a.RateLimit.Enabled,
		RateLimitQPS:                *a.RateLimit.QPS,
		RateLimitBucket:             *a.RateLimit.Bucket,
		RateLimitQPSWrite:           *a.RateLimit.QPSWrite,
		RateLimitBucketWrite:        *a.RateLimit.BucketWrite,
		UseManagedIdentityExtension: a.Identity.Managed,
		UserAssignedIdentityID:      a.Identity.UserAssignedID,
		UseInstanceMetadata:         a.UseInstanceMetadata,
		LoadBalancerSKU:             a.LoadBalancer.SKU,
		DisableOutboundSNAT:         a.LoadBalancer.DisableOutboundSNAT,
		ExcludeMasterFromStandardLB: *a.LoadBalancer.ExcludeMaster,
		MaximumLoadBalancerRules:    *a.LoadBalancer.MaxRules,
		ProviderKeyName:             "k8s",
	}
	// Mode v2 has neither exponent nor jitter (AKS: the lines are removed).
	if a.Backoff.Mode != "v2" {
		c.BackoffExponent, c.BackoffJitter = a.Backoff.Exponent, a.Backoff.Jitter
	} else {
		unusedBackoff(out, "exponent", a.Backoff.Exponent)
		unusedBackoff(out, "jitter", a.Backoff.Jitter)
	}
	out.Secret(resource.Join, in.Family.Paths.CloudConfig, textfile.JSON(c), "the cloud provider's configuration", cloudConfigReaders(in.Config)...)
	if a.Custom != nil && a.Custom.Endpoints != "" {
		out.File(resource.Join, in.Family.Paths.CustomCloud, 0o600, []byte(a.Custom.Endpoints), "the endpoints of a custom cloud")
	}
}

func unusedBackoff(out *concern.Output, name string, value *float64) {
	if value != nil && *value != 0 {
		out.NotApplied("$.cloud.azure.backoff." + name)
	}
}

// cloudConfigReaders are the units that read azure.json when they start: a kubelet with the cloud
// provider built in. An external one, and the credential provider, read it when they need it.
func cloudConfigReaders(c *nodeconfig.NodeConfig) []string {
	for _, flag := range c.Kubelet.Flags {
		if flag.Name == "cloud-config" {
			return []string{concern.KubeletUnit}
		}
	}
	return nil
}

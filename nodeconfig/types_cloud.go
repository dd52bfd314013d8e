package nodeconfig

// Cloud describes the cloud the machine runs in.
type Cloud struct {
	// Provider is "azure" or "aws". Empty means no cloud.
	Provider string `json:"provider,omitempty" words:"azure,aws"`
	// InstanceType is the machine's size, by the cloud's name.
	InstanceType string `json:"instanceType,omitempty"`
	// Azure configures Azure's cloud provider.
	Azure *Azure `json:"azure,omitempty"`
	// AWS describes an EC2 instance's surroundings.
	AWS *AWS `json:"aws,omitempty"`
}

// AWS describes an EC2 instance's surroundings.
type AWS struct {
	// Region is the region of the cluster.
	Region string `json:"region,omitempty"`
	// OutpostID is the cluster's identifier on an outpost; empty elsewhere.
	OutpostID string `json:"outpostID,omitempty"`
	// FIPSEndpoints has the node use AWS STS and ECR by their endpoints whose cryptography is validated by FIPS 140. AWS has
	// such endpoints in regions of the United States.
	FIPSEndpoints bool `json:"fipsEndpoints,omitempty"`
}

// Azure is the configuration of Azure's cloud provider, written to azure.json.
type Azure struct {
	// Environment is the cloud: AzurePublicCloud (default, by location), AzureChinaCloud,
	// AzureUSGovernmentCloud, AzureGermanCloud, AzureStackCloud.
	Environment string `json:"environment,omitempty"`
	// TenantID is the Entra tenant of the identity.
	TenantID string `json:"tenantID,omitempty"`
	// SubscriptionID holds the cluster's resources.
	SubscriptionID string `json:"subscriptionID,omitempty"`
	// ResourceGroup holds the node's machine.
	ResourceGroup string `json:"resourceGroup,omitempty"`
	// Location is the region, such as "eastus".
	Location string `json:"location,omitempty"`
	// VMType is "standard" or "vmss".
	VMType string `json:"vmType,omitempty" words:"standard,vmss"`
	// Subnet is the name of the node's subnet.
	Subnet string `json:"subnet,omitempty"`
	// SecurityGroup is the name of the subnet's network security group.
	SecurityGroup string `json:"securityGroup,omitempty"`
	// VNet is the name of the virtual network.
	VNet string `json:"vnet,omitempty"`
	// VNetResourceGroup holds the virtual network, if that is not in ResourceGroup.
	VNetResourceGroup string `json:"vnetResourceGroup,omitempty"`
	// RouteTable is the name of the route table that pods' routes are written to.
	RouteTable string `json:"routeTable,omitempty"`
	// PrimaryAvailabilitySetName is the availability set behind the load balancer.
	PrimaryAvailabilitySetName string `json:"primaryAvailabilitySetName,omitempty"`
	// PrimaryScaleSetName is the scale set behind the load balancer.
	PrimaryScaleSetName string `json:"primaryScaleSetName,omitempty"`
	// UseInstanceMetadata uses the metadata service instead of the resource manager.
	UseInstanceMetadata bool `json:"useInstanceMetadata,omitempty"`
	// Identity is the identity of the cloud provider.
	Identity AzureIdentity `json:"identity,omitzero"`
	// LoadBalancer configures the cluster's load balancer.
	LoadBalancer AzureLoadBalancer `json:"loadBalancer,omitzero"`
	// Backoff is how the cloud provider retries.
	Backoff AzureBackoff `json:"backoff,omitzero"`
	// RateLimit limits the cloud provider's calls.
	RateLimit AzureRateLimit `json:"rateLimit,omitzero"`
	// Custom describes a cloud that is not one of the public ones.
	Custom *AzureCustomCloud `json:"custom,omitempty"`
	// PrivateRegistry is a container registry the node may pull from.
	PrivateRegistry string `json:"privateRegistry,omitempty"`
}

// AzureIdentity is the identity of the cloud provider.
type AzureIdentity struct {
	// ClientID is a service principal's, or "msi" for a managed identity.
	ClientID string `json:"clientID,omitempty"`
	// ClientSecret is a service principal's password.
	ClientSecret Secret `json:"clientSecret,omitzero"`
	// Managed uses the machine's managed identity.
	Managed bool `json:"managed,omitempty"`
	// UserAssignedID is the client ID of a user-assigned identity.
	UserAssignedID string `json:"userAssignedID,omitempty"`
}

// AzureLoadBalancer configures the cluster's load balancer.
type AzureLoadBalancer struct {
	// SKU is "basic" or "standard".
	SKU string `json:"sku,omitempty" words:"basic,standard"`
	// DisableOutboundSNAT leaves outbound traffic to another route.
	DisableOutboundSNAT bool `json:"disableOutboundSNAT,omitempty"`
	// ExcludeMaster keeps control plane machines out of it; default true.
	ExcludeMaster *bool `json:"excludeMaster,omitempty"`
	// MaxRules is the largest number of rules; default 148.
	MaxRules *int32 `json:"maxRules,omitempty"`
}

// AzureBackoff is how the cloud provider retries.
type AzureBackoff struct {
	// Enabled turns retries on; default true.
	Enabled *bool `json:"enabled,omitempty"`
	// Mode is "v2" (default), or another string, such as "v1" or "default": with any of those the cloud provider uses exponent and
	// jitter.
	Mode string `json:"mode,omitempty"`
	// Retries is the number of tries; default 6.
	Retries *int32 `json:"retries,omitempty"`
	// Duration is the wait in seconds; default 5.
	Duration *int32 `json:"duration,omitempty"`
	// Exponent lengthens each wait; default 0, not used in mode v2.
	Exponent *float64 `json:"exponent,omitempty"`
	// Jitter spreads the waits; default 0, not used in mode v2.
	Jitter *float64 `json:"jitter,omitempty"`
}

// AzureRateLimit limits the cloud provider's calls.
type AzureRateLimit struct {
	// Enabled turns the limits on; default true.
	Enabled *bool `json:"enabled,omitempty"`
	// QPS is the rate of reads per second; default 10.
	QPS *float64 `json:"qps,omitempty"`
	// QPSWrite is the rate of writes per second; default 10.
	QPSWrite *float64 `json:"qpsWrite,omitempty"`
	// Bucket is the burst of reads; default 100.
	Bucket *int32 `json:"bucket,omitempty"`
	// BucketWrite is the burst of writes; default 100.
	BucketWrite *int32 `json:"bucketWrite,omitempty"`
}

// AzureCustomCloud describes an Azure Stack or another cloud with its own endpoints.
type AzureCustomCloud struct {
	// Endpoints is the environment document for Azure's SDK, as JSON.
	Endpoints string `json:"endpoints,omitempty"`
	// RegistryDNSSuffix is the suffix of its container registries' names.
	RegistryDNSSuffix string `json:"registryDNSSuffix,omitempty"`
	// RepositoryEndpoint serves its packages, "https://HOST[/PATH]": apt or dnf uses it. A cloud with one has no reachable time
	// server either, so the machine takes the time from its host.
	RepositoryEndpoint string `json:"repositoryEndpoint,omitempty"`
}

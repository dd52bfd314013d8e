package nodeconfig

// Cloud describes the cloud the machine runs in.
type Cloud struct {
	// Provider is "azure", "aws", or empty for none.
	Provider string `json:"provider,omitempty"`
	// InstanceType is the machine's size, as the cloud names it.
	InstanceType string `json:"instanceType,omitempty"`
	Azure        *Azure `json:"azure,omitempty"`
	AWS          *AWS   `json:"aws,omitempty"`
}

// AWS describes an EC2 instance's surroundings.
type AWS struct {
	Region string `json:"region,omitempty"`
	// OutpostID is the cluster's identifier on an outpost; empty elsewhere.
	OutpostID string `json:"outpostID,omitempty"`
}

// Azure is the configuration of Azure's cloud provider, written to azure.json.
type Azure struct {
	// Environment is the cloud: AzurePublicCloud (default, by location), AzureChinaCloud,
	// AzureUSGovernmentCloud, AzureGermanCloud, AzureStackCloud.
	Environment                string            `json:"environment,omitempty"`
	TenantID                   string            `json:"tenantID,omitempty"`
	SubscriptionID             string            `json:"subscriptionID,omitempty"`
	ResourceGroup              string            `json:"resourceGroup,omitempty"`
	Location                   string            `json:"location,omitempty"`
	VMType                     string            `json:"vmType,omitempty"`
	Subnet                     string            `json:"subnet,omitempty"`
	SecurityGroup              string            `json:"securityGroup,omitempty"`
	VNet                       string            `json:"vnet,omitempty"`
	VNetResourceGroup          string            `json:"vnetResourceGroup,omitempty"`
	RouteTable                 string            `json:"routeTable,omitempty"`
	PrimaryAvailabilitySetName string            `json:"primaryAvailabilitySetName,omitempty"`
	PrimaryScaleSetName        string            `json:"primaryScaleSetName,omitempty"`
	UseInstanceMetadata        bool              `json:"useInstanceMetadata,omitempty"`
	Identity                   AzureIdentity     `json:"identity,omitzero"`
	LoadBalancer               AzureLoadBalancer `json:"loadBalancer,omitzero"`
	Backoff                    AzureBackoff      `json:"backoff,omitzero"`
	RateLimit                  AzureRateLimit    `json:"rateLimit,omitzero"`
	// Custom describes a cloud that is none of the public ones.
	Custom *AzureCustomCloud `json:"custom,omitempty"`
	// PrivateRegistry is a container registry the node may pull from.
	PrivateRegistry string `json:"privateRegistry,omitempty"`
}

// AzureIdentity is who the cloud provider acts as.
type AzureIdentity struct {
	// ClientID is a service principal's, or "msi" for a managed identity.
	ClientID     string `json:"clientID,omitempty"`
	ClientSecret Secret `json:"clientSecret,omitzero"`
	// Managed uses the machine's managed identity.
	Managed        bool   `json:"managed,omitempty"`
	UserAssignedID string `json:"userAssignedID,omitempty"`
}

// AzureLoadBalancer configures the cluster's load balancer.
type AzureLoadBalancer struct {
	// SKU is "basic" or "standard".
	SKU                 string `json:"sku,omitempty"`
	DisableOutboundSNAT bool   `json:"disableOutboundSNAT,omitempty"`
	// ExcludeMaster keeps control plane machines out of it; default true.
	ExcludeMaster *bool `json:"excludeMaster,omitempty"`
	// MaxRules is the largest number of rules; default 148.
	MaxRules *int32 `json:"maxRules,omitempty"`
}

// AzureBackoff is how the cloud provider retries.
type AzureBackoff struct {
	// Enabled defaults to true, Mode to "v2", Retries to 6, Duration (seconds) to 5.
	Enabled  *bool  `json:"enabled,omitempty"`
	Mode     string `json:"mode,omitempty"`
	Retries  *int32 `json:"retries,omitempty"`
	Duration *int32 `json:"duration,omitempty"`
	// Exponent and Jitter default to 0 and are not used in mode v2.
	Exponent *float64 `json:"exponent,omitempty"`
	Jitter   *float64 `json:"jitter,omitempty"`
}

// AzureRateLimit is how many calls the cloud provider makes.
type AzureRateLimit struct {
	// Enabled defaults to true, the rates (per second) to 10, the buckets to 100.
	Enabled     *bool    `json:"enabled,omitempty"`
	QPS         *float64 `json:"qps,omitempty"`
	QPSWrite    *float64 `json:"qpsWrite,omitempty"`
	Bucket      *int32   `json:"bucket,omitempty"`
	BucketWrite *int32   `json:"bucketWrite,omitempty"`
}

// AzureCustomCloud describes an Azure Stack or another cloud with endpoints of its own.
type AzureCustomCloud struct {
	// Endpoints is the environment document that Azure's SDK reads, as JSON.
	Endpoints string `json:"endpoints,omitempty"`
	// RegistryDNSSuffix ends the names of its container registries.
	RegistryDNSSuffix string `json:"registryDNSSuffix,omitempty"`
	// RepositoryEndpoint serves its packages.
	RepositoryEndpoint string `json:"repositoryEndpoint,omitempty"`
}

// Code generated from aksnodeconfig/v1/cluster.proto. DO NOT EDIT.

package aksnodeconfig

// VmType is the kind of Azure compute the nodes are.
type VmType int32

const (
	// Unspecified; written as an empty string.
	VmType_VM_TYPE_UNSPECIFIED VmType = 0
	// Single VMs; written as "standard".
	VmType_VM_TYPE_STANDARD VmType = 1
	// Scale set instances; written as "vmss".
	VmType_VM_TYPE_VMSS VmType = 2
)

var namesOfVmType = [...]string{
	"VM_TYPE_UNSPECIFIED",
	"VM_TYPE_STANDARD",
	"VM_TYPE_VMSS",
}

// Names are the names of the values, by their numbers.
func (VmType) Names() []string { return namesOfVmType[:] }

// LoadBalancerSku is the tier of an Azure load balancer.
type LoadBalancerSku int32

const (
	// Unspecified; written as an empty string.
	LoadBalancerSku_LOAD_BALANCER_SKU_UNSPECIFIED LoadBalancerSku = 0
	// Basic tier; written as "basic".
	LoadBalancerSku_LOAD_BALANCER_SKU_BASIC LoadBalancerSku = 1
	// Standard tier; written as "standard".
	LoadBalancerSku_LOAD_BALANCER_SKU_STANDARD LoadBalancerSku = 2
)

var namesOfLoadBalancerSku = [...]string{
	"LOAD_BALANCER_SKU_UNSPECIFIED",
	"LOAD_BALANCER_SKU_BASIC",
	"LOAD_BALANCER_SKU_STANDARD",
}

// Names are the names of the values, by their numbers.
func (LoadBalancerSku) Names() []string { return namesOfLoadBalancerSku[:] }

// ApiServerConfig names the API server.
type ApiServerConfig struct {
	// API server certificate as base64 of PEM; becomes /etc/kubernetes/certs/apiserver.crt. Empty
	// writes no file.
	ApiServerPublicKey string `aks:"1,api_server_public_key,apiServerPublicKey"`
	// Host name or IPv4 address of the API server, without scheme or port.
	ApiServerName string `aks:"2,api_server_name,apiServerName"`
}

// ClusterConfig describes the Azure resources of the cluster; most of it ends in azure.json.
type ClusterConfig struct {
	// The virtual network the node is in.
	ClusterNetworkConfig *ClusterNetworkConfig `aks:"1,cluster_network_config,clusterNetworkConfig"`
	// The cluster's load balancer.
	LoadBalancerConfig *LoadBalancerConfig `aks:"2,load_balancer_config,loadBalancerConfig"`
	// Resource group of the node's resources.
	ResourceGroup string `aks:"3,resource_group,resourceGroup"`
	// Azure region, such as "eastus". Also decides which cloud the node is in.
	Location string `aks:"4,location"`
	// Whether the nodes are single VMs or scale set instances.
	VmType VmType `aks:"5,vm_type,vmType"`
	// Availability set that load balancers use, for single VMs.
	PrimaryAvailabilitySet string `aks:"6,primary_availability_set,primaryAvailabilitySet"`
	// Scale set that load balancers use, for scale set instances.
	PrimaryScaleSet string `aks:"7,primary_scale_set,primaryScaleSet"`
	// Lets the cloud provider ask the instance metadata service about its own VM.
	UseInstanceMetadata bool `aks:"8,use_instance_metadata,useInstanceMetadata"`
	// Retry and rate limits of the cloud provider's Azure calls.
	CloudProviderConfig *CloudProviderConfig `aks:"9,cloud_provider_config,cloudProviderConfig"`
}

// ClusterNetworkConfig names the network resources the cloud provider works on.
type ClusterNetworkConfig struct {
	// Virtual network.
	VnetName string `aks:"1,vnet_name,vnetName"`
	// Resource group of the virtual network, if not the cluster's own.
	VnetResourceGroup string `aks:"2,vnet_resource_group,vnetResourceGroup"`
	// Subnet of the nodes.
	Subnet string `aks:"3,subnet"`
	// Network security group of the nodes.
	SecurityGroupName string `aks:"4,security_group_name,securityGroupName"`
	// Route table that pod routes are written to.
	RouteTable string `aks:"5,route_table,routeTable"`
	// Service IP of CoreDNS, where node-local DNS forwards cluster names. Empty means 10.0.0.10.
	CoreDnsServiceIp string `aks:"6,core_dns_service_ip,coreDnsServiceIp"`
}

// LoadBalancerConfig is what the cloud provider must know of the cluster's load balancer.
type LoadBalancerConfig struct {
	// Load balancer tier.
	LoadBalancerSku LoadBalancerSku `aks:"1,load_balancer_sku,loadBalancerSku"`
	// Keeps control plane nodes out of the standard load balancer's backends. Unset means true.
	ExcludeMasterFromStandardLoadBalancer *bool `aks:"2,exclude_master_from_standard_load_balancer,excludeMasterFromStandardLoadBalancer"`
	// Most rules one load balancer may have. Unset means 148.
	MaxLoadBalancerRuleCount *int32 `aks:"3,max_load_balancer_rule_count,maxLoadBalancerRuleCount"`
	// Takes source NAT for outbound traffic off the load balancer's rules.
	DisableOutboundSnat bool `aks:"4,disable_outbound_snat,disableOutboundSnat"`
}

// CloudProviderConfig tunes how the cloud provider retries and throttles its Azure calls.
type CloudProviderConfig struct {
	// Retry failed calls with a growing delay. Unset means true.
	Backoff *bool `aks:"1,backoff"`
	// Retry implementation. Empty means "v2", which takes no exponent and no jitter.
	BackoffMode string `aks:"2,backoff_mode,backoffMode"`
	// Retries before giving up. Unset means 6.
	BackoffRetries *int32 `aks:"3,backoff_retries,backoffRetries"`
	// Factor between two delays. Left out of azure.json in mode "v2". Unset means 0.
	BackoffExponent *float64 `aks:"4,backoff_exponent,backoffExponent"`
	// First delay in seconds. Unset means 5.
	BackoffDuration *int32 `aks:"5,backoff_duration,backoffDuration"`
	// Random share added to a delay. Left out of azure.json in mode "v2". Unset means 0.
	BackoffJitter *float64 `aks:"6,backoff_jitter,backoffJitter"`
	// Throttle calls on the node's side. Unset means true.
	RateLimit *bool `aks:"7,rate_limit,rateLimit"`
	// Read calls per second. Unset means 10.
	RateLimitQps *float64 `aks:"8,rate_limit_qps,rateLimitQps"`
	// Write calls per second. Unset means 10.
	RateLimitQpsWrite *float64 `aks:"9,rate_limit_qps_write,rateLimitQpsWrite"`
	// Read calls that may come in one burst. Unset means 100.
	RateLimitBucket *int32 `aks:"10,rate_limit_bucket,rateLimitBucket"`
	// Write calls that may come in one burst. Unset means 100.
	RateLimitBucketWrite *int32 `aks:"11,rate_limit_bucket_write,rateLimitBucketWrite"`
}

// CustomCloudConfig describes a cloud whose endpoints are not known in advance.
type CustomCloudConfig struct {
	// Cloud name. "akscustom", in any case, is what turns custom cloud mode on.
	CustomCloudEnvName string `aks:"1,custom_cloud_env_name,customCloudEnvName"`
	// Package repository inside that cloud.
	RepoDepotEndpoint string `aks:"2,repo_depot_endpoint,repoDepotEndpoint"`
	// Endpoints of that cloud: base64 of a JSON document; becomes /etc/kubernetes/akscustom.json.
	CustomEnvJsonContent string `aks:"3,custom_env_json_content,customEnvJsonContent"`
	// DNS suffix of that cloud's registries; images below it are pulled with the node's identity.
	ContainerRegistryDnsSuffix string `aks:"4,container_registry_dns_suffix,containerRegistryDnsSuffix"`
}

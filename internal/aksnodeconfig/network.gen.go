// Code generated from aksnodeconfig/v1/network.proto. DO NOT EDIT.

package aksnodeconfig

// NetworkPlugin gives pods their addresses.
type NetworkPlugin int32

const (
	// Unspecified; written as an empty string.
	NetworkPlugin_NETWORK_PLUGIN_UNSPECIFIED NetworkPlugin = 0
	// The cluster's owner installs one; written as "none".
	NetworkPlugin_NETWORK_PLUGIN_NONE NetworkPlugin = 1
	// Azure CNI; written as "azure".
	NetworkPlugin_NETWORK_PLUGIN_AZURE NetworkPlugin = 2
	// Bridge and routes; written as "kubenet".
	NetworkPlugin_NETWORK_PLUGIN_KUBENET NetworkPlugin = 3
)

var namesOfNetworkPlugin = [...]string{
	"NETWORK_PLUGIN_UNSPECIFIED",
	"NETWORK_PLUGIN_NONE",
	"NETWORK_PLUGIN_AZURE",
	"NETWORK_PLUGIN_KUBENET",
}

// Names are the names of the values, by their numbers.
func (NetworkPlugin) Names() []string { return namesOfNetworkPlugin[:] }

// NetworkPolicy enforces network policies.
type NetworkPolicy int32

const (
	// Unspecified; written as an empty string.
	NetworkPolicy_NETWORK_POLICY_UNSPECIFIED NetworkPolicy = 0
	// Nothing does; written as "none".
	NetworkPolicy_NETWORK_POLICY_NONE NetworkPolicy = 1
	// Azure's own engine; written as "azure".
	NetworkPolicy_NETWORK_POLICY_AZURE NetworkPolicy = 2
	// Calico; written as "calico".
	NetworkPolicy_NETWORK_POLICY_CALICO NetworkPolicy = 3
)

var namesOfNetworkPolicy = [...]string{
	"NETWORK_POLICY_UNSPECIFIED",
	"NETWORK_POLICY_NONE",
	"NETWORK_POLICY_AZURE",
	"NETWORK_POLICY_CALICO",
}

// Names are the names of the values, by their numbers.
func (NetworkPolicy) Names() []string { return namesOfNetworkPolicy[:] }

// NetworkConfig is the pod network of the node.
type NetworkConfig struct {
	// Pod network plugin.
	NetworkPlugin NetworkPlugin `aks:"1,network_plugin,networkPlugin"`
	// Engine for network policies.
	NetworkPolicy NetworkPolicy `aks:"2,network_policy,networkPolicy"`
	// Archive with the Azure CNI plugins.
	VnetCniPluginsUrl string `aks:"3,vnet_cni_plugins_url,vnetCniPluginsUrl"`
	// Archive with the reference CNI plugins. Without effect: they come with the image.
	CniPluginsUrl string `aks:"4,cni_plugins_url,cniPluginsUrl"`
	// Number of further network cards to configure. Zero leaves them alone.
	StandardSecondaryNicCount int32 `aks:"5,standard_secondary_nic_count,standardSecondaryNicCount"`
}

// HttpProxyConfig is the proxy of the whole node: login shells, package manager, systemd, kubelet.
type HttpProxyConfig struct {
	// Proxy for http URLs.
	HttpProxy string `aks:"1,http_proxy,httpProxy"`
	// Proxy for https URLs.
	HttpsProxy string `aks:"2,https_proxy,httpsProxy"`
	// Hosts, domains and networks reached directly.
	NoProxyEntries []string `aks:"3,no_proxy_entries,noProxyEntries"`
	// CA of the proxy as base64 of PEM, for the system trust store.
	ProxyTrustedCa string `aks:"4,proxy_trusted_ca,proxyTrustedCa"`
}

// ImdsRestrictionConfig keeps pods away from the instance metadata service.
type ImdsRestrictionConfig struct {
	// Drops what pods send to the service's address.
	EnableImdsRestriction bool `aks:"1,enable_imds_restriction,enableImdsRestriction"`
	// Puts the rule into the mangle table, where a Cilium data path still passes it, not the filter
	// table.
	InsertImdsRestrictionRuleToMangleTable bool `aks:"2,insert_imds_restriction_rule_to_mangle_table,insertImdsRestrictionRuleToMangleTable"`
}

// CustomSearchDomainConfig joins the node to a realm for its search domain. It counts only if all
// three fields are set.
type CustomSearchDomainConfig struct {
	// Domain to join and search.
	DomainName string `aks:"1,domain_name,domainName"`
	// User who may join machines.
	RealmUser string `aks:"2,realm_user,realmUser"`
	// Password of that user. Secret.
	RealmPassword string `aks:"3,realm_password,realmPassword"`
}

// Code generated from aksnodeconfig/v1/localdns.proto. DO NOT EDIT.

package aksnodeconfig

// LocalDnsProfile is a DNS cache on the node, between its clients and the cluster's and the virtual
// network's DNS.
type LocalDnsProfile struct {
	// Turns the cache on. Nothing else here counts without it.
	EnableLocalDns bool `aks:"1,enable_local_dns,enableLocalDns"`
	// CPU the cache may use, in thousandths of a core. Unset means 2000.
	CpuLimitInMilliCores *int32 `aks:"2,cpu_limit_in_milli_cores,cpuLimitInMilliCores"`
	// Memory the cache may use, in MiB. Unset means 128.
	MemoryLimitInMb *int32 `aks:"3,memory_limit_in_mb,memoryLimitInMb"`
	// Server blocks by zone for clients with the node's DNS policy; they listen on 169.254.10.10.
	VnetDnsOverrides map[string]LocalDnsOverrides `aks:"4,vnet_dns_overrides,vnetDnsOverrides"`
	// Server blocks by zone for clients with the cluster's DNS policy; they listen on 169.254.10.11.
	KubeDnsOverrides map[string]LocalDnsOverrides `aks:"5,kube_dns_overrides,kubeDnsOverrides"`
	// Answers critical names from a hosts file that is refreshed in the background.
	EnableHostsPlugin bool `aks:"6,enable_hosts_plugin,enableHostsPlugin"`
	// Names that file holds.
	CriticalFqdns []string `aks:"7,critical_fqdns,criticalFqdns"`
	// Seconds between two refreshes. Unset or not positive keeps the timer's own interval.
	HostsPluginRefreshIntervalInSeconds *int32 `aks:"8,hosts_plugin_refresh_interval_in_seconds,hostsPluginRefreshIntervalInSeconds"`
}

// LocalDnsOverrides is how one zone is served.
type LocalDnsOverrides struct {
	// "Error" logs failures, "Log" logs every query, anything else nothing.
	QueryLogging string `aks:"1,query_logging,queryLogging"`
	// Protocol towards the upstream: "ForceTCP" or "PreferUDP".
	Protocol string `aks:"2,protocol"`
	// Upstream: "ClusterCoreDNS" for the cluster's DNS, otherwise Azure DNS. A zone below
	// cluster.local always goes to the cluster, the virtual network's root zone never does.
	ForwardDestination string `aks:"3,forward_destination,forwardDestination"`
	// Order of upstreams: "RoundRobin" or "Random"; otherwise one after the other.
	ForwardPolicy string `aks:"4,forward_policy,forwardPolicy"`
	// Queries forwarded at a time.
	MaxConcurrent *int32 `aks:"5,max_concurrent,maxConcurrent"`
	// Longest time an answer is cached, in seconds.
	CacheDurationInSeconds *int32 `aks:"6,cache_duration_in_seconds,cacheDurationInSeconds"`
	// How long after its expiry an answer may still be served, in seconds.
	ServeStaleDurationInSeconds *int32 `aks:"7,serve_stale_duration_in_seconds,serveStaleDurationInSeconds"`
	// Serving of expired answers: "Verify" asks the upstream first, "Immediate" does not, "Disable"
	// serves none.
	ServeStale string `aks:"8,serve_stale,serveStale"`
	// Fails a query at once when every upstream is unhealthy. Unset means false.
	FailfastAllUnhealthyUpstreams *bool `aks:"9,failfast_all_unhealthy_upstreams,failfastAllUnhealthyUpstreams"`
	// How the upstream's health is probed.
	HealthCheck *LocalDnsHealthCheck `aks:"10,health_check,healthCheck"`
	// Which of an expired answer and a newer refusal is served: "PreferPositive" for the answer. Empty is CoreDNS's own
	// choice. It counts only with serve_stale, and CoreDNS before 1.14.7 does not start with it.
	ServeStalePolicy string `aks:"11,serve_stale_policy,serveStalePolicy"`
}

// LocalDnsHealthCheck is the probe of an upstream.
type LocalDnsHealthCheck struct {
	// Time between probes, as a Go duration. Unset means no health_check line.
	Duration *string `aks:"1,duration"`
	// Probes without asking for recursion. Unset means false.
	NoRec *bool `aks:"2,no_rec,noRec"`
	// Name to ask for. Unset means the server's own choice.
	Domain *string `aks:"3,domain"`
}

package aks

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/aksnodeconfig"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// network translates pod and host networking.
func (t *translation) network() {
	n, in := &t.out.Network, deref(t.in.NetworkConfig)
	n.Plugin = enumWord(in.NetworkPlugin)
	n.Policy = enumWord(in.NetworkPolicy)
	n.SecondaryInterfaces = in.StandardSecondaryNicCount
	n.HostsAgent = t.in.EnableHostsConfigAgent
	if t.in.Ipv6DualStackEnabled {
		n.IPFamilies = []string{"IPv4", "IPv6"}
	}
	if ip := deref(deref(t.in.ClusterConfig).ClusterNetworkConfig).CoreDnsServiceIp; ip != "" {
		t.out.Cluster.DNSServiceIPs = []string{ip}
		t.moved(item("$.cluster.dnsServiceIPs", 0), at("$.cluster_config.cluster_network_config.core_dns_service_ip"))
	}
	if imds := deref(t.in.ImdsRestrictionConfig); imds.EnableImdsRestriction {
		n.MetadataRestriction = &nodeconfig.MetadataRestriction{Table: "filter"}
		if imds.InsertImdsRestrictionRuleToMangleTable {
			n.MetadataRestriction.Table = "mangle"
		}
	}
	t.localDNS()
	t.proxy()
}

// proxy translates the node's proxy.
func (t *translation) proxy() {
	in := deref(t.in.HttpProxyConfig)
	t.out.Proxy = nodeconfig.Proxy{
		HTTP:                 nodeconfig.NewSecret(in.HttpProxy),
		HTTPS:                nodeconfig.NewSecret(in.HttpsProxy),
		NoProxy:              in.NoProxyEntries,
		CertificateAuthority: in.ProxyTrustedCa,
	}
}

// localDNS translates the DNS cache of the node.
func (t *translation) localDNS() {
	const path = "$.local_dns_profile"
	in := t.in.LocalDnsProfile
	if in == nil || !in.EnableLocalDns {
		return
	}
	dns := &nodeconfig.LocalDNS{
		CPUMilli: in.CpuLimitInMilliCores,
		MemoryMB: in.MemoryLimitInMb,
		Host:     t.zones(in.VnetDnsOverrides, path+".vnet_dns_overrides", "$.network.localDNS.host"),
		Pods:     t.zones(in.KubeDnsOverrides, path+".kube_dns_overrides", "$.network.localDNS.pods"),
	}
	if in.EnableHostsPlugin {
		names, from := criticalNames(in)
		dns.Hosts = &nodeconfig.LocalDNSHosts{RefreshSeconds: in.HostsPluginRefreshIntervalInSeconds, Names: names}
		for i, at := range from {
			t.moved(item("$.network.localDNS.hosts.names", i), item(path+".critical_fqdns", at))
		}
	}
	t.out.Network.LocalDNS = dns
}

// criticalNames are the names that must resolve although DNS is down, each with its index in the contract. Like AKS, it removes the
// blanks around a name, and leaves out an empty one (AKS: getLocalDnsCriticalFqdns).
func criticalNames(in *aksnodeconfig.LocalDnsProfile) (names []string, from []int) {
	for i, name := range in.CriticalFqdns {
		if name = strings.TrimSpace(name); name != "" {
			names, from = append(names, name), append(from, i)
		}
	}
	return names, from
}

// zoneFields are the fields of a server block whose names differ in a NodeConfig, with both names.
var zoneFields = [][2]string{
	{"cacheSeconds", "cache_duration_in_seconds"},
	{"failFast", "failfast_all_unhealthy_upstreams"},
	{"forwardPolicy", "forward_policy"},
	{"forwardTo", "forward_destination"},
	{"healthCheck", "health_check"},
	{"maxConcurrent", "max_concurrent"},
	{"queryLogging", "query_logging"},
	{"serveStale", "serve_stale"},
	{"serveStalePolicy", "serve_stale_policy"},
	{"staleSeconds", "serve_stale_duration_in_seconds"},
}

// zones translates the server blocks from one path to another.
func (t *translation) zones(overrides map[string]aksnodeconfig.LocalDnsOverrides, path, to string) map[string]nodeconfig.LocalDNSZone {
	if len(overrides) == 0 {
		return nil
	}
	zones := make(map[string]nodeconfig.LocalDNSZone, len(overrides))
	for _, domain := range slices.Sorted(maps.Keys(overrides)) {
		in := overrides[domain]
		zone := nodeconfig.LocalDNSZone{
			QueryLogging:     in.QueryLogging,
			Protocol:         in.Protocol,
			ForwardTo:        in.ForwardDestination,
			ForwardPolicy:    in.ForwardPolicy,
			MaxConcurrent:    in.MaxConcurrent,
			CacheSeconds:     in.CacheDurationInSeconds,
			StaleSeconds:     in.ServeStaleDurationInSeconds,
			ServeStale:       in.ServeStale,
			ServeStalePolicy: in.ServeStalePolicy,
			FailFast:         in.FailfastAllUnhealthyUpstreams,
		}
		if check := in.HealthCheck; check != nil {
			zone.HealthCheck = &nodeconfig.LocalDNSHealthCheck{
				Interval:    t.duration(deref(check.Duration), document.FieldPath(path, domain)+".health_check.duration"),
				NoRecursion: check.NoRec,
				Domain:      deref(check.Domain),
			}
		}
		zones[domain] = zone
		for _, f := range zoneFields {
			t.moved(entry(document.FieldPath(to, domain), f[0]), entry(document.FieldPath(path, domain), f[1]))
		}
	}
	return zones
}

// duration parses a Go duration at a path. An empty string is 0.
func (t *translation) duration(text, path string) (d nodeconfig.Duration) {
	if text == "" {
		return 0
	}
	if err := d.UnmarshalText([]byte(text)); err != nil {
		t.Warn(nodeconfig.Invalid, path, "%s; left out", err)
	}
	return d
}

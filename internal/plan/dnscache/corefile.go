// Package dnscache writes the configuration of CoreDNS as a node's DNS cache, and knows what the cache and its supervisor share. It decides
// nothing about the node: internal/plan/network and internal/cse call it to write, internal/localdns to supervise.
package dnscache

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// The addresses of a node's DNS cache (AKS node contract, LocalDNS): for the host and for pods; and of those it asks. Azure's
// stands for the DNS servers that the machine has.
const (
	HostListener = "169.254.10.10"
	PodsListener = "169.254.10.11"
	AzureDNS     = "168.63.129.16"
	clusterDNS   = "10.0.0.10" // where the contract names none
	// ClusterDomain is the one whose names only the cluster knows.
	ClusterDomain = "cluster.local"
)

// Values that the cache and its supervisor share.
const (
	// HealthName is a name that the cache answers itself.
	HealthName = "health-check.localdns.local"
	// HostsFile has the addresses of the names that must resolve although DNS is down.
	HostsFile = "/etc/localdns/hosts"
	// RunDir has the state that the supervisor needs after a restart.
	RunDir = "/run/localdns"
)

// head is what precedes the contract's domains.
const head = `# ***********************************************************************************
# WARNING: Changes to this file will be overwritten and not persisted.
# ***********************************************************************************
# whoami (used for health check of DNS)
` + HealthName + `:53 {
    bind ` + HostListener + " " + PodsListener + `
    whoami
}
`

// hosts answers critical names from a file.
const hosts = `    # Check /etc/localdns/hosts first for critical AKS FQDNs (mcr.microsoft.com, packages.aks.azure.com, etc.)
    hosts ` + HostsFile + ` {
        ttl 5
        reload 5s
        fallthrough
    }
`

// nowhere answers what exists nowhere, for the root domain.
const nowhere = `    template ANY ANY internal.cloudapp.net {
        match "^(?:[^.]+\.){4,}internal\.cloudapp\.net\.$"
        rcode NXDOMAIN
        fallthrough
    }
    template ANY ANY reddog.microsoft.com {
        rcode NXDOMAIN
    }
`

// Corefile is the configuration of the node's DNS cache, in AKS's layout (AKS node contract, LocalDNS Corefile). If
// withHosts is true, a file answers critical names first. CoreDNS decides what the contract does not set (CoreDNS:
// plugins forward and cache).
func Corefile(c *nodeconfig.NodeConfig, withHosts bool) []byte {
	dns := c.Network.LocalDNS
	if dns == nil {
		return nil
	}
	server := clusterDNS
	if ips := c.Cluster.DNSServiceIPs; len(ips) > 0 {
		server = ips[0]
	}
	var b strings.Builder
	b.WriteString(head)
	b.WriteString("# VnetDNS overrides apply to DNS traffic from pods with dnsPolicy:default or kubelet (referred to as VnetDNS traffic).\n")
	for _, domain := range slices.Sorted(maps.Keys(dns.Host)) {
		upstream := AzureDNS
		if domain != "." && isClusterDomain(domain, dns.Host[domain]) {
			upstream = server
		}
		writeZone(&b, domain, dns.Host[domain], HostListener, "localdns", upstream, withHosts)
	}
	b.WriteString("# KubeDNS overrides apply to DNS traffic from pods with dnsPolicy:ClusterFirst (referred to as KubeDNS traffic).\n")
	for _, domain := range slices.Sorted(maps.Keys(dns.Pods)) {
		upstream := AzureDNS
		if isClusterDomain(domain, dns.Pods[domain]) {
			upstream = server
		}
		writeZone(&b, domain, dns.Pods[domain], PodsListener, "localdns-pod", upstream, withHosts)
	}
	return []byte(b.String())
}

// isClusterDomain reports whether the cluster's DNS service answers for a domain.
func isClusterDomain(domain string, zone nodeconfig.LocalDNSZone) bool {
	return strings.HasSuffix(domain, ClusterDomain) || zone.ForwardTo == "ClusterCoreDNS"
}

// The contract's words and CoreDNS's.
var (
	logs      = map[string]string{"Error": "errors", "Log": "log"}
	protocols = map[string]string{"ForceTCP": "force_tcp", "PreferUDP": "prefer_udp"} // CoreDNS: plugin forward
	policies  = map[string]string{"RoundRobin": "round_robin", "Random": "random"}
	Stale     = map[string]string{"Verify": "verify", "Immediate": "immediate"}
)

// The defaults for numbers that the contract does not set: CoreDNS's own (plugin cache: "ttl", "serve_stale").
const (
	cacheSeconds = 3600
	staleSeconds = 3600
)

// writeZone writes the block of a domain.
func writeZone(b *strings.Builder, domain string, zone nodeconfig.LocalDNSZone, listener, name, upstream string, withHosts bool) {
	isRoot := domain == "."
	fmt.Fprintf(b, "%s:53 {\n", domain)
	if log := logs[zone.QueryLogging]; log != "" {
		fmt.Fprintf(b, "    %s\n", log)
	}
	fmt.Fprintf(b, "    bind %s\n", listener)
	if isRoot && withHosts {
		b.WriteString(hosts)
	}
	writeForward(b, zone, upstream)
	fmt.Fprintf(b, "    ready %s:8181\n", listener)
	fmt.Fprintf(b, "    cache %d {\n        success 9984\n        denial 9984\n", or(zone.CacheSeconds, cacheSeconds))
	if stale := Stale[zone.ServeStale]; stale != "" {
		fmt.Fprintf(b, "        serve_stale %ds %s\n", or(zone.StaleSeconds, staleSeconds), stale)
		if isRoot && zone.ServeStalePolicy == "PreferPositive" {
			b.WriteString("        serve_stale_policy prefer_positive\n")
		}
	}
	b.WriteString("        servfail 0\n    }\n")
	fmt.Fprintf(b, "    loadbalance\n    loop\n    nsid %s\n    prometheus :9253\n", name)
	if isRoot {
		b.WriteString(nowhere)
	}
	b.WriteString("}\n")
}

// writeForward writes the upstream servers, and how the cache reaches them.
func writeForward(b *strings.Builder, zone nodeconfig.LocalDNSZone, upstream string) {
	fmt.Fprintf(b, "    forward . %s {\n", upstream)
	if protocol := protocols[zone.Protocol]; protocol != "" {
		fmt.Fprintf(b, "        %s\n", protocol)
	}
	policy := policies[zone.ForwardPolicy]
	if policy == "" {
		policy = "sequential"
	}
	fmt.Fprintf(b, "        policy %s\n", policy)
	if zone.MaxConcurrent != nil {
		fmt.Fprintf(b, "        max_concurrent %d\n", *zone.MaxConcurrent)
	}
	if check := zone.HealthCheck; check != nil && check.Interval != 0 {
		fmt.Fprintf(b, "        health_check %s", check.Interval)
		if check.NoRecursion != nil && *check.NoRecursion {
			b.WriteString(" no_rec")
		}
		if check.Domain != "" {
			fmt.Fprintf(b, " domain %s", check.Domain)
		}
		b.WriteString("\n")
	}
	if zone.FailFast != nil && *zone.FailFast {
		b.WriteString("        failfast_all_unhealthy_upstreams\n")
	}
	b.WriteString("    }\n")
}

// or returns a number of the contract, or other if the contract has none.
func or(n *int32, other int32) int32 {
	if n != nil {
		return *n
	}
	return other
}

// Limits are what the cache may take, as systemd reads it (systemd.resource-control(5)).
func Limits(dns *nodeconfig.LocalDNS) (cpu, memory string) {
	cpu, memory = "200.0%", "128M"
	if milli := dns.CPUMilli; milli != nil && *milli != 0 {
		cpu = fmt.Sprintf("%.1f%%", float64(*milli)/10)
	}
	if mb := dns.MemoryMB; mb != nil && *mb != 0 {
		memory = fmt.Sprintf("%dM", *mb)
	}
	return cpu, memory
}

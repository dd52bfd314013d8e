package nodeconfig

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

const (
	// healthZone is the cache's own server block for health checks (AKS: localdns.sh).
	healthZone = "health-check.localdns.local"
	// shortestRefresh is the shortest interval for resolving critical names (AKS: aks-localdns-hosts-setup).
	shortestRefresh = 5
)

// localDNS validates the node's DNS cache. Valid values become words of CoreDNS's configuration. There a brace, a quote, a blank or
// a line break would start another element, and {$NAME} is a variable (Caddy: the Caddyfile's syntax).
func (v *validator) localDNS(dns *LocalDNS) {
	const at = "$.network.localDNS"
	v.number(at+".cpuMilli", &dns.CPUMilli, 0)
	v.number(at+".memoryMB", &dns.MemoryMB, 0)
	v.dnsZones(at+".host", dns.Host)
	v.dnsZones(at+".pods", dns.Pods)
	if hosts := dns.Hosts; hosts != nil {
		checkList(v, at+".hosts.names", &hosts.Names, func(name string) string {
			if !isDomain(name) {
				return "is not a domain name"
			}
			return ""
		})
		if seconds := hosts.RefreshSeconds; seconds != nil && *seconds != 0 && *seconds < shortestRefresh {
			v.invalid(at+".hosts.refreshSeconds", "is less than 5 seconds", func() { hosts.RefreshSeconds = nil })
		}
	}
}

// number checks that a number, if set, is at least a minimum.
func (v *validator) number(path string, number **int32, least int32) {
	switch n := *number; {
	case n == nil || *n >= least:
	case least == 0:
		v.invalid(path, "is negative", func() { *number = nil })
	default:
		v.invalid(path, "is not greater than 0", func() { *number = nil })
	}
}

// dnsZones validates server blocks. CoreDNS does not start if two have the same domain.
func (v *validator) dnsZones(path string, zones map[string]LocalDNSZone) {
	seen := make(map[string]bool)
	for _, domain := range slices.Sorted(maps.Keys(zones)) {
		at := document.FieldPath(path, domain)
		plain := strings.ToLower(strings.TrimSuffix(domain, "."))
		reason := ""
		switch {
		case domain != "." && !isDomain(domain):
			reason = "is not a domain name"
		case plain == healthZone:
			reason = "is the domain by which the DNS cache's health is checked"
		case seen[plain]:
			reason = "is there twice: case and a dot at the end make no other domain"
		}
		if reason != "" {
			v.invalid(at, reason, func() { delete(zones, domain) })
			continue
		}
		seen[plain] = true
		zone := zones[domain]
		v.dnsZone(at, &zone)
		zones[domain] = zone
	}
}

// dnsZone validates a server block. The minimums are CoreDNS's (CoreDNS: plugin/cache/setup.go, plugin/forward/setup.go).
func (v *validator) dnsZone(at string, zone *LocalDNSZone) {
	v.number(at+".maxConcurrent", &zone.MaxConcurrent, 0)
	v.number(at+".cacheSeconds", &zone.CacheSeconds, 1)
	v.number(at+".staleSeconds", &zone.StaleSeconds, 0)
	if check := zone.HealthCheck; check != nil && check.Domain != "" && check.Domain != "." && !isDomain(check.Domain) {
		v.invalid(at+".healthCheck.domain", "is not a domain name", func() { check.Domain = "" })
	}
}

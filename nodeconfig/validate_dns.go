package nodeconfig

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

const (
	// healthZone is the cache's own server block, by which its health is checked (AKS: localdns.sh).
	healthZone = "health-check.localdns.local"
	// shortestRefresh is how often critical names may be looked up (AKS: aks-localdns-hosts-setup).
	shortestRefresh = 5
)

// localDNS validates the node's DNS cache. What is good here becomes words of CoreDNS's configuration, in which a brace, a
// quote, a blank or a line break would begin something else, and {$NAME} is a variable (Caddy: the Caddyfile's syntax).
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

// number wants a number, where there is one, to be at least another.
func (v *validator) number(path string, number **int32, least int32) {
	switch n := *number; {
	case n == nil || *n >= least:
	case least == 0:
		v.invalid(path, "is negative", func() { *number = nil })
	default:
		v.invalid(path, "is not greater than 0", func() { *number = nil })
	}
}

// dnsZones validates server blocks. CoreDNS does not start if two are for one domain.
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

// dnsZone validates a server block. The least numbers are those that CoreDNS takes (CoreDNS: plugin/cache/setup.go,
// plugin/forward/setup.go).
func (v *validator) dnsZone(at string, zone *LocalDNSZone) {
	v.number(at+".maxConcurrent", &zone.MaxConcurrent, 0)
	v.number(at+".cacheSeconds", &zone.CacheSeconds, 1)
	v.number(at+".staleSeconds", &zone.StaleSeconds, 0)
	if check := zone.HealthCheck; check != nil && check.Domain != "" && check.Domain != "." && !isDomain(check.Domain) {
		v.invalid(at+".healthCheck.domain", "is not a domain name", func() { check.Domain = "" })
	}
}

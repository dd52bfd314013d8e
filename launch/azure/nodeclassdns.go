package azure

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// LocalDNS is a class's DNS cache on each node.
type LocalDNS struct {
	Mode             *string    `json:"mode,omitempty"`
	VnetDNSOverrides []Override `json:"vnetDNSOverrides,omitempty"`
	KubeDNSOverrides []Override `json:"kubeDNSOverrides,omitempty"`
}

// Override is how the cache answers below one domain.
type Override struct {
	Zone               string `json:"zone"`
	QueryLogging       string `json:"queryLogging"`
	Protocol           string `json:"protocol"`
	ForwardDestination string `json:"forwardDestination"`
	ForwardPolicy      string `json:"forwardPolicy"`
	MaxConcurrent      *int32 `json:"maxConcurrent"`
	CacheDuration      string `json:"cacheDuration"`
	ServeStaleDuration string `json:"serveStaleDuration"`
	ServeStale         string `json:"serveStale"`
}

// cache is the DNS cache in a contract, without what no node can serve, and what is wrong with that.
func (d *LocalDNS) cache() (*nodeconfig.LocalDNS, []nodeconfig.Problem) {
	cache := &nodeconfig.LocalDNS{Host: zones(d.VnetDNSOverrides), Pods: zones(d.KubeDNSOverrides)}
	return cache, nodeconfig.Repair(&nodeconfig.NodeConfig{Network: nodeconfig.Network{LocalDNS: cache}})
}

func zones(overrides []Override) map[string]nodeconfig.LocalDNSZone {
	all := make(map[string]nodeconfig.LocalDNSZone, len(overrides))
	for _, o := range overrides {
		all[o.Zone] = nodeconfig.LocalDNSZone{
			QueryLogging: o.QueryLogging, Protocol: o.Protocol, ForwardTo: o.ForwardDestination, ForwardPolicy: o.ForwardPolicy,
			MaxConcurrent: o.MaxConcurrent, CacheSeconds: seconds(o.CacheDuration), StaleSeconds: seconds(o.ServeStaleDuration), ServeStale: o.ServeStale,
		}
	}
	return all
}

// longestDuration is the longest that a contract can say, in seconds.
const longestDuration = (1<<31 - 1) * time.Second

// seconds reads a duration; nil if the text is malformed.
func seconds(text string) *int32 {
	d, err := time.ParseDuration(text)
	if err != nil || d > longestDuration || !durationForm.MatchString(text) {
		return nil
	}
	return new(int32(d / time.Second))
}

// localDNS checks a class's DNS cache (CRD aksnodeclasses, localDNS and its CEL rules). What a contract would leave out is an error
// here: a zone that no node serves is not what the author wants.
func (p *problems) localDNS(d *LocalDNS) {
	const path = "$.spec.localDNS"
	if d == nil {
		return
	}
	if d.Mode == nil {
		p.Report(true, nodeconfig.Missing, path+".mode", "is missing; want one of "+strings.Join(dnsModes, ", "))
	}
	p.oneOf(path+".mode", d.Mode, dnsModes)
	if value(d.Mode) == dnsPreferred {
		p.Report(false, nodeconfig.NoEffect, path+".mode", "makes no DNS cache: Karpenter prefers one from Kubernetes 1.99 on; use Required")
	}
	p.overrides(path+".vnetDNSOverrides", d.VnetDNSOverrides, true)
	p.overrides(path+".kubeDNSOverrides", d.KubeDNSOverrides, false)
}

// unservedRows are what a contract can refuse of a good class, by the place in a zone of the contract.
var unservedRows = []struct{ contract, class, reason string }{
	{"", ".zone", "cannot be served: it is the domain by which the cache's health is checked"},
	{".cacheSeconds", ".cacheDuration", "want at least 1s"},
}

// overrides checks a list. Those of the virtual network ask the virtual network's DNS for all that is not the cluster's.
func (p *problems) overrides(path string, list []Override, vnet bool) {
	switch {
	case len(list) == 0:
		p.Report(true, nodeconfig.Missing, path, "is missing; localDNS takes both lists")
		return
	case len(list) > mostOverrides:
		p.wrong(path, fmt.Sprintf("want at most %d zones", mostOverrides))
		return
	}
	seen := make(map[string]bool)
	for i := range list {
		o, at := &list[i], document.IndexPath(path, i)
		p.override(at, o)
		plain := strings.ToLower(strings.TrimSuffix(o.Zone, "."))
		cluster := strings.HasSuffix(o.Zone, "cluster.local")
		switch {
		case !isZone(o.Zone):
		case seen[plain]:
			p.wrong(at+".zone", "has been given before; case and a dot at the end make no other domain")
		case cluster && o.ForwardDestination == "VnetDNS":
			p.wrong(at+".forwardDestination", "cluster.local cannot be asked of VnetDNS")
		case vnet && !cluster && o.ForwardDestination == "ClusterCoreDNS":
			p.wrong(at+".forwardDestination", "the cluster's DNS is not asked for zones of others here; use VnetDNS")
		default:
			p.unserved(at, o)
		}
		seen[plain] = true
	}
	for _, zone := range []string{".", "cluster.local"} {
		if !slices.ContainsFunc(list, func(o Override) bool { return o.Zone == zone }) {
			p.wrong(path, fmt.Sprintf("does not have the zone %q, which it must have", zone))
		}
	}
}

// unserved reports what a contract would leave out of a zone that is as the API server wants it.
func (p *problems) unserved(at string, o *Override) {
	_, found := (&LocalDNS{VnetDNSOverrides: []Override{*o}}).cache()
	for _, row := range unservedRows {
		path := document.FieldPath("$.network.localDNS.host", o.Zone) + row.contract
		if slices.ContainsFunc(found, func(f nodeconfig.Problem) bool { return f.Path == path }) {
			p.wrong(at+row.class, row.reason)
		}
	}
}

// isZone reports whether a text is a domain, or "." for all.
func isZone(text string) bool { return len(text) <= longestZone && zoneForm.MatchString(text) }

func (p *problems) override(at string, o *Override) {
	for _, f := range []struct {
		name, text string
		allowed    []string
	}{
		{"queryLogging", o.QueryLogging, []string{"Error", "Log"}},
		{"protocol", o.Protocol, []string{"PreferUDP", "ForceTCP"}},
		{"forwardDestination", o.ForwardDestination, []string{"ClusterCoreDNS", "VnetDNS"}},
		{"forwardPolicy", o.ForwardPolicy, []string{"Sequential", "RoundRobin", "Random"}},
		{"serveStale", o.ServeStale, []string{"Verify", "Immediate", "Disable"}},
	} {
		p.oneOf(field(at, f.name), &f.text, f.allowed)
	}
	for name, text := range map[string]string{"cacheDuration": o.CacheDuration, "serveStaleDuration": o.ServeStaleDuration} {
		if seconds(text) == nil {
			p.wrong(field(at, name), "want whole seconds, minutes or hours, such as 1h")
		}
	}
	if !isZone(o.Zone) {
		p.wrong(at+".zone", `want a domain such as example.com, or "." for all others`)
	}
	if o.MaxConcurrent == nil || *o.MaxConcurrent < 0 {
		p.wrong(at+".maxConcurrent", "want 0 or more")
	}
	if o.ServeStale == "Verify" && o.Protocol == "ForceTCP" {
		p.wrong(at+".serveStale", "Verify cannot be used with protocol ForceTCP")
	}
}

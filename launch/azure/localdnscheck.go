package azure

import (
	"fmt"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// localDNS checks a class's DNS cache (CRD aksnodeclasses, localDNS and its CEL rules).
func (p *problems) localDNS(d *LocalDNS) {
	const path = "$.spec.localDNS"
	if d == nil {
		return
	}
	p.oneOf(path+".mode", d.Mode, dnsModes)
	switch value(d.Mode) {
	case dnsRequired:
		for name, list := range map[string][]Override{"vnetDNSOverrides": d.VnetDNSOverrides, "kubeDNSOverrides": d.KubeDNSOverrides} {
			if len(list) == 0 {
				p.Report(true, nodeconfig.Missing, field(path, name), "is missing; mode Required takes both lists")
			}
		}
	case dnsPreferred:
		p.Report(false, nodeconfig.NoEffect, path+".mode", "makes no DNS cache: Karpenter prefers one from Kubernetes 1.99 on; use Required")
	}
	p.overrides(path+".vnetDNSOverrides", d.VnetDNSOverrides, true)
	p.overrides(path+".kubeDNSOverrides", d.KubeDNSOverrides, false)
}

// overrides checks a list. Those of the virtual network ask the virtual network's DNS for all that is not the cluster's.
func (p *problems) overrides(path string, list []Override, vnet bool) {
	if len(list) > mostOverrides {
		p.wrong(path, fmt.Sprintf("want at most %d zones", mostOverrides))
		return
	}
	seen := make(map[string]bool)
	for i, o := range list {
		at := document.IndexPath(path, i)
		p.override(at, &o)
		cluster := strings.HasSuffix(o.Zone, "cluster.local")
		switch {
		case seen[o.Zone]:
			p.wrong(at+".zone", "has been given before")
		case cluster && o.ForwardDestination == "VnetDNS":
			p.wrong(at+".forwardDestination", "cluster.local cannot be asked of VnetDNS")
		case vnet && !cluster && o.ForwardDestination == "ClusterCoreDNS":
			p.wrong(at+".forwardDestination", "the cluster's DNS is not asked for zones of others here; use VnetDNS")
		}
		seen[o.Zone] = true
	}
	for _, zone := range []string{".", "cluster.local"} {
		if len(list) > 0 && !seen[zone] {
			p.wrong(path, fmt.Sprintf("does not have the zone %q, which it must have", zone))
		}
	}
}

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
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 || d%time.Second != 0 || d > (1<<31-1)*time.Second {
			p.wrong(field(at, name), "want whole seconds, minutes or hours, such as 1h")
		}
	}
	if o.Zone == "" || len(o.Zone) > 254 {
		p.wrong(at+".zone", "want a domain")
	}
	if o.MaxConcurrent == nil || *o.MaxConcurrent < 0 {
		p.wrong(at+".maxConcurrent", "want 0 or more")
	}
	if o.ServeStale == "Verify" && o.Protocol == "ForceTCP" {
		p.wrong(at+".serveStale", "Verify cannot be used with protocol ForceTCP")
	}
}

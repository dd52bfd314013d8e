package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

const (
	localCorefile = "/opt/azure/containers/localdns/localdns.corefile"
	serviceFile   = "/etc/systemd/system/localdns.service"
	sliceFile     = "/etc/systemd/system/localdns.slice"
)

// cached is a contract of a node with a DNS cache.
func cached(t *testing.T, change func(c *nodeconfig.NodeConfig, dns *nodeconfig.LocalDNS)) *nodeconfig.NodeConfig {
	t.Helper()
	return minimal(t, nodeconfig.LayoutAKS, func(c *nodeconfig.NodeConfig) {
		c.Network.LocalDNS = &nodeconfig.LocalDNS{}
		c.Cluster.ServiceCIDRs, c.Cluster.DNSServiceIPs = nil, nil
		c.Kubelet.Flags = []nodeconfig.Flag{{Name: "cluster-dns", Value: "10.96.0.10"}}
		change(c, c.Network.LocalDNS)
	})
}

// asking has pods ask the cache, as a flag or in the configuration file.
var asking = map[string]func(c *nodeconfig.NodeConfig, dns *nodeconfig.LocalDNS){
	"flag": func(c *nodeconfig.NodeConfig, _ *nodeconfig.LocalDNS) {
		c.Kubelet.Flags = []nodeconfig.Flag{{Name: "cluster-dns", Value: "169.254.10.11"}}
	},
	"configuration": func(c *nodeconfig.NodeConfig, _ *nodeconfig.LocalDNS) {
		c.Kubelet.Flags, c.Kubelet.Config = nil, map[string]any{"clusterDNS": []any{"169.254.10.11"}}
	},
}

// Without a cache that is ready a node is one all the same, unless its pods have no other DNS server.
func TestLocalDNSIsNeededByPods(t *testing.T) {
	ids := map[resource.ID]int{
		"File:" + localCorefile: exitcode.LocalDNSCorefileMissing, "File:" + sliceFile: exitcode.LocalDNSSliceMissing, "File:" + serviceFile: exitcode.LocalDNSFailed,
		"Unit:localdns.slice": exitcode.LocalDNSSliceMissing, "Check:local-dns": exitcode.LocalDNSFailed, "Check:local-dns-program": exitcode.LocalDNSBinaryMissing,
	}
	asking := map[string]func(*nodeconfig.NodeConfig, *nodeconfig.LocalDNS){
		"": func(*nodeconfig.NodeConfig, *nodeconfig.LocalDNS) {}, "flag": asking["flag"], "configuration": asking["configuration"],
		"another flag over the configuration": func(c *nodeconfig.NodeConfig, dns *nodeconfig.LocalDNS) {
			asking["configuration"](c, dns)
			c.Kubelet.Flags = []nodeconfig.Flag{{Name: "cluster-dns", Value: "10.0.0.10"}}
		},
		"two flags": func(c *nodeconfig.NodeConfig, dns *nodeconfig.LocalDNS) {
			asking["flag"](c, dns)
			c.Kubelet.Flags = append(c.Kubelet.Flags, nodeconfig.Flag{Name: "cluster-dns", Value: "10.0.0.10"})
		},
	}
	idle := []string{"", "another flag over the configuration"}
	for how, change := range asking {
		p, problems := New(cached(t, change), ubuntu(t))
		if over := how == "another flag over the configuration"; len(nodeconfig.Fatal(problems)) > 0 || (len(problems) > 0) != over { // the one warning
			t.Errorf("%s: %v", how, problems)
		}
		for id, code := range ids {
			r := resourceIn(p, id)
			if r == nil || r.ExitCode != code {
				t.Errorf("%s: %s: got %+v, want exit code %d", how, id, r, code)
				continue
			}
			if c, ok := r.Spec.(*resource.Check); ok && c.Advisory != slices.Contains(idle, how) {
				t.Errorf("%s: %s is advisory: %t", how, id, c.Advisory)
			}
		}
		// The unit that may fail is started by a unit that does not fail with it.
		if planned(p, "Unit:localdns.service") {
			t.Errorf("%s: the node fails with the cache", how)
		}
	}
}

// Without CoreDNS in the image, or without a cache in the family, nothing is planned, and the problem is reported.
func TestLocalDNSWithoutCoreDNS(t *testing.T) {
	without := ubuntu(t)
	without.Components = slices.DeleteFunc(slices.Clone(without.Components), func(c components.Component) bool { return c.Name == "coredns" })
	for name, c := range map[string]struct {
		layout string
		known  facts.Facts
		reason string
	}{
		"no CoreDNS": {nodeconfig.LayoutAKS, without, "is not applied: it needs CoreDNS, and the machine has none"},
		"no cache":   {nodeconfig.LayoutStandard, ubuntu(t), "is not applied: nodes of this layout have no DNS cache"},
	} {
		for how, change := range asking {
			for _, asked := range []bool{false, true} {
				config := cached(t, func(n *nodeconfig.NodeConfig, dns *nodeconfig.LocalDNS) {
					n.Components.Layout = c.layout
					if asked {
						change(n, dns)
					}
				})
				p, problems := New(config, c.known)
				if len(problems) != 1 || problems[0].Path != "$.network.localDNS" || problems[0].Kind != nodeconfig.NotApplied ||
					problems[0].Fatal != asked || !strings.HasPrefix(problems[0].Reason, c.reason) {
					t.Errorf("%s, asked by %s %t: got %v", name, how, asked, problems)
				}
				for _, r := range p.Resources {
					if strings.Contains(strings.ToLower(string(r.ID())), "localdns") {
						t.Errorf("%s: %s is planned", name, r.ID())
					}
				}
			}
		}
	}
}

// If nothing is known of the machine, the plan uses the program's usual path; if the facts have another path, that one.
func TestLocalDNSProgram(t *testing.T) {
	known := ubuntu(t)
	known.Components = append(slices.DeleteFunc(slices.Clone(known.Components), func(c components.Component) bool { return c.Name == "coredns" }),
		components.Component{Name: "coredns", Version: "1.14.7", Path: "/opt/coredns/coredns"})
	for want, f := range map[string]facts.Facts{"/opt/azure/containers/localdns/binary/coredns": {}, "/opt/coredns/coredns": known} {
		p, _ := New(cached(t, func(*nodeconfig.NodeConfig, *nodeconfig.LocalDNS) {}), f)
		unit := string(fileAt(t, p, serviceFile).Content)
		if !strings.Contains(unit, "\nConditionPathExists="+want+"\n") || !strings.Contains(unit, "--coredns="+want+" ") {
			t.Errorf("%s is not run by\n%s", want, unit)
		}
		if c := resourceIn(p, "Check:local-dns-program").Spec.(*resource.Check); c.PathExists != want {
			t.Errorf("looks for %s, want %s", c.PathExists, want)
		}
	}
}

// Whatever blocks a contract has, there is one for what no other is for.
func TestLocalDNSAnswersEverything(t *testing.T) {
	for name, zones := range map[string]map[string]nodeconfig.LocalDNSZone{"none": nil, "one": {"a.example": {}}, "its own": {".": {QueryLogging: "Log"}}} {
		c := cached(t, func(_ *nodeconfig.NodeConfig, dns *nodeconfig.LocalDNS) { dns.Host, dns.Pods = zones, zones })
		p, problems := New(c, ubuntu(t))
		if len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
		servers, err := parseCorefile(string(fileAt(t, p, localCorefile).Content))
		if err != nil {
			t.Fatal(err)
		}
		upstream := make(map[string]string)
		for _, server := range servers {
			if server.words[0] == ".:53" {
				b := blockOf(t, server)
				upstream[b.Bind] = b.Upstream
			}
		}
		pods := ". 10.0.0.10"
		if name == "its own" {
			pods = ". 168.63.129.16"
		}
		if upstream["bind 169.254.10.10"] != ". 168.63.129.16" || upstream["bind 169.254.10.11"] != pods || len(upstream) != 2 {
			t.Errorf("%s: the rest is asked of %q", name, upstream)
		}
	}
}

// Names that must resolve have a variant of the Corefile, and are looked up.
func TestLocalDNSNames(t *testing.T) {
	for name, c := range map[string]struct {
		hosts *nodeconfig.LocalDNSHosts
		flags string
	}{
		"none":       {nil, ""},
		"no names":   {&nodeconfig.LocalDNSHosts{RefreshSeconds: new(int32(60))}, ""},
		"names":      {&nodeconfig.LocalDNSHosts{Names: []string{"a.example", "b.example"}}, "--refresh=15m0s \\\n    --name=a.example \\\n    --name=b.example\n"},
		"refreshed":  {&nodeconfig.LocalDNSHosts{Names: []string{"a.example"}, RefreshSeconds: new(int32(5))}, "--refresh=5s \\\n    --name=a.example\n"},
		"by default": {&nodeconfig.LocalDNSHosts{Names: []string{"a.example"}, RefreshSeconds: new(int32(0))}, "--refresh=15m0s \\\n    --name=a.example\n"},
	} {
		p, _ := New(cached(t, func(_ *nodeconfig.NodeConfig, dns *nodeconfig.LocalDNS) { dns.Hosts = c.hosts }), ubuntu(t))
		has := c.flags != ""
		unit, corefile := string(fileAt(t, p, serviceFile).Content), string(fileAt(t, p, localCorefile).Content)
		if strings.Contains(corefile, "hosts /etc/localdns/hosts {") != has || planned(p, "Directory:/etc/localdns") != has {
			t.Errorf("%s: the cache reads a file of names that does not exist, or does not read one that exists", name)
		}
		if strings.Contains(unit, "--name=") != has || !strings.Contains(unit, c.flags) {
			t.Errorf("%s: want %q in\n%s", name, c.flags, unit)
		}
	}
}

func TestLocalDNSLimits(t *testing.T) {
	for want, dns := range map[string]nodeconfig.LocalDNS{
		"CPUQuota=200.0%\nMemoryMax=128M\n": {CPUMilli: new(int32(0)), MemoryMB: new(int32(0))},
		"CPUQuota=200.8%\nMemoryMax=256M\n": {CPUMilli: new(int32(2008)), MemoryMB: new(int32(256))},
	} {
		p, _ := New(cached(t, func(_ *nodeconfig.NodeConfig, own *nodeconfig.LocalDNS) { *own = dns }), ubuntu(t))
		if got := string(fileAt(t, p, sliceFile).Content); !strings.HasSuffix(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
}

// Impossible settings are reported: the cache does not forward to itself, and some settings have an effect only in some blocks.
func TestLocalDNSProblems(t *testing.T) {
	const pods = "$.network.localDNS.pods"
	for path, c := range map[string]struct {
		change func(c *nodeconfig.NodeConfig, dns *nodeconfig.LocalDNS)
		fatal  bool
	}{
		"$.cluster.dnsServiceIPs[0]": {func(c *nodeconfig.NodeConfig, _ *nodeconfig.LocalDNS) {
			c.Cluster.DNSServiceIPs = []string{"169.254.10.11"}
		}, true},
		`$.network.localDNS.host["."].forwardTo`: {func(_ *nodeconfig.NodeConfig, dns *nodeconfig.LocalDNS) {
			dns.Host = map[string]nodeconfig.LocalDNSZone{".": {ForwardTo: "ClusterCoreDNS"}}
		}, false},
		pods + `["cluster.local"].forwardTo`: {func(_ *nodeconfig.NodeConfig, dns *nodeconfig.LocalDNS) {
			dns.Pods = map[string]nodeconfig.LocalDNSZone{"cluster.local": {ForwardTo: "VnetDNS"}}
		}, false},
		pods + `["a.example"].serveStalePolicy`: {func(_ *nodeconfig.NodeConfig, dns *nodeconfig.LocalDNS) {
			dns.Pods = map[string]nodeconfig.LocalDNSZone{"a.example": {ServeStale: "Verify", ServeStalePolicy: "PreferPositive"}}
		}, false},
		pods + `["."].serveStalePolicy`: {func(_ *nodeconfig.NodeConfig, dns *nodeconfig.LocalDNS) {
			dns.Pods = map[string]nodeconfig.LocalDNSZone{".": {ServeStalePolicy: "PreferPositive"}}
		}, false},
		pods + `["."].healthCheck`: {func(_ *nodeconfig.NodeConfig, dns *nodeconfig.LocalDNS) {
			dns.Pods = map[string]nodeconfig.LocalDNSZone{".": {HealthCheck: &nodeconfig.LocalDNSHealthCheck{Domain: "a.example"}}}
		}, false},
	} {
		_, problems := New(cached(t, c.change), ubuntu(t))
		if len(problems) != 1 || problems[0].Path != path || problems[0].Fatal != c.fatal {
			t.Errorf("%s: got %v", path, problems)
		}
	}
}

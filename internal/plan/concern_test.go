package plan

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// The order of the concerns changes neither a byte of a plan nor a problem.
func TestOrderDoesNotMatter(t *testing.T) {
	for name := range contracts(t) {
		c := contract(t, name)
		want, problems := New(c, ubuntu(t))
		document, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		shuffled := slices.Clone(concerns)
		for range 20 {
			rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			got, others := planAll(shuffled, concern.NewInput(c, ubuntu(t)))
			if again, err := json.Marshal(got); err != nil || string(again) != string(document) || !slices.Equal(problems, others) || !sameFiles(got, want) {
				t.Errorf("%s: another plan in the order %s", name, names(shuffled))
			}
		}
	}
}

func names(concerns []*concern.Concern) string {
	var all []string
	for _, c := range concerns {
		all = append(all, c.Name)
	}
	return strings.Join(all, ", ")
}

// Each concern has a unique name, and reads settings that exist.
func TestConcerns(t *testing.T) {
	all := leaves(reflect.TypeFor[nodeconfig.NodeConfig](), "$")
	seen := make(map[string]bool)
	for _, c := range agentlessConcerns() {
		if c.Name == "" || c.Plan == nil || seen[c.Name] {
			t.Errorf("%q is no name for a concern, or there twice", c.Name)
		}
		seen[c.Name] = true
		if !slices.Contains(resource.Subjects, c.Subject) {
			t.Errorf("%s has the subject %q, which no plan shows", c.Name, c.Subject)
		}
		if !slices.IsSorted(c.Reads) || !slices.IsSorted(c.Declines) {
			t.Errorf("%s: the settings are not in order", c.Name)
		}
		named := slices.Sorted(slices.Values(slices.Concat(c.Reads, c.Declines)))
		for i, path := range named {
			if further[path] == nil && !slices.ContainsFunc(all, func(l leaf) bool { return reading(path, l.path) }) {
				t.Errorf("%s names %s, which does not exist", c.Name, path)
			}
			if i > 0 && reading(named[i-1], path) || slices.Contains(readByAll, path) {
				t.Errorf("%s names %s twice", c.Name, path)
			}
		}
	}
}

// reading reports whether a concern that reads one path reads the setting at another.
func reading(path, setting string) bool {
	want, have := namesIn(path), namesIn(setting)
	if len(want) > len(have) {
		return false
	}
	for i := range want {
		if want[i] != have[i] && want[i] != anyKey {
			return false
		}
	}
	return true
}

// A concern reads exactly the settings that it lists: the test changes each setting alone, in many contracts. That changes
// the concerns that list it and no others. A setting that a concern reads changes some of its output somewhere. A setting that it
// declines changes only what it reports as not applied.
func TestReads(t *testing.T) {
	certificates(t)
	all := leaves(reflect.TypeFor[nodeconfig.NodeConfig](), "$")
	counts := make(map[*concern.Concern]map[string]bool)
	for _, c := range concerns {
		counts[c] = make(map[string]bool)
	}
	without := ubuntu(t)
	without.CNI = new(facts.CNI)
	machines := []facts.Facts{{NodeIPs: []string{"10.0.0.1", "fd00::1"}, CgroupVersion: 1, DNSExporter: true, Units: []string{"/etc/systemd/system/ensure-no-dup.service"}}, ubuntu(t), withCNIPackages(ubuntu(t)), without, onEC2(ubuntu(t)), withTemporaryDisk(onAzure("azurelinux", 8))}
	compare := func(setting string, before, after *nodeconfig.NodeConfig) {
		for _, known := range machines {
			first, second := concern.NewInput(before, known), concern.NewInput(after, known)
			for _, c := range concerns {
				one, other := alone(c, first), alone(c, second)
				if reflect.DeepEqual(one, other) {
					continue
				}
				named := slices.Concat(c.Reads, c.Declines)
				i := slices.IndexFunc(named, func(path string) bool { return reading(path, setting) })
				if i < 0 {
					t.Errorf("%s reads %s, and does not say so", c.Name, setting)
				} else if applied := !reflect.DeepEqual(withoutDeclined(one), withoutDeclined(other)); applied || i >= len(c.Reads) {
					counts[c][named[i]] = true
					if applied && i >= len(c.Reads) {
						t.Errorf("%s says that it declines %s, and applies it", c.Name, setting)
					}
				}
			}
		}
	}
	for _, layout := range profile.Names() {
		for _, l := range all {
			_, elsewhere := dialect.ReaderOf(dialect.Native, l.path)
			if elsewhere || slices.ContainsFunc(readByAll, func(path string) bool { return reading(path, l.path) }) {
				continue
			}
			before, after := pair(t, layout, l)
			compare(l.path, before, after)
		}
		for path, edits := range further {
			for _, edit := range edits {
				ofLayout := func(c *nodeconfig.NodeConfig) { c.Components.Layout = layout }
				before, after := contract(t, "native/minimal.yaml", ofLayout), contract(t, "native/minimal.yaml", ofLayout)
				edit(before, false)
				edit(after, true)
				compare(path, before, after)
			}
		}
	}
	for _, c := range concerns {
		for _, path := range slices.Concat(c.Reads, c.Declines) {
			if !counts[c][path] {
				t.Errorf("%s names %s, and it changes nothing", c.Name, path)
			}
		}
	}
}

// withoutDeclined returns an output without the problems with settings that are not applied.
func withoutDeclined(o *concern.Output) *concern.Output {
	left := *o
	left.List = nil
	for _, p := range o.List {
		if p.Kind != nodeconfig.NotApplied {
			left.List = append(left.List, p)
		}
	}
	return &left
}

// onEC2 are the facts of an instance of EC2's.
func onEC2(f facts.Facts) facts.Facts {
	f.CPUs, f.Instance = 2, &facts.Instance{Platform: facts.EC2, ID: "i-0123456789abcdef0", Hostname: "ip-10-0-0-5.eu-west-1.compute.internal", Type: "m5.large", Region: "eu-west-1", Zone: "eu-west-1a"}
	return f
}

// A setting is read by the concerns that name it, what holds it or what is within it.
func TestReadBy(t *testing.T) {
	artifactReaders := []string{"CNI", "CNI plug-ins", "client for an attested identity", "container runtime's packages", "containerd", "image credential provider's program", "installed components", "kubelet binary"}
	for path, want := range map[string][]string{
		"$":                          Concerns(),
		"$.join.method":              Concerns(),
		"$.system.modules":           {"modules"},
		"$.system.modules[3]":        {"modules"},
		`$.system.sysctls["vm.x.y"]`: {"kernel parameters"},
		"$.system.sysctls.x":         {"kernel parameters"},
		"$.runtime.containerd":       {"containerd"},
		"$.components.artifacts":     artifactReaders,
		setting.AzureCNIURL:          {"CNI", "CNI plug-ins"},
		"$.components.artifacts.containerd.version": {"container runtime's packages", "containerd", "installed components"},
		`$.components.artifacts["a.b"].version`:     {"containerd", "installed components"},
		"$.components.artifacts.*.version":          artifactReaders,
		"$.components.artifacts.containerd.url":     {"container runtime's packages", "containerd"},
		"$.components.artifacts.kube-proxy.url":     nil,
		"$.cluster.serverCertificate":               {"cluster certificates"},
		"$.kubelet.dataDisk":                        {"kubelet data"},
		"$.checks.timeout":                          nil, // which something else reads
		"$.proxy":                                   {"proxy", "trusted certificates", "way out"},
		"$.system.localStorage":                     nil,
		"$.nowhere":                                 nil,
	} {
		if got := ReadBy(path); !slices.Equal(got, want) {
			t.Errorf("%s is read by %q, want %q", path, got, want)
		}
	}
}

// further are changes of a setting that another value of it alone, in the least contract, does not show: each is made
// without and with it.
var further = map[string][]func(c *nodeconfig.NodeConfig, with bool){
	"$.cluster.certificateAuthorityHashes": {ofKubeadm(func(c *nodeconfig.NodeConfig) {
		c.Cluster.CertificateAuthority, c.Cluster.CertificateAuthorityHashes = "", []string{"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}
	})},
	setting.SkipVerification:         {ofKubeadm(acceptAnyAuthority)},
	"$.cluster.certificateAuthority": {ofKubeadm(func(c *nodeconfig.NodeConfig) { c.Cluster.CertificateAuthority += "\n" })},
	"$.kubelet.capacity": {func(c *nodeconfig.NodeConfig, with bool) {
		if with {
			c.Kubelet.Capacity = &nodeconfig.Capacity{Rule: nodeconfig.RuleEKS}
		}
	}},
	setting.InstanceType: {func(c *nodeconfig.NodeConfig, with bool) {
		if c.System.GPU = (&nodeconfig.GPU{Vendor: concern.NVIDIA}); with {
			c.Cloud.InstanceType = "Standard_ND96asr_v4"
		}
	}, func(c *nodeconfig.NodeConfig, with bool) {
		if with {
			c.Cloud.InstanceType = "Standard_NM16ads_MA35D"
		}
	}},
	"$.kubelet.nodeName": {ofKubeadm(func(c *nodeconfig.NodeConfig) { c.Kubelet.NodeName = "other" }), func(c *nodeconfig.NodeConfig, with bool) {
		if c.System.GPU = (&nodeconfig.GPU{Vendor: concern.NVIDIA, DynamicResourceAllocation: true}); with {
			c.Kubelet.NodeName = "a"
		}
	}},
	"$.kubelet.machineLabels": {func(c *nodeconfig.NodeConfig, with bool) {
		if with {
			c.Kubelet.MachineLabels = map[string]string{"zone": nodeconfig.MachineZone}
		}
	}},
	"$.cloud.azure.environment": {func(c *nodeconfig.NodeConfig, with bool) {
		if c.Cloud.Azure = new(nodeconfig.Azure); with {
			c.Cloud.Azure.Environment = "AzureChinaCloud"
		}
		nodeconfig.Default(c)
	}},
	"$.runtime.lazyPull": {func(c *nodeconfig.NodeConfig, with bool) {
		if c.Proxy.HTTP = nodeconfig.NewSecret("http://u:p@proxy.example:3128"); with {
			c.Runtime.LazyPull = concern.SOCI
		}
	}},
	"$.runtime.sandboxImage": {func(c *nodeconfig.NodeConfig, with bool) {
		if c.Components.Registry = "registry.example"; with {
			c.Runtime.SandboxImage = "registry.example/pause:1"
		}
	}, func(c *nodeconfig.NodeConfig, with bool) {
		c.Cluster.KubernetesVersion = "1.30.1"
		if with {
			c.Runtime.SandboxImage = "registry.example/pause:1"
		}
	}},
	"$.cloud.provider": {func(c *nodeconfig.NodeConfig, with bool) {
		if with {
			c.Cloud.Provider = "azure"
		}
	}},
	"$.cluster.server": {ofKubeadm(func(c *nodeconfig.NodeConfig) { c.Cluster.Server = "https://other.example:6443" }), reachingWith(func(c *nodeconfig.NodeConfig) { c.Cluster.Server = "https://registry.example" }), func(c *nodeconfig.NodeConfig, with bool) {
		c.Proxy.HTTP = nodeconfig.NewSecret("http://proxy.example:3128")
		if with {
			c.Cluster.Server = "https://other.example:6443"
		}
	}, attestedWith(func(c *nodeconfig.NodeConfig) { c.Cluster.Server = "https://other.example" }), func(c *nodeconfig.NodeConfig, with bool) {
		c.Network.HostsAgent, c.Cluster.Server = true, "https://a.privatelink.example"
		if with {
			c.Cluster.Server = "https://b.privatelink.example"
		}
	}, func(c *nodeconfig.NodeConfig, with bool) {
		c.Kubelet.NodeIPs = []string{"10.0.0.9"}
		if with {
			c.Cluster.Server = "https://10.0.0.1:6443"
		}
	}},
	setting.ImageCredentialProvider: {func(c *nodeconfig.NodeConfig, with bool) {
		c.Components.Artifacts = map[string]nodeconfig.Artifact{"credential-provider": {URL: "https://x.example/v1/provider.tar.gz"}}
		if with {
			c.Kubelet.ImageCredentialProvider = &nodeconfig.ImageCredentialProvider{BinDir: "/opt/bin", Config: map[string]any{"providers": []any{map[string]any{"name": "a"}}}}
		}
	}},
	setting.ComponentsRegistry: {func(c *nodeconfig.NodeConfig, with bool) {
		c.Kubelet.ImageCredentialProvider = &nodeconfig.ImageCredentialProvider{BinDir: "/opt/bin", Config: map[string]any{"providers": []any{map[string]any{"name": "a"}}}}
		c.Cluster.KubernetesVersion = "1.30.99"
		if with {
			c.Components.Registry = "r.example/a"
		}
	}, func(c *nodeconfig.NodeConfig, with bool) {
		if c.Checks.OutboundCommand = "curl x"; with {
			c.Components.Registry = "registry.example"
		}
	}},
	`$.components.artifacts["azure-cni"]`: {func(c *nodeconfig.NodeConfig, with bool) {
		c.Network.Plugin = "azure"
		if with {
			c.Components.Artifacts = map[string]nodeconfig.Artifact{"azure-cni": {URL: "https://x.example/v1/azure-vnet-cni-linux-amd64-v1.6.30.tgz"}}
		}
	}},
	`$.components.artifacts["bootstrap-client"]`: {func(c *nodeconfig.NodeConfig, with bool) {
		c.Join.Method = nodeconfig.JoinAttested
		if with {
			c.Components.Artifacts = map[string]nodeconfig.Artifact{"bootstrap-client": {URL: "https://x.example/v1/client.tar.gz", Force: true}}
		}
	}},
	`$.components.artifacts["credential-provider"]`: {func(c *nodeconfig.NodeConfig, with bool) {
		c.Kubelet.ImageCredentialProvider = &nodeconfig.ImageCredentialProvider{BinDir: "/opt/bin", Config: map[string]any{"providers": []any{map[string]any{"name": "a"}}}}
		if with {
			c.Components.Artifacts = map[string]nodeconfig.Artifact{"credential-provider": {URL: "https://x.example/v1/provider.tar.gz"}}
		}
	}},
	"$.components.artifacts.kubernetes": {func(c *nodeconfig.NodeConfig, with bool) {
		c.Cluster.KubernetesVersion = "1.30.99"
		if with {
			c.Components.Artifacts = map[string]nodeconfig.Artifact{"kubernetes": {URL: "https://x.example/v1/kubernetes.tar.gz", Force: true}}
		}
	}},
	"$.components.artifacts.containerd": {func(c *nodeconfig.NodeConfig, with bool) {
		if with {
			c.Components.Artifacts = map[string]nodeconfig.Artifact{"containerd": {URL: "https://x.example/containerd-1.7.28-linux-amd64.tar.gz", Force: true}}
		}
	}},
	"$.components.artifacts.runc": {func(c *nodeconfig.NodeConfig, with bool) {
		if with {
			c.Components.Artifacts = map[string]nodeconfig.Artifact{"runc": {URL: "https://x.example/runc.amd64", Force: true}}
		}
	}},
	"$.components.artifacts.containerd.version": {func(c *nodeconfig.NodeConfig, with bool) {
		if with {
			c.Components.Artifacts = map[string]nodeconfig.Artifact{"containerd": {Version: "1.7.1"}}
		}
	}},
	"$.join.attested": {
		func(c *nodeconfig.NodeConfig, with bool) {
			if with {
				c.Join.Attested = &nodeconfig.AttestedBootstrap{}
			}
		},
		attestedWith(func(c *nodeconfig.NodeConfig) { c.Join.Attested = &nodeconfig.AttestedBootstrap{Resource: "x"} }),
	},
	"$.cluster.serviceCIDRs": {cachedWith(func(c *nodeconfig.NodeConfig) {
		c.Cluster.ServiceCIDRs, c.Cluster.DNSServiceIPs = []string{"10.9.0.0/16"}, nil
		nodeconfig.Default(c)
	}), ofKubeadm(func(c *nodeconfig.NodeConfig) {
		c.Cluster.ServiceCIDRs, c.Cluster.DNSServiceIPs = []string{"10.9.0.0/16"}, nil
		nodeconfig.Default(c)
	}), func(c *nodeconfig.NodeConfig, with bool) {
		if c.Components.Layout = nodeconfig.LayoutEKS; with {
			c.Cluster.ServiceCIDRs = []string{"fd00:9::/108"}
		}
	}},
	"$.cluster.dnsDomain": {ofKubeadm(func(c *nodeconfig.NodeConfig) { c.Cluster.DNSDomain = "other.local" })},
	"$.network.localDNS": {func(c *nodeconfig.NodeConfig, with bool) {
		if cachedWith(func(*nodeconfig.NodeConfig) {})(c, with); !with {
			c.Network.LocalDNS = nil
		}
	}},
	"$.network.nameservers":   {cachedWith(func(c *nodeconfig.NodeConfig) { c.Network.Nameservers = []string{"10.9.0.11"} })},
	"$.cluster.dnsServiceIPs": {cachedWith(func(c *nodeconfig.NodeConfig) { c.Cluster.DNSServiceIPs = []string{"10.9.0.10"} }), ofKubeadm(func(c *nodeconfig.NodeConfig) { c.Cluster.DNSServiceIPs = []string{"10.9.0.11"} })},
	"$.join.bootstrapToken":   {attestedWith(func(c *nodeconfig.NodeConfig) { c.Join.BootstrapToken = nodeconfig.Secret{} })},
	"$.kubelet.config":        {ofKubeadm(func(c *nodeconfig.NodeConfig) { c.Kubelet.Config = map[string]any{"maxPods": 7} }), countedWith(func(k *nodeconfig.Kubelet) { k.Config = map[string]any{"maxPods": json.Number("9"), "providerID": "x"} }), cachedWith(func(c *nodeconfig.NodeConfig) { asking["configuration"](c, nil) }), swapWith(func(k *nodeconfig.Kubelet) { k.Config = map[string]any{"failSwapOn": false} }), field("volumePluginDir", "/opt/plugins"), field("healthzPort", json.Number("1")), field("serverTLSBootstrap", true), field("kubeReservedCgroup", "/podruntime.slice"), field("failCgroupV1", false), field("shutdownGracePeriod", "45s"), resolverOf(func(k *nodeconfig.Kubelet) { k.Config = map[string]any{"resolvConf": "/run/other.conf"} })},
	"$.kubelet.flags": {ofKubeadm(func(c *nodeconfig.NodeConfig) {
		c.Kubelet.Flags = []nodeconfig.Flag{{Name: "hostname-override", Value: "other"}}
	}), countedWith(func(k *nodeconfig.Kubelet) {
		k.Flags = []nodeconfig.Flag{{Name: "max-pods", Value: "9"}, {Name: "provider-id", Value: "x"}}
	}), cachedWith(func(c *nodeconfig.NodeConfig) { asking["flag"](c, nil) }), swapWith(func(k *nodeconfig.Kubelet) { k.Flags = []nodeconfig.Flag{{Name: "fail-swap-on", Value: "false"}} }), flag("cert-dir", "/opt/pki"), flag("cgroup-driver", "other"), flag("healthz-port", "1"), flag("cloud-config", "/x"), flag("kube-reserved-cgroup", "/podruntime.slice"), flag("fail-cgroupv1", "false"), flag("node-ip", "10.0.0.9"),
		attestedWith(func(c *nodeconfig.NodeConfig) { c.Kubelet.Flags = []nodeconfig.Flag{{Name: "cert-dir", Value: "/x"}} })},
	"$.kubelet.taints":  {taints},
	"$.files":           {ownLogindDropIn},
	"$.units":           {ownSlice, withoutResolved},
	"$.checks.outbound": {reachingWith(func(c *nodeconfig.NodeConfig) { c.Checks.Outbound = []string{"other.example"} })},
	"$.proxy.http": {func(c *nodeconfig.NodeConfig, with bool) {
		if c.Checks.OutboundCommand = "curl x"; with {
			c.Proxy.HTTP = nodeconfig.NewSecret("http://proxy.example:3128")
		}
	}},
	"$.proxy.https":    {reachingWith(func(c *nodeconfig.NodeConfig) { c.Proxy.HTTPS = nodeconfig.Secret{} })},
	"$.proxy.noProxy":  {reachingWith(func(c *nodeconfig.NodeConfig) { c.Proxy.NoProxy = []string{"example"} })},
	"$.network.policy": {policy("azure", "calico"), policy("kubenet", "calico")},
}

// reachingWith changes a node that must reach a server, through a proxy.
func reachingWith(edit func(*nodeconfig.NodeConfig)) func(*nodeconfig.NodeConfig, bool) {
	return func(c *nodeconfig.NodeConfig, with bool) {
		c.Checks.Outbound, c.Proxy.HTTPS = []string{"registry.example"}, nodeconfig.NewSecret("http://proxy.example:3128")
		if with {
			edit(c)
		}
	}
}

// countedWith changes a node whose capacity is computed.
func countedWith(edit func(*nodeconfig.Kubelet)) func(*nodeconfig.NodeConfig, bool) {
	return func(c *nodeconfig.NodeConfig, with bool) {
		c.Kubelet.Capacity, c.Cloud.Provider = &nodeconfig.Capacity{Rule: nodeconfig.RuleEKS}, "aws"
		if with {
			edit(&c.Kubelet)
		}
	}
}

// cachedWith changes a node with a DNS cache.
func cachedWith(edit func(*nodeconfig.NodeConfig)) func(*nodeconfig.NodeConfig, bool) {
	return func(c *nodeconfig.NodeConfig, with bool) {
		c.Components.Layout = nodeconfig.LayoutAKS
		c.Network.LocalDNS = &nodeconfig.LocalDNS{Pods: map[string]nodeconfig.LocalDNSZone{"cluster.local": {}}}
		if with {
			edit(c)
		}
	}
}

// attestedWith changes a node that joins with its attested identity.
func attestedWith(edit func(*nodeconfig.NodeConfig)) func(*nodeconfig.NodeConfig, bool) {
	return func(c *nodeconfig.NodeConfig, with bool) {
		attestable(c)
		if with {
			edit(c)
		}
	}
}

// attestable makes a node join with its attested identity.
func attestable(c *nodeconfig.NodeConfig) {
	c.Components.Layout, c.Join.Method, c.Cluster.Server = nodeconfig.LayoutAKS, nodeconfig.JoinAttested, "https://api.example"
	c.Cloud.Azure = &nodeconfig.Azure{}
	nodeconfig.Default(c)
}

// resolverOf changes the kubelet of a node that registers an address.
func resolverOf(edit func(*nodeconfig.Kubelet)) func(*nodeconfig.NodeConfig, bool) {
	return func(c *nodeconfig.NodeConfig, with bool) {
		c.Kubelet.NodeIPs = []string{"10.0.0.9"}
		if with {
			edit(&c.Kubelet)
		}
	}
}

// swapWith changes the kubelet of a node that has swap.
func swapWith(edit func(*nodeconfig.Kubelet)) func(*nodeconfig.NodeConfig, bool) {
	return func(c *nodeconfig.NodeConfig, with bool) {
		c.System.SwapMB = 512
		if with {
			edit(&c.Kubelet)
		}
	}
}

func field(name string, value any) func(*nodeconfig.NodeConfig, bool) {
	return func(c *nodeconfig.NodeConfig, with bool) {
		if with {
			c.Kubelet.Config = map[string]any{name: value}
		}
	}
}

func flag(name, value string) func(*nodeconfig.NodeConfig, bool) {
	return func(c *nodeconfig.NodeConfig, with bool) {
		c.Cloud.Azure = &nodeconfig.Azure{}
		nodeconfig.Default(c)
		if with {
			c.Kubelet.Flags = []nodeconfig.Flag{{Name: name, Value: value}}
		}
	}
}

// taints are given beside the kubelet's own setting of the same.
func taints(c *nodeconfig.NodeConfig, with bool) {
	c.Kubelet.Config = map[string]any{"registerWithTaints": []any{map[string]any{"key": "x", "effect": "NoSchedule"}}}
	if with {
		c.Kubelet.Taints = []nodeconfig.Taint{{Key: "a", Effect: "NoSchedule"}}
	}
}

// ownSlice is the slice for Kubernetes as a unit of the contract's.
func ownSlice(c *nodeconfig.NodeConfig, with bool) {
	c.Kubelet.Config = map[string]any{"kubeReservedCgroup": "/podruntime.slice"}
	if with {
		c.Units = []nodeconfig.Unit{{Name: "podruntime.slice", Content: "[Slice]\nMemoryMax=1G\n"}}
	}
}

func policy(plugin, policy string) func(*nodeconfig.NodeConfig, bool) {
	return func(c *nodeconfig.NodeConfig, with bool) {
		c.Network.Plugin = plugin
		if with {
			c.Network.Policy = policy
		}
	}
}

// alone is what one concern decides.
func alone(c *concern.Concern, in *concern.Input) *concern.Output {
	out := &concern.Output{Concern: c.Name}
	if !c.Joins || in.Joins() {
		c.Plan(in, out)
	}
	return out
}

// What an image is prepared with is still so on a machine that boots from it.
func TestGuardOfImages(t *testing.T) {
	unit := resource.Resource{Phase: resource.Base, Spec: &resource.Unit{Unit: "a.service"}}
	for name, c := range map[string]struct {
		plan func(out *concern.Output)
		want bool
	}{
		"enabled": {func(out *concern.Output) {
			out.Enable(resource.Base, "a.service")
			out.Append(unit)
			out.RepeatedBy(concern.Wants("a.service"))
		}, true},
		"not enabled":   {func(out *concern.Output) { out.Append(unit); out.RepeatedBy(concern.Wants("a.service")) }, false},
		"only started":  {func(out *concern.Output) { out.Append(unit) }, false},
		"a file":        {func(out *concern.Output) { out.File(resource.Base, "/etc/a", 0o644, nil, "") }, true},
		"with the join": {func(out *concern.Output) { out.Append(resource.Resource{Phase: resource.Join, Spec: unit.Spec}) }, true},
		"stopped": {func(out *concern.Output) {
			out.Append(resource.Resource{Phase: resource.Base, Spec: &resource.UnitState{Unit: "a.service", State: resource.UnitStopped}})
		}, false},
		"masked": {func(out *concern.Output) {
			out.Append(resource.Resource{Phase: resource.Base, Spec: &resource.UnitState{Unit: "a.service", State: resource.UnitMasked}})
		}, true},
	} {
		in := concern.NewInput(contract(t, "native/minimal.yaml", func(c *nodeconfig.NodeConfig) { c.Join = nodeconfig.Join{Method: nodeconfig.JoinNone} }), facts.Facts{})
		_, problems := planAll([]*concern.Concern{{Name: "x", Plan: func(_ *concern.Input, out *concern.Output) { c.plan(out) }}}, in)
		if fatal := nodeconfig.Fatal(problems); (len(fatal) == 0) != c.want {
			t.Errorf("%s: %v", name, fatal)
		}
	}
}

// A setting that no concern reads causes one warning, at the path below which no concern reads anything.
func TestUnread(t *testing.T) {
	c := contract(t, "native/minimal.yaml", func(c *nodeconfig.NodeConfig) {
		c.System.LocalStorage = &nodeconfig.LocalStorage{Strategy: "x", MountPath: "/mnt/y"}
		c.Components.Artifacts = map[string]nodeconfig.Artifact{"b.c": {URL: "https://x.example/c"}, "a": {SHA256: strings.Repeat("0", 64), Version: "1"}}
	})
	got := unread(c)
	want := []string{
		"$.system.localStorage", "$.components.artifacts.a.sha256", `$.components.artifacts["b.c"].url`,
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

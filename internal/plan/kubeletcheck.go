package plan

import (
	"maps"
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/kubeletapi"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// managedFlags are the kubelet's flags that name a file or a setting which Slipway manages. With such a flag in
// the contract there would be two of them, and the kubelet takes the last.
var managedFlags = []struct {
	flag string
	// instead is what to use.
	instead string
	// given says that the contract uses it, where the flag is in nobody's way otherwise; nil for always.
	given func(*nodeconfig.Kubelet) bool
}{
	{"bootstrap-kubeconfig", "join", nil},
	{"config", "kubelet.config", nil},
	{"kubeconfig", "join", nil},
	{"container-runtime-endpoint", "none: Slipway names containerd's socket", nil},
	{"hostname-override", "kubelet.nodeName", func(k *nodeconfig.Kubelet) bool { return k.NodeName != "" }},
	{"image-credential-provider-bin-dir", "kubelet.imageCredentialProvider.binDir", givesProvider},
	{"image-credential-provider-config", "kubelet.imageCredentialProvider", givesProvider},
	{"node-ip", "kubelet.nodeIPs", func(k *nodeconfig.Kubelet) bool { return len(k.NodeIPs) > 0 }},
	{"node-labels", "kubelet.labels", func(k *nodeconfig.Kubelet) bool { return len(k.Labels) > 0 }},
	{"register-with-taints", "kubelet.taints", func(k *nodeconfig.Kubelet) bool { return len(k.Taints) > 0 }},
}

func givesProvider(k *nodeconfig.Kubelet) bool { return k.ImageCredentialProvider != nil }

// managed reports a flag that Slipway gives the kubelet itself.
func (p *planner) managed(at string, flag nodeconfig.Flag) bool {
	for _, m := range managedFlags {
		if m.flag == flag.Name && (m.given == nil || m.given(&p.config.Kubelet)) {
			p.fatal(nodeconfig.Invalid, at, "--%s is Slipway's to give; use %s", flag.Name, m.instead)
			return true
		}
	}
	return false
}

// checkKubeletConfig compares the contract's kubelet configuration with what a kubelet of the node's version
// takes, and with what else the contract says.
func (p *planner) checkKubeletConfig() {
	const at = "$.kubelet.config"
	k := p.config.Kubelet
	if p.minor != newest {
		plain, _ := nodeconfig.Revealed(k.Config)
		p.problems = append(p.problems, kubeletapi.Config(p.minor, at, plain)...)
	}
	p.checkCgroupDriver(at+".cgroupDriver", k.Config["cgroupDriver"])
	for i, flag := range k.Flags {
		if flag.Name == "cgroup-driver" {
			p.checkCgroupDriver(document.IndexPath("$.kubelet.flags", i), flag.Value)
		}
	}
	if _, named := k.Config["clusterDNS"]; named && len(p.config.Cluster.DNSServiceIPs) > 0 && p.layout.kubeletDefaults {
		p.warn(nodeconfig.Dropped, dnsPath(p.config), "is not used: kubelet.config.clusterDNS names the servers")
	}
	if p.layout.kubeletDefaults && len(p.config.Cluster.ServiceCIDRs) > 0 && dnsPath(p.config) != "$.cluster.serviceCIDRs" {
		p.warn(nodeconfig.Dropped, "$.cluster.serviceCIDRs", "is not used: cluster.dnsServiceIPs names the servers")
	}
	if _, named := k.Config["clusterDomain"]; named && p.config.Cluster.DNSDomain != nodeconfig.DefaultDNSDomain && p.layout.kubeletDefaults {
		p.warn(nodeconfig.Dropped, "$.cluster.dnsDomain", "is not used: kubelet.config.clusterDomain names the domain")
	}
}

// dnsPath is the field that the addresses of the cluster's DNS service come from.
func dnsPath(c *nodeconfig.NodeConfig) string {
	if len(c.Cluster.ServiceCIDRs) > 0 && slices.Equal(c.Cluster.DNSServiceIPs, nodeconfig.DefaultDNSServiceIPs(c.Cluster.ServiceCIDRs)) {
		return "$.cluster.serviceCIDRs"
	}
	return "$.cluster.dnsServiceIPs"
}

// checkCgroupDriver wants a kubelet to have its container runtime's driver: with two, the pods of one are not
// where the other looks for them (Kubernetes: configuring a cgroup driver).
func (p *planner) checkCgroupDriver(at string, kubelets any) {
	driver, _ := kubelets.(string)
	if driver == "" || driver == p.runtimeDriver() {
		return
	}
	p.fatal(nodeconfig.Invalid, at, "is not the container runtime's driver, which is %s; name it in runtime.cgroupDriver alone", p.runtimeDriver())
}

// leftOut are the fields of the configuration that a node does without, with the reason to tell; none for what
// is AKS's own and has no meaning here.
func (p *planner) leftOut(config map[string]any) map[string]string {
	out := make(map[string]string)
	// See selfSigned: a certificate that nobody makes is not named, nor one that the cluster signs.
	for field, flag := range map[string]nodeconfig.Flag{"tlsCertFile": selfSigned[0], "tlsPrivateKeyFile": selfSigned[1]} {
		switch value, given := config[field]; {
		case !given:
		case value == flag.Value:
			out[field] = ""
		case p.servingRotation():
			out[field] = "is left out: with serverTLSBootstrap the cluster signs the kubelet's serving certificate"
		}
	}
	if _, given := config[idleTimeoutField]; given && p.reached(idleTimeoutIgnored) {
		out[idleTimeoutField] = idleTimeoutReason
	}
	return out
}

// without returns a configuration without the fields that are left out.
func (p *planner) without(config map[string]any) map[string]any {
	out := p.leftOut(config)
	if len(out) == 0 {
		return config
	}
	config = maps.Clone(config)
	for _, field := range slices.Sorted(maps.Keys(out)) {
		delete(config, field)
		if out[field] != "" {
			p.warn(nodeconfig.Dropped, document.FieldPath("$.kubelet.config", field), "%s", out[field])
		}
	}
	return config
}

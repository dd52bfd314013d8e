package plan

import (
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// kubeletConfig writes the kubelet's configuration file. The contract's fields pass through as they
// are; what they do not say is Slipway's default, in a family that has any.
var kubeletConfig = concern{
	name:  "kubelet configuration",
	joins: true,
	reads: []string{
		"$.cluster.dnsDomain",
		"$.cluster.dnsServiceIPs",
		kubeadmPath,
		"$.cluster.serviceCIDRs",
		"$.kubelet.capacity",
		"$.kubelet.config",
		"$.kubelet.flags",
		"$.kubelet.taints",
		"$.runtime.cgroupDriver",
		"$.units",
	},
	plan: planKubeletConfig,
}

func planKubeletConfig(in *input, out *output) {
	checkKubeletConfig(in, out)
	if in.config.Cluster.Kubeadm && !in.takesDefaults() {
		out.notApplied(kubeadmPath)
	}
	if !in.family.Kubelet.ConfigDefaults {
		notInKubeletConfig(in.config, out)
	}
	config := in.config.Kubelet.Config
	if computed := in.capacityConfig(); len(computed) > 0 {
		config = merge(computed, config)
	}
	if in.family.Kubelet.ConfigDefaults {
		// What the contract says goes before what the host decides, which goes before what the cluster says, and that before Slipway's defaults.
		settings := defaultKubeletConfig(in)
		for _, over := range []map[string]any{clusterDefaults(in, out), hostSettings(in), contractSettings(in), config} {
			settings = merge(settings, over)
		}
		config = settings
		assumedResolver(in, out)
	}
	checkClusterDNS(in, out, config)
	if config == nil {
		checkSettings(in, out, nil)
		return
	}
	config = merge(map[string]any{
		"apiVersion": nodeconfig.KubeletConfigVersion,
		"kind":       nodeconfig.KubeletConfigKind,
	}, config)
	reason := "the kubelet's configuration"
	if in.takesDefaults() {
		reason = "the kubelet's configuration, over the cluster's kubelet-config (kubeadm: cmd/phases/join/kubelet.go)"
	}
	config = without(in, out, withServingOff(in, out, config))
	out.node.Kubelet, out.node.In = make(map[string]string), resource.IDOf(&resource.File{Path: in.family.Paths.KubeletConfig})
	addFields(out.node.Kubelet, "", config)
	plain, secret := nodeconfig.Revealed(config)
	checkSettings(in, out, plain)
	out.guarded(secret, resource.Join, in.family.Paths.KubeletConfig, 0o600, jsonFile(plain), reason+in.derivation(), kubeletUnit)
}

// addFields adds the fields of a configuration, and those within them, as flags of the same settings would have them. What is secret
// is redacted.
func addFields(fields map[string]string, prefix string, config map[string]any) {
	for name, value := range config {
		fields[prefix+name] = asFlag(value)
		if below, ok := value.(map[string]any); ok {
			addFields(fields, prefix+name+".", below)
		}
	}
}

// notInKubeletConfig reports what only Slipway's defaults would bring into the kubelet's configuration, but for the
// cluster's DNS service, which the node's DNS cache may ask (planLocalDNS).
func notInKubeletConfig(c *nodeconfig.NodeConfig, out *output) {
	if c.Cluster.DNSDomain != nodeconfig.DefaultDNSDomain {
		out.notApplied("$.cluster.dnsDomain")
	}
}

// defaultKubeletConfig is what kubeadm would write: only the API server and who it authorises may
// talk to the kubelet, and certificates renew themselves (kubeadm: componentconfigs, kubelet).
func defaultKubeletConfig(in *input) map[string]any {
	c := in.config
	config := map[string]any{
		"authentication": map[string]any{
			"anonymous": map[string]any{"enabled": false},
			"webhook":   map[string]any{"enabled": true},
			"x509":      map[string]any{"clientCAFile": in.family.Paths.CA},
		},
		"authorization":      map[string]any{"mode": "Webhook"},
		"clusterDomain":      c.Cluster.DNSDomain,
		"cgroupDriver":       c.Runtime.CgroupDriver,
		"rotateCertificates": in.rotatesCertificate(),
		"staticPodPath":      in.family.Paths.Manifests,
	}
	if settings := in.family.Kubelet.Settings; settings != nil {
		config = merge(config, settings())
	}
	return config
}

// hostSettings are what the host decides, whatever the cluster says.
func hostSettings(in *input) map[string]any {
	if in.resolver != "" {
		return map[string]any{resolverField: in.resolver}
	}
	return nil
}

// rotatesCertificate reports whether the kubelet is to renew its client certificate. One that has a credential plug-in has
// none. If it rotates, it connects with a certificate alone, and does not join before somebody approves one (Kubernetes:
// cmd/kubelet/app/server.go, buildKubeletClientConfig; Amazon EKS AMI: kubelet-config.json).
func (in *input) rotatesCertificate() bool {
	method := in.config.Join.Method
	return method != nodeconfig.JoinExec && method != nodeconfig.JoinAWS
}

// assumedResolver reports what a node without an agent has, because no machine was looked at. An agent looks at its own.
func assumedResolver(in *input, out *output) {
	if in.resolverAssumed && in.agentless {
		reason := "is left to the kubelet, which reads /etc/resolv.conf"
		if in.resolver != "" {
			reason = "is " + in.resolver
		}
		out.Warn(nodeconfig.Missing, "$.kubelet.config."+resolverField, "%s: no fact says whether systemd-resolved runs, so the distribution decides; name the file, or give the machine's facts", reason)
	}
}

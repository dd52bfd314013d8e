package kubelet

import (
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/plan/textfile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// kubeletConfig writes the kubelet's configuration file. The contract's fields pass through unchanged.
// Slipway's defaults fill the rest, in a family that has defaults.
var kubeletConfig = concern.Concern{
	Name:  "kubelet configuration",
	Joins: true,
	Reads: []string{
		"$.cloud.provider",
		"$.cluster.dnsDomain",
		"$.cluster.dnsServiceIPs",
		setting.Kubeadm,
		"$.cluster.serviceCIDRs",
		"$.kubelet.capacity",
		"$.kubelet.config",
		"$.kubelet.flags",
		"$.kubelet.taints",
		"$.runtime.cgroupDriver",
		"$.units",
	},
	Plan: planKubeletConfig,
}

func planKubeletConfig(in *concern.Input, out *concern.Output) {
	checkKubeletConfig(in, out)
	if in.Config.Cluster.Kubeadm && !in.TakesDefaults() {
		out.NotApplied(setting.Kubeadm)
	}
	if !in.Family.Kubelet.ConfigDefaults {
		notInKubeletConfig(in.Config, out)
	}
	config := in.Config.Kubelet.Config
	computed := in.CapacityConfig()
	if len(computed) > 0 {
		config = kubeletsetting.Merge(computed, config)
	}
	var defaults map[string]any
	bare := computed
	if in.Family.Kubelet.ConfigDefaults {
		// The contract takes precedence over the host's settings, these over the cluster's, and these over Slipway's defaults.
		defaults = defaultKubeletConfig(in)
		for _, over := range []map[string]any{clusterDefaults(in, out), hostSettings(in), contractSettings(in), computed} {
			defaults = kubeletsetting.Merge(defaults, over)
		}
		bare = defaults
		config = kubeletsetting.Merge(defaults, config)
		assumedResolver(in, out)
	}
	checkThresholds(in, out, bare)
	checkClusterDNS(in, out, config)
	if config == nil {
		checkSettings(in, out, nil)
		return
	}
	config = typed(config)
	reason := "the kubelet's configuration"
	if in.TakesDefaults() {
		reason = "the kubelet's configuration, over the cluster's kubelet-config (kubeadm: cmd/phases/join/kubelet.go)"
	}
	config = without(in, out, withServingOff(in, out, config))
	out.Node.Kubelet, out.Node.In = make(map[string]string), resource.IDOf(&resource.File{Path: in.Family.Paths.KubeletConfig})
	addFields(out.Node.Kubelet, "", config)
	plain, secret := nodeconfig.Revealed(config)
	checkSettings(in, out, plain)
	if dropsIn(in) {
		plain, secret = nodeconfig.Revealed(planConfigDropIn(in, out, defaults, config))
	}
	out.Guarded(secret, resource.Join, in.Family.Paths.KubeletConfig, 0o600, textfile.JSON(plain), reason+in.Derivation(), concern.KubeletUnit)
}

// notInKubeletConfig reports settings that only Slipway's defaults would bring into the kubelet's configuration, except
// the cluster's DNS service, which the node's DNS cache may use (planLocalDNS).
func notInKubeletConfig(c *nodeconfig.NodeConfig, out *concern.Output) {
	if c.Cluster.DNSDomain != nodeconfig.DefaultDNSDomain {
		out.NotApplied("$.cluster.dnsDomain")
	}
}

// defaultKubeletConfig returns kubeadm's defaults: only the API server and clients that it authorises may
// access the kubelet, and certificates renew themselves (kubeadm: componentconfigs, kubelet).
func defaultKubeletConfig(in *concern.Input) map[string]any {
	c := in.Config
	config := map[string]any{
		"authentication": map[string]any{
			"anonymous": map[string]any{"enabled": false},
			"webhook":   map[string]any{"enabled": true},
			"x509":      map[string]any{"clientCAFile": in.Family.Paths.CA},
		},
		"authorization":      map[string]any{"mode": "Webhook"},
		"clusterDomain":      c.Cluster.DNSDomain,
		"cgroupDriver":       c.Runtime.CgroupDriver,
		"rotateCertificates": rotatesCertificate(in),
		"staticPodPath":      in.Family.Paths.Manifests,
	}
	return kubeletsetting.Merge(config, in.FamilySettings)
}

// hostSettings are the settings that depend on the host and override the cluster's.
func hostSettings(in *concern.Input) map[string]any {
	settings := make(map[string]any)
	if in.Resolver != "" {
		settings[concern.ResolverField] = in.Resolver
	}
	if id := in.ProviderID(); id != "" && in.GivesProviderID() && !flagsProvider(in) {
		settings["providerID"] = id
	}
	return settings
}

// rotatesCertificate reports whether the kubelet renews its client certificate. A kubelet with a credential plug-in has no certificate.
// If it rotated one, it would connect with a certificate only, and not join before an administrator approves one (Kubernetes:
// cmd/kubelet/app/server.go, buildKubeletClientConfig; Amazon EKS AMI: kubelet-config.json).
func rotatesCertificate(in *concern.Input) bool {
	method := in.Config.Join.Method
	return method != nodeconfig.JoinExec && method != nodeconfig.JoinAWS
}

// assumedResolver reports what a node without an agent has, because no machine was looked at. An agent looks at its own.
func assumedResolver(in *concern.Input, out *concern.Output) {
	if in.ResolverAssumed && in.Agentless {
		reason := "is left to the kubelet, which reads /etc/resolv.conf"
		if in.Resolver != "" {
			reason = "is " + in.Resolver
		}
		out.Warn(nodeconfig.Missing, "$.kubelet.config."+concern.ResolverField, "%s: no fact says whether systemd-resolved runs, so the distribution decides; name the file, or give the machine's facts", reason)
	}
}

package kubelet

import (
	"maps"
	"path"
	"slices"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/plan/textfile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// kubeletConfig writes the kubelet's configuration file. The contract's fields pass through as they
// are; what they do not say is Slipway's default, in a family that has any.
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
	if in.Family.Kubelet.ConfigDefaults {
		// What the contract says goes before what the host decides, which goes before what the cluster says, and that before Slipway's defaults.
		defaults = defaultKubeletConfig(in)
		for _, over := range []map[string]any{clusterDefaults(in, out), hostSettings(in), contractSettings(in), computed} {
			defaults = kubeletsetting.Merge(defaults, over)
		}
		config = kubeletsetting.Merge(defaults, config)
		assumedResolver(in, out)
	}
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

// addFields adds the fields of a configuration, and those within them, as flags of the same settings would have them. What is secret
// is redacted.
func addFields(fields map[string]string, prefix string, config map[string]any) {
	for name, value := range config {
		fields[prefix+name] = kubeletsetting.AsFlag(value)
		if below, ok := value.(map[string]any); ok {
			addFields(fields, prefix+name+".", below)
		}
	}
}

// notInKubeletConfig reports what only Slipway's defaults would bring into the kubelet's configuration, but for the
// cluster's DNS service, which the node's DNS cache may ask (planLocalDNS).
func notInKubeletConfig(c *nodeconfig.NodeConfig, out *concern.Output) {
	if c.Cluster.DNSDomain != nodeconfig.DefaultDNSDomain {
		out.NotApplied("$.cluster.dnsDomain")
	}
}

// defaultKubeletConfig is what kubeadm would write: only the API server and who it authorises may
// talk to the kubelet, and certificates renew themselves (kubeadm: componentconfigs, kubelet).
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
	return kubeletsetting.Merge(config, in.FamilySettings())
}

// hostSettings are what the host decides, whatever the cluster says.
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

// rotatesCertificate reports whether the kubelet is to renew its client certificate. One that has a credential plug-in has
// none. If it rotates, it connects with a certificate alone, and does not join before somebody approves one (Kubernetes:
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

// dropsIn reports whether the contract's own settings of the kubelet's configuration are in a file beside the defaults.
func dropsIn(in *concern.Input) bool {
	return in.Family.Paths.KubeletDropIn != "" && in.Reached(concern.ConfigDropIns) && in.Config.Kubelet.Config != nil
}

// kubeletConfigDir is the directory of that file; empty for none.
func kubeletConfigDir(in *concern.Input) string {
	if !dropsIn(in) {
		return ""
	}
	return path.Dir(in.Family.Paths.KubeletDropIn)
}

// typed is a configuration of the kubelet that says what it is.
func typed(config map[string]any) map[string]any {
	return kubeletsetting.Merge(map[string]any{"apiVersion": nodeconfig.KubeletConfigVersion, "kind": nodeconfig.KubeletConfigKind}, config)
}

// planConfigDropIn writes the contract's own settings, which the kubelet merges over its configuration, and returns that: the
// defaults alone. Neither has a field that the whole configuration does not have.
func planConfigDropIn(in *concern.Input, out *concern.Output, defaults, whole map[string]any) map[string]any {
	own, lost := mergeable(in.Config.Kubelet.Config, in.Reached(concern.ConfigDropInsWhole))
	defaults = kubeletsetting.Merge(defaults, lost)
	own = fieldsIn(whole, typed(own))
	file := &resource.File{Path: in.Family.Paths.KubeletDropIn}
	names := make(map[string]string)
	addFields(names, "", own)
	out.Node.Over = &resource.Fields{Names: slices.Sorted(maps.Keys(names)), In: resource.IDOf(file)}
	plain, secret := nodeconfig.Revealed(own)
	out.Guarded(secret, resource.Join, file.Path, 0o600, textfile.JSON(plain), "the contract's own settings, over the kubelet's configuration", concern.KubeletUnit)
	return fieldsIn(whole, typed(defaults))
}

// fieldsIn are those of the fields that the whole configuration has.
func fieldsIn(whole, fields map[string]any) map[string]any {
	maps.DeleteFunc(fields, func(name string, _ any) bool { _, has := whole[name]; return !has })
	return fields
}

// mergeable splits settings into those that a kubelet takes from a drop-in, and those that it loses there, if it does not take every
// field: it merges the drop-in into its internal type, which has another name for one field, and in which null changes nothing
// (k8s.io/kubernetes v1.31.14 cmd/kubelet/app/server.go, mergeKubeletConfigurations, and pkg/kubelet/apis/config/types.go). What is
// null is in no file, for every kubelet: it has its default then.
func mergeable(settings map[string]any, every bool) (taken, lost map[string]any) {
	taken, lost = make(map[string]any), make(map[string]any)
	for name, value := range settings {
		below, isMap := value.(map[string]any)
		switch {
		case value == nil || name == concern.ResolverField && !every:
			lost[name] = value
		case isMap && len(below) > 0:
			in, out := mergeable(below, every)
			if len(in) > 0 {
				taken[name] = in
			}
			if len(out) > 0 {
				lost[name] = out
			}
		default:
			taken[name] = value
		}
	}
	return taken, lost
}

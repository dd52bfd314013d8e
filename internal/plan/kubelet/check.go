package kubelet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/kubeletapi"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// checkSettings reports what a kubelet of the node's version does not take of the configuration that it gets, and of the contract's flags.
func checkSettings(in *concern.Input, out *concern.Output, config map[string]any) {
	if in.Minor != concern.Newest {
		out.Add(kubeletapi.Check(kubeletSettings(in, config))...)
	}
}

// checkProvider reports what it does not take of the configuration of its image credential provider.
func checkProvider(in *concern.Input, out *concern.Output) {
	provider := in.Config.Kubelet.ImageCredentialProvider
	if provider == nil || provider.Config == nil || in.Minor == concern.Newest {
		return
	}
	settings, _ := nodeconfig.Revealed(in.Config.Kubelet.Config)
	config, _ := nodeconfig.Revealed(provider.Config)
	out.Add(kubeletapi.CredentialProvider(kubeletSettings(in, settings), setting.ImageCredentialProvider+".config", config)...)
}

// kubeletSettings are a configuration, and the family's and the contract's flags, without those that Slipway gives in their place.
func kubeletSettings(in *concern.Input, config map[string]any) kubeletapi.Settings {
	s := kubeletapi.Settings{
		Minor: in.Minor, Config: config, At: "$.kubelet.config",
		Machine: kubeletapi.Machine{CPUs: in.Facts.CPUs, MemoryBytes: in.Facts.MemoryBytes, CgroupVersion: in.Facts.CgroupVersion},
	}
	for _, a := range familyArguments(in) {
		s.Flags = append(s.Flags, kubeletapi.Flag{Name: a.name, Value: a.value})
	}
	if len(in.Config.Kubelet.NodeIPs) > 0 {
		s.Flags = append(s.Flags, kubeletapi.Flag{At: "$.kubelet.nodeIPs", Name: "node-ip", Value: nodeIP(in)})
	}
	flags, _ := contractFlags(in)
	for _, a := range flags {
		s.Flags = append(s.Flags, kubeletapi.Flag{At: a.at, Name: a.name, Value: a.value})
	}
	return s
}

// checkKubeletConfig compares the contract's kubelet configuration with what else the contract says.
func checkKubeletConfig(in *concern.Input, out *concern.Output) {
	const at = "$.kubelet.config"
	k := in.Config.Kubelet
	checkManagedFields(in, out, at)
	checkCgroupDriver(in, out, at+".cgroupDriver", k.Config["cgroupDriver"])
	for i, flag := range k.Flags {
		field := kubeletapi.FieldOf(in.Minor, flag.Name)
		if value := kubeletsetting.Field(k, field); value != nil && field != "featureGates" && fmt.Sprint(value) != flag.Value {
			out.Warn(nodeconfig.Dropped, at+"."+field, "is not used: the flag --%s wins over the configuration file", flag.Name)
		}
		if flag.Name == "cgroup-driver" {
			checkCgroupDriver(in, out, document.IndexPath("$.kubelet.flags", i), flag.Value)
		}
	}
	if servers := kubeletsetting.Field(k, "clusterDNS"); servers != nil && len(in.Config.Cluster.DNSServiceIPs) > 0 && in.Family.Kubelet.ConfigDefaults &&
		!sameAddresses(kubeletsetting.AsFlag(servers), strings.Join(in.Config.Cluster.DNSServiceIPs, ",")) {
		out.Warn(nodeconfig.Dropped, setting.DNSServers(in.Config), "is not used: %s names the servers", problem.Setting(at+".clusterDNS"))
	}
	if in.Family.Kubelet.ConfigDefaults && len(in.Config.Cluster.ServiceCIDRs) > 0 && setting.DNSServers(in.Config) != "$.cluster.serviceCIDRs" {
		out.Warn(nodeconfig.Dropped, "$.cluster.serviceCIDRs", "is not used: %s names the servers", problem.Setting("$.cluster.dnsServiceIPs"))
	}
	if domain := kubeletsetting.Field(k, "clusterDomain"); domain != nil && domain != any(in.Config.Cluster.DNSDomain) && in.Config.Cluster.DNSDomain != nodeconfig.DefaultDNSDomain && in.Family.Kubelet.ConfigDefaults {
		out.Warn(nodeconfig.Dropped, "$.cluster.dnsDomain", "is not used: %s names the domain", problem.Setting(at+".clusterDomain"))
	}
}

// checkCgroupDriver wants a kubelet to have its container runtime's driver: with two, the pods of one are not
// where the other looks for them (Kubernetes: configuring a cgroup driver).
func checkCgroupDriver(in *concern.Input, out *concern.Output, at string, kubelets any) {
	driver, _ := kubelets.(string)
	if driver == "" || driver == in.Driver {
		return
	}
	out.Fatal(nodeconfig.Invalid, at, "is not the container runtime's driver, which is %s; name it in %s alone", in.Driver, problem.Setting("$.runtime.cgroupDriver"))
}

// leftOut are the fields of the configuration that a node does without, with the reason to tell; none for what
// is the family's own and has no meaning here.
func leftOut(in *concern.Input, config map[string]any) map[string]string {
	out := make(map[string]string)
	// A certificate that nobody makes is not named, nor one that the cluster signs.
	for field, flag := range map[string]string{certificateField: certificateFlag, keyField: keyFlag} {
		value, given := config[field]
		text, _ := value.(string)
		switch {
		case !given:
		case isSelfSigned(in, flag, text):
			out[field] = ""
		case rotatesServing(in):
			out[field] = "is left out: with serverTLSBootstrap the cluster signs the kubelet's serving certificate"
		}
	}
	if _, given := config[idleTimeoutField]; given && in.Reached(concern.IdleTimeoutIgnored) {
		if out[idleTimeoutField] = ""; kubeletsetting.Field(in.Config.Kubelet, idleTimeoutField) != nil {
			out[idleTimeoutField] = idleTimeoutReason
		}
	}
	return out
}

// without returns a configuration without the fields that are left out.
func without(in *concern.Input, out *concern.Output, config map[string]any) map[string]any {
	left := leftOut(in, config)
	if len(left) == 0 {
		return config
	}
	config = maps.Clone(config)
	for _, field := range slices.Sorted(maps.Keys(left)) {
		delete(config, field)
		if left[field] != "" {
			out.Warn(nodeconfig.Dropped, document.FieldPath("$.kubelet.config", field), "%s", left[field])
		}
	}
	return config
}

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/kubeletapi"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// managedSettings are the kubelet's settings that Slipway gives it with flags. A second flag of the contract's would
// go before the first, as the kubelet takes the last; and any flag goes before the field of the same setting
// (Kubernetes: set kubelet parameters via a configuration file).
var managedSettings = []struct {
	flag string
	// field is the same setting in the kubelet's configuration, with dots between names; empty for none.
	field string
	// instead is what to use. It is empty for a default, which is not given where the contract sets the field.
	instead string
	// value is what Slipway gives, where that is the same on each node: the contract may say it too.
	value string
	// given says that the contract uses it, where the setting is in nobody's way otherwise; nil for always.
	given func(*input) bool
}{
	{flag: "bootstrap-kubeconfig", instead: "join"},
	{flag: "config", instead: "kubelet.config"},
	{flag: "kubeconfig", instead: "join"},
	{flag: "container-runtime-endpoint", field: "containerRuntimeEndpoint", instead: "none: Slipway names containerd's socket", value: containerdSocket},
	{flag: "hostname-override", instead: "kubelet.nodeName", given: func(in *input) bool { return in.config.Kubelet.NodeName != "" }},
	{flag: "image-credential-provider-bin-dir", instead: "kubelet.imageCredentialProvider.binDir", given: givesProvider},
	{flag: "image-credential-provider-config", instead: "kubelet.imageCredentialProvider", given: givesProvider},
	{flag: "image-service-endpoint", field: "imageServiceEndpoint", instead: "none: the snapshotter of runtime.lazyPull is asked for images", given: (*input).usesSOCI},
	{flag: "node-ip", instead: "kubelet.nodeIPs", given: func(in *input) bool { return len(in.config.Kubelet.NodeIPs) > 0 }},
	{flag: "node-labels", instead: "kubelet.labels", given: func(in *input) bool { return len(in.config.Kubelet.Labels) > 0 }},
	{flag: "register-with-taints", field: "registerWithTaints", instead: "kubelet.taints", given: func(in *input) bool { return len(in.config.Kubelet.Taints) > 0 }},
	{flag: "runtime-request-timeout", field: "runtimeRequestTimeout"},
	{flag: "v", field: "logging.verbosity"},
	{flag: "volume-plugin-dir", field: "volumePluginDir"},
}

func givesProvider(in *input) bool { return in.config.Kubelet.ImageCredentialProvider != nil }

// managed reports a flag that Slipway gives the kubelet itself.
func managed(in *input, out *output, at string, flag nodeconfig.Flag) bool {
	instead, gives := in.gives(flag.Name)
	if gives {
		out.fatal(nodeconfig.Invalid, at, "--%s is Slipway's to give; use %s", flag.Name, instead)
	}
	return gives
}

// gives reports whether Slipway gives a flag itself, and what to use in its place.
func (in *input) gives(flag string) (instead string, gives bool) {
	for _, m := range managedSettings {
		if m.flag == flag && m.instead != "" && (m.given == nil || m.given(in)) {
			return m.instead, true
		}
	}
	return "", false
}

// checkManagedFields reports fields that a flag of Slipway's would go before.
func checkManagedFields(in *input, out *output, at string) {
	for _, m := range managedSettings {
		if m.instead == "" || m.given != nil && !m.given(in) {
			continue
		}
		if value := configured(in.config.Kubelet, m.field); value != nil && value != any(m.value) {
			out.fatal(nodeconfig.Invalid, at+"."+m.field, "is Slipway's to give, with --%s; use %s", m.flag, m.instead)
		}
	}
}

// byDefault is a flag of the kubelet's with Slipway's value, or "" where the contract's configuration sets the same.
func byDefault(k nodeconfig.Kubelet, flag, value string) string {
	for _, m := range managedSettings {
		if m.flag == flag && configured(k, m.field) != nil {
			return ""
		}
	}
	return "--" + flag + "=" + value
}

// configured is what the contract's configuration of the kubelet says in a field, with dots between names; nil for
// nothing, which an empty text or list is too.
func configured(k nodeconfig.Kubelet, field string) any {
	if field == "" {
		return nil
	}
	var value any = k.Config
	for name := range strings.SplitSeq(field, ".") {
		fields, _ := value.(map[string]any)
		value = fields[name]
	}
	if list, ok := value.([]any); value == "" || ok && len(list) == 0 {
		return nil
	}
	return value
}

// checkSettings reports what a kubelet of the node's version does not take of the configuration that it gets, and of the contract's flags.
func checkSettings(in *input, out *output, config map[string]any) {
	if in.minor != newest {
		out.report(kubeletapi.Check(in.kubeletSettings(config))...)
	}
}

// checkProvider reports what it does not take of the configuration of its image credential provider.
func checkProvider(in *input, out *output) {
	provider := in.config.Kubelet.ImageCredentialProvider
	if provider == nil || provider.Config == nil || in.minor == newest {
		return
	}
	settings, _ := nodeconfig.Revealed(in.config.Kubelet.Config)
	config, _ := nodeconfig.Revealed(provider.Config)
	out.report(kubeletapi.CredentialProvider(in.kubeletSettings(settings), providerPath+".config", config)...)
}

// kubeletSettings are a configuration and the contract's flags, without those that Slipway gives in their place.
func (in *input) kubeletSettings(config map[string]any) kubeletapi.Settings {
	s := kubeletapi.Settings{
		Minor: in.minor, Config: config, At: "$.kubelet.config",
		Machine: kubeletapi.Machine{CPUs: in.facts.CPUs, MemoryBytes: in.facts.MemoryBytes, CgroupVersion: in.facts.CgroupVersion},
	}
	for i, flag := range in.config.Kubelet.Flags {
		if _, gives := in.gives(flag.Name); !gives && !isSelfSigned(in, flag.Name, flag.Value) && !(flag.Name == idleTimeoutFlag && in.reached(idleTimeoutIgnored)) {
			s.Flags = append(s.Flags, kubeletapi.Flag{At: document.IndexPath("$.kubelet.flags", i), Name: flag.Name, Value: flag.Value})
		}
	}
	return s
}

// checkKubeletConfig compares the contract's kubelet configuration with what else the contract says.
func checkKubeletConfig(in *input, out *output) {
	const at = "$.kubelet.config"
	k := in.config.Kubelet
	checkManagedFields(in, out, at)
	checkCgroupDriver(in, out, at+".cgroupDriver", k.Config["cgroupDriver"])
	for i, flag := range k.Flags {
		field := kubeletapi.FieldOf(in.minor, flag.Name)
		if value := configured(k, field); value != nil && field != "featureGates" && fmt.Sprint(value) != flag.Value {
			out.warn(nodeconfig.Dropped, at+"."+field, "is not used: the flag --%s wins over the configuration file", flag.Name)
		}
		if flag.Name == "cgroup-driver" {
			checkCgroupDriver(in, out, document.IndexPath("$.kubelet.flags", i), flag.Value)
		}
	}
	if _, named := k.Config["clusterDNS"]; named && len(in.config.Cluster.DNSServiceIPs) > 0 && in.family.Kubelet.ConfigDefaults {
		out.warn(nodeconfig.Dropped, dnsPath(in.config), "is not used: kubelet.config.clusterDNS names the servers")
	}
	if in.family.Kubelet.ConfigDefaults && len(in.config.Cluster.ServiceCIDRs) > 0 && dnsPath(in.config) != "$.cluster.serviceCIDRs" {
		out.warn(nodeconfig.Dropped, "$.cluster.serviceCIDRs", "is not used: cluster.dnsServiceIPs names the servers")
	}
	if _, named := k.Config["clusterDomain"]; named && in.config.Cluster.DNSDomain != nodeconfig.DefaultDNSDomain && in.family.Kubelet.ConfigDefaults {
		out.warn(nodeconfig.Dropped, "$.cluster.dnsDomain", "is not used: kubelet.config.clusterDomain names the domain")
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
func checkCgroupDriver(in *input, out *output, at string, kubelets any) {
	driver, _ := kubelets.(string)
	if driver == "" || driver == in.driver {
		return
	}
	out.fatal(nodeconfig.Invalid, at, "is not the container runtime's driver, which is %s; name it in runtime.cgroupDriver alone", in.driver)
}

// leftOut are the fields of the configuration that a node does without, with the reason to tell; none for what
// is the family's own and has no meaning here.
func leftOut(in *input, config map[string]any) map[string]string {
	out := make(map[string]string)
	// A certificate that nobody makes is not named, nor one that the cluster signs.
	for field, flag := range map[string]string{certificateField: certificateFlag, keyField: keyFlag} {
		value, given := config[field]
		text, _ := value.(string)
		switch {
		case !given:
		case isSelfSigned(in, flag, text):
			out[field] = ""
		case in.rotatesServing():
			out[field] = "is left out: with serverTLSBootstrap the cluster signs the kubelet's serving certificate"
		}
	}
	if _, given := config[idleTimeoutField]; given && in.reached(idleTimeoutIgnored) {
		out[idleTimeoutField] = idleTimeoutReason
	}
	return out
}

// without returns a configuration without the fields that are left out.
func without(in *input, out *output, config map[string]any) map[string]any {
	left := leftOut(in, config)
	if len(left) == 0 {
		return config
	}
	config = maps.Clone(config)
	for _, field := range slices.Sorted(maps.Keys(left)) {
		delete(config, field)
		if left[field] != "" {
			out.warn(nodeconfig.Dropped, document.FieldPath("$.kubelet.config", field), "%s", left[field])
		}
	}
	return config
}

package plan

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/kubeletapi"
	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// managedSetting is a setting of the kubelet's that Slipway gives it with a flag. A second flag of the contract's would go
// before the first, as the kubelet takes the last; and any flag goes before the field of the same setting (Kubernetes: set
// kubelet parameters via a configuration file). So the contract may say the same, and a different value is an error.
type managedSetting struct {
	flag string
	// field is the same setting in the kubelet's configuration, with dots between names; empty for none.
	field string
	// gives is what Slipway gives on this node; false where the contract may say what it wants. It is nil for a default,
	// which is not given where the contract sets the field.
	gives func(*input) (string, bool)
	// same reports whether two values mean the same.
	same func(a, b string) bool
	// instead is what to use.
	instead string
}

var managedSettings = []managedSetting{
	// The two kubeconfigs count where the node joins without them too: other programs write them there.
	{"bootstrap-kubeconfig", "", func(in *input) (string, bool) { return in.family.Paths.BootstrapConfig, true }, samePath, "join"},
	{"kubeconfig", "", func(in *input) (string, bool) { return in.family.Paths.Kubeconfig, true }, samePath, "join"},
	{"config", "", func(in *input) (string, bool) { return in.kubeletConfigFile(), true }, samePath, "kubelet.config"},
	{"container-runtime-endpoint", "containerRuntimeEndpoint", func(*input) (string, bool) { return containerdSocket, true }, place.SameSocket,
		"none: Slipway names containerd's socket"},
	{"container-runtime", "", func(in *input) (string, bool) { return remoteRuntime, !in.reached(containerRuntimeFlag) }, sameText, "none: Slipway's nodes have containerd"},
	{"image-service-endpoint", "imageServiceEndpoint", func(in *input) (string, bool) { return in.imageService(), in.usesSOCI() }, place.SameSocket,
		"none: the snapshotter of runtime.lazyPull is asked for images"},
	{"hostname-override", "", func(in *input) (string, bool) { return in.config.Kubelet.NodeName, in.config.Kubelet.NodeName != "" }, sameHost, "kubelet.nodeName"},
	{"image-credential-provider-bin-dir", "", func(in *input) (string, bool) {
		p := cmp.Or(in.config.Kubelet.ImageCredentialProvider, &nodeconfig.ImageCredentialProvider{})
		return p.BinDir, in.config.Kubelet.ImageCredentialProvider != nil
	}, samePath, "kubelet.imageCredentialProvider.binDir"},
	{"image-credential-provider-config", "", func(in *input) (string, bool) {
		return in.credentialConfig, in.config.Kubelet.ImageCredentialProvider != nil
	}, samePath, "kubelet.imageCredentialProvider"},
	{"node-ip", "", func(in *input) (string, bool) { return nodeIP(in), len(in.config.Kubelet.NodeIPs) > 0 }, sameAddresses, "kubelet.nodeIPs"},
	{"node-labels", "", func(in *input) (string, bool) { return labelsOf(in), len(in.config.Kubelet.Labels) > 0 }, hasLabels, "kubelet.labels"},
	{"register-with-taints", "registerWithTaints", func(in *input) (string, bool) {
		return taintsOf(in.config.Kubelet), len(in.config.Kubelet.Taints) > 0
	}, sameTaints, "kubelet.taints"},
	{flag: "runtime-request-timeout", field: "runtimeRequestTimeout"},
	{flag: "v", field: "logging.verbosity"},
	{flag: "volume-plugin-dir", field: "volumePluginDir"},
}

// The ways in which two values mean the same; the first is the contract's where it matters.

func sameText(a, b string) bool { return a == b }

func samePath(a, b string) bool { return a != "" && path.Clean(a) == path.Clean(b) }

// sameHost compares as kubelets do (k8s.io/kubernetes v1.36.3 pkg/util/node, GetHostname).
func sameHost(a, b string) bool { return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b)) }

// sameAddresses compares lists, in which the first address is the node's main one.
func sameAddresses(a, b string) bool {
	return slices.EqualFunc(strings.Split(a, ","), strings.Split(b, ","), func(a, b string) bool {
		one, err := netip.ParseAddr(strings.TrimSpace(a))
		other, no := netip.ParseAddr(strings.TrimSpace(b))
		return err == nil && no == nil && one.Unmap() == other.Unmap()
	})
}

// hasLabels reports whether all labels of a are among those of b. The kubelet adds the labels of its flags up
// (k8s.io/component-base cli/flag, ConfigurationMap), so the rest is there too.
func hasLabels(a, b string) bool {
	all := items(b)
	return !slices.ContainsFunc(items(a), func(label string) bool {
		key, value, _ := strings.Cut(label, "=")
		return !slices.Contains(all, strings.TrimSpace(key)+"="+strings.TrimSpace(value))
	})
}

// sameTaints compares sets. A taint without a value has an equals sign or none.
func sameTaints(a, b string) bool {
	return slices.Equal(items(strings.ReplaceAll(a, "=:", ":")), items(strings.ReplaceAll(b, "=:", ":")))
}

// items are those of a list with commas, sorted, each once.
func items(list string) []string {
	all := slices.DeleteFunc(strings.Split(list, ","), func(item string) bool { return item == "" })
	slices.Sort(all)
	return slices.Compact(all)
}

// kubeletConfigFile is where the kubelet's configuration is; empty for a kubelet that has none.
func (in *input) kubeletConfigFile() string {
	if k := in.config.Kubelet; in.family.Kubelet.ConfigDefaults || k.Config != nil || k.Capacity != nil {
		return in.family.Paths.KubeletConfig
	}
	return ""
}

// managed reports whether Slipway gives the kubelet a flag itself, and reports the contract's where that says anything else.
func managed(in *input, out *output, at string, flag nodeconfig.Flag) bool {
	m, own := in.gives(flag.Name)
	if m != nil && !m.same(flag.Value, own) {
		out.fatal(nodeconfig.Invalid, at, "--%s is Slipway's to give; use %s", flag.Name, m.instead)
	}
	return m != nil
}

// gives returns the setting of a flag that Slipway gives itself on this node, and its value; nil for another flag.
func (in *input) gives(flag string) (m *managedSetting, own string) {
	for i := range managedSettings {
		m := &managedSettings[i]
		if m.flag != flag || m.gives == nil {
			continue
		}
		if own, given := m.gives(in); given {
			return m, own
		}
	}
	return nil, ""
}

// checkManagedFields reports fields that a flag of Slipway's would go before.
func checkManagedFields(in *input, out *output, at string) {
	for i := range managedSettings {
		m := &managedSettings[i]
		value := configured(in.config.Kubelet, m.field)
		if m.gives == nil || value == nil {
			continue
		}
		if own, given := m.gives(in); given && !m.same(asFlag(value), own) {
			out.fatal(nodeconfig.Invalid, at+"."+m.field, "is Slipway's to give, with --%s; use %s", m.flag, m.instead)
		}
	}
}

// asFlag is a value of the kubelet's configuration as a flag takes it: text, or a list of texts or taints.
func asFlag(value any) string {
	switch v := value.(type) {
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, asFlag(item))
		}
		return strings.Join(items, ",")
	case map[string]any:
		text := func(name string) string { s, _ := v[name].(string); return s }
		return nodeconfig.Taint{Key: text("key"), Value: text("value"), Effect: text("effect")}.String()
	}
	return fmt.Sprint(value)
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
// nothing, which an empty text or list is too, and a duration of zero, with which the kubelet takes its default
// (k8s.io/kubernetes v1.36.3 pkg/kubelet/apis/config/v1beta1/defaults.go). kubeadm writes such durations.
func configured(k nodeconfig.Kubelet, field string) any {
	if field == "" {
		return nil
	}
	var value any = k.Config
	for name := range strings.SplitSeq(field, ".") {
		fields, _ := value.(map[string]any)
		value = fields[name]
	}
	switch v := value.(type) {
	case []any:
		if len(v) == 0 {
			return nil
		}
	case string:
		if d, err := time.ParseDuration(v); v == "" || err == nil && d == 0 && v != "0" {
			return nil
		}
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

// kubeletSettings are a configuration, and the family's and the contract's flags, without those that Slipway gives in their place.
func (in *input) kubeletSettings(config map[string]any) kubeletapi.Settings {
	s := kubeletapi.Settings{
		Minor: in.minor, Config: config, At: "$.kubelet.config",
		Machine: kubeletapi.Machine{CPUs: in.facts.CPUs, MemoryBytes: in.facts.MemoryBytes, CgroupVersion: in.facts.CgroupVersion},
	}
	for _, f := range in.family.Command.Flags {
		if f.GivenTo(in.minor) {
			s.Flags = append(s.Flags, kubeletapi.Flag{Name: f.Name, Value: f.Value})
		}
	}
	if len(in.config.Kubelet.NodeIPs) > 0 {
		s.Flags = append(s.Flags, kubeletapi.Flag{At: "$.kubelet.nodeIPs", Name: "node-ip", Value: nodeIP(in)})
	}
	for i, flag := range in.config.Kubelet.Flags {
		if m, _ := in.gives(flag.Name); m == nil && !isSelfSigned(in, flag.Name, flag.Value) && !(flag.Name == idleTimeoutFlag && in.reached(idleTimeoutIgnored)) {
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
	if servers := configured(k, "clusterDNS"); servers != nil && len(in.config.Cluster.DNSServiceIPs) > 0 && in.family.Kubelet.ConfigDefaults &&
		!sameAddresses(asFlag(servers), strings.Join(in.config.Cluster.DNSServiceIPs, ",")) {
		out.warn(nodeconfig.Dropped, dnsPath(in.config), "is not used: kubelet.config.clusterDNS names the servers")
	}
	if in.family.Kubelet.ConfigDefaults && len(in.config.Cluster.ServiceCIDRs) > 0 && dnsPath(in.config) != "$.cluster.serviceCIDRs" {
		out.warn(nodeconfig.Dropped, "$.cluster.serviceCIDRs", "is not used: cluster.dnsServiceIPs names the servers")
	}
	if domain := configured(k, "clusterDomain"); domain != nil && domain != any(in.config.Cluster.DNSDomain) && in.config.Cluster.DNSDomain != nodeconfig.DefaultDNSDomain && in.family.Kubelet.ConfigDefaults {
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
		if out[idleTimeoutField] = ""; configured(in.config.Kubelet, idleTimeoutField) != nil {
			out[idleTimeoutField] = idleTimeoutReason
		}
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

package kubelet

import (
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
// If the version is not known, it reports what neither the oldest nor the newest supported kubelet takes.
func checkSettings(in *concern.Input, out *concern.Output, config map[string]any) {
	if in.Minor != concern.Newest {
		out.Add(kubeletapi.Check(kubeletSettings(in, config))...)
		return
	}
	settings := kubeletSettings(in, config)
	settings.Minor = kubeletapi.OldestSupported
	oldest := kubeletapi.Check(settings)
	settings.Minor = kubeletapi.NewestSupported
	for _, p := range kubeletapi.Check(settings) {
		if slices.Contains(oldest, p) {
			out.Add(p)
		}
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

// kubeletSettings are a configuration with the family's and the contract's flags, without the flags that Slipway replaces.
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

// checkKubeletConfig compares the contract's kubelet configuration with the contract's other fields.
func checkKubeletConfig(in *concern.Input, out *concern.Output) {
	const at = "$.kubelet.config"
	k := in.Config.Kubelet
	checkManagedFields(in, out, at)
	checkCgroupDriver(in, out, at+".cgroupDriver", k.Config["cgroupDriver"])
	settings, _ := nodeconfig.Revealed(k.Config)
	out.Add(kubeletapi.Twice(kubeletSettings(in, settings))...)
	for i, flag := range k.Flags {
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

// hardThresholds are the hard thresholds of eviction that a kubelet has by default (k8s.io/kubernetes v1.36.3
// pkg/kubelet/eviction/defaults_linux.go).
var hardThresholds = []string{"memory.available<100Mi", "nodefs.available<10%", "nodefs.inodesFree<5%", "imagefs.available<15%", "imagefs.inodesFree<5%"}

// checkThresholds reports default thresholds that the contract turns off: if the contract sets one, the kubelet drops the others, unless
// a field merges them (KubeletConfiguration, evictionHard and mergeDefaultEvictionSettings, since Kubernetes 1.33). A threshold of the
// node's disk also covers images: they are on it unless a machine has a disk for them, and neither AKS nor EKS gives its nodes such a
// disk. without is the kubelet's configuration without the contract's settings.
func checkThresholds(in *concern.Input, out *concern.Output, without map[string]any) {
	const flag, merges = "eviction-hard", "mergeDefaultEvictionSettings"
	field := kubeletapi.FieldOf(in.Minor, flag)
	given := items(kubeletsetting.Value(in.Config.Kubelet, flag, "", ""))
	isFlag := len(given) > 0
	usual := thresholdsOf(without[field])
	if !isFlag {
		own, _ := kubeletsetting.Field(in.Config.Kubelet, field).(map[string]any)
		merged, isSet := in.Config.Kubelet.Config[merges]
		if !isSet {
			merged = without[merges]
		}
		if len(own) == 0 || merged == true {
			return
		}
		given = append(thresholdsOf(own), usual...)
	}
	var lost []string
	for _, threshold := range hardThresholds {
		signal, _, _ := strings.Cut(threshold, "<")
		isOf := func(signal string) func(string) bool {
			return func(given string) bool { name, _, _ := strings.Cut(given, "<"); return name == signal }
		}
		covers := strings.Replace(signal, "imagefs", "nodefs", 1)
		if !slices.ContainsFunc(given, isOf(signal)) && !slices.ContainsFunc(given, isOf(covers)) && (len(usual) == 0 || slices.Contains(usual, signal)) {
			lost = append(lost, threshold)
		}
	}
	if len(lost) == 0 {
		return
	}
	instead := "give these, too"
	if !isFlag && in.Reached(concern.ThresholdsMerged) {
		instead += ", or set " + merges
	}
	out.Warn(nodeconfig.Dropped, kubeletsetting.Path(in.Config.Kubelet, flag, field), "turns off the kubelet's other default thresholds: %s; %s", strings.Join(lost, ", "), instead)
}

// thresholdsOf are the signals of a configuration's thresholds.
func thresholdsOf(thresholds any) []string {
	fields, _ := thresholds.(map[string]any)
	return slices.Collect(maps.Keys(fields))
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

// leftOut returns the fields of the configuration that a node ignores, each with the reason for a warning. The reason is empty if
// the contract did not set the field, or if the family's own scripts set it and it has no meaning here.
func leftOut(in *concern.Input, config map[string]any) map[string]string {
	out := make(map[string]string)
	// A certificate that nothing creates is not named, nor one that the cluster signs.
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

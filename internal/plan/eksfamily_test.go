package plan

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/capacity"
	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// onEKS is a node of the family eks with a change.
func onEKS(t *testing.T, version string, change func(*nodeconfig.NodeConfig)) *nodeconfig.NodeConfig {
	t.Helper()
	return minimal(t, nodeconfig.LayoutEKS, func(c *nodeconfig.NodeConfig) {
		c.Cluster.KubernetesVersion, c.Cloud.Provider = version, "aws"
		c.Cluster.ServiceCIDRs, c.Cluster.DNSServiceIPs = []string{"10.100.0.0/16"}, nil
		change(c)
	})
}

// eksMachine is a machine of EKS, with a kubelet of a version.
func eksMachine(t *testing.T, version string) facts.Facts {
	t.Helper()
	known := onEC2(ubuntu(t))
	known.Components = append(slices.Clone(known.Components), ecrProvider, components.Component{Name: "pause", Path: profile.PauseArchive})
	for i := range known.Components {
		if known.Components[i].Name == "kubelet" {
			known.Components[i].Version = version
		}
	}
	return known
}

// jsonAt returns a JSON file of a plan, or nil if the plan does not have it.
func jsonAt(t *testing.T, p resource.Plan, path string) map[string]any {
	t.Helper()
	f := fileIn(p, path)
	if f == nil {
		return nil
	}
	var document map[string]any
	if err := json.Unmarshal(f.Content, &document); err != nil {
		t.Fatal(path, err)
	}
	return document
}

// mergePatch merges as a kubelet does since Kubernetes 1.32 (RFC 7386).
func mergePatch(base, over map[string]any) map[string]any {
	merged := make(map[string]any)
	for name, value := range base {
		merged[name] = value
	}
	for name, value := range over {
		if fields, ok := value.(map[string]any); ok {
			below, _ := merged[name].(map[string]any)
			value = mergePatch(below, fields)
		}
		if merged[name] = value; value == nil {
			delete(merged, name)
		}
	}
	return merged
}

// The kubelet's merge of config.json and the drop-in gives the same as one file would, in each version: also for null values, and
// for values that a kubelet of the version ignores in a drop-in. If there is a drop-in, config.json has none of the contract's fields.
func TestKubeletConfigDropIn(t *testing.T) {
	paths := profile.Named(nodeconfig.LayoutEKS).Paths
	own := map[string]any{
		"maxPods": json.Number("17"), "hairpinMode": nil, "resolvConf": "/run/systemd/resolve/resolv.conf", "systemReservedCgroup": "",
		"logging":                        map[string]any{"verbosity": nil, "format": "json"},
		"featureGates":                   map[string]any{"NodeSwap": true},
		"streamingConnectionIdleTimeout": "4h", // left out from 1.34 on
	}
	for version, want := range map[string]struct {
		dropIn, variable bool
		lost             []string
	}{
		"1.28.15": {},
		"1.29.15": {dropIn: true, variable: true, lost: []string{"resolvConf"}},
		"1.31.14": {dropIn: true, lost: []string{"resolvConf"}},
		"1.32.13": {dropIn: true},
		"1.37.2":  {dropIn: true},
	} {
		c := onEKS(t, version, func(c *nodeconfig.NodeConfig) { c.Kubelet.Config = own })
		p, problems := New(c, eksMachine(t, version))
		if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
			t.Fatal(version, fatal)
		}
		base, over := jsonAt(t, p, paths.KubeletConfig), jsonAt(t, p, paths.KubeletDropIn)
		got := mergePatch(base, over)
		for field, value := range map[string]any{
			"maxPods": 17.0, "resolvConf": "/run/systemd/resolve/resolv.conf", "systemReservedCgroup": "", "kubeReservedCgroup": "/runtime", "hairpinMode": nil,
			"kind": "KubeletConfiguration", "providerID": "aws:///eu-west-1a/i-0123456789abcdef0",
		} {
			if got[field] != value {
				t.Errorf("%s: %s is %v, want %v", version, field, got[field], value)
			}
		}
		if got := got["streamingConnectionIdleTimeout"]; (got == nil) != (version == "1.37.2") {
			t.Errorf("%s: a setting that no kubelet reads is %v", version, got)
		}
		logging := got["logging"].(map[string]any)
		if gates := got["featureGates"].(map[string]any); gates["NodeSwap"] != true || gates["RotateKubeletServerCertificate"] != true || logging["verbosity"] != nil || logging["format"] != "json" {
			t.Errorf("%s: %v, %v", version, gates, logging)
		}
		environment := string(fileAt(t, p, paths.KubeletEnv).Content)
		if strings.Contains(environment, "--config-dir=/etc/kubernetes/kubelet/config.json.d") != want.dropIn || (over != nil) != want.dropIn ||
			strings.Contains(environment, "KUBELET_CONFIG_DROPIN_DIR_ALPHA=on") != want.variable {
			t.Errorf("%s: the drop-in is %v, with %s", version, over, environment)
		}
		for name := range own {
			_, inBase := base[name]
			if lost := slices.Contains(want.lost, name); want.dropIn && over[name] != nil && lost || lost && !inBase {
				t.Errorf("%s: %s is in %v and %v", version, name, base[name], over[name])
			}
		}
		for field, in := range map[string]string{"maxPods": paths.KubeletDropIn, "cgroupRoot": paths.KubeletConfig} {
			if !want.dropIn {
				in = paths.KubeletConfig
			}
			if got := p.Node.FileOf(field); got != resource.ID("File:"+in) {
				t.Errorf("%s: %s is in %s", version, field, got)
			}
		}
	}
	without := onEKS(t, "1.36.3", func(*nodeconfig.NodeConfig) {})
	if p, _ := New(without, eksMachine(t, "1.36.3")); fileIn(p, paths.KubeletDropIn) != nil || p.Node.Arguments["config-dir"].Value != "" {
		t.Error("a contract that sets nothing of the kubelet has a drop-in")
	}
	secret := onEKS(t, "1.36.3", func(c *nodeconfig.NodeConfig) {
		c.Kubelet.Config = map[string]any{"staticPodURL": "https://u:p@pods.example"}
	})
	p, _ := New(secret, eksMachine(t, "1.36.3"))
	if own, defaults := fileAt(t, p, paths.KubeletDropIn), fileAt(t, p, paths.KubeletConfig); !own.Secret || own.Mode != 0o600 || defaults.Secret {
		t.Errorf("%v, %v", own.Secret, defaults.Secret)
	}
}

// The gates and settings that EKS turns on, by the kubelet's version, are such that the kubelet takes them.
func TestVersionsOfEKS(t *testing.T) {
	config := profile.Named(nodeconfig.LayoutEKS).Paths.KubeletConfig
	for minor := 26; minor <= 37; minor++ {
		version := "1." + string(rune('0'+minor/10)) + string(rune('0'+minor%10)) + ".1"
		p, problems := New(onEKS(t, version, func(*nodeconfig.NodeConfig) {}), eksMachine(t, version))
		if len(problems) > 0 {
			t.Errorf("%s: %v", version, problems)
		}
		got := jsonAt(t, p, config)
		gates := got["featureGates"].(map[string]any)
		if (gates["DynamicResourceAllocation"] == true) != (minor >= 33) || (gates["MutableCSINodeAllocatableCount"] == true) != (minor >= 34) {
			t.Errorf("%s: %v", version, gates)
		}
		flag := p.Node.Arguments["container-runtime-endpoint"].Value
		if field := got["containerRuntimeEndpoint"]; (flag == "") == (field == nil) {
			t.Errorf("%s: the endpoint is %q and %v", version, flag, field)
		}
		if p.Node.Arguments["node-ip"].Value == "" {
			t.Errorf("%s: no address", version)
		}
	}
}

// A node of EKS has one address, of the family of its cluster's service range.
func TestAddressByServiceRange(t *testing.T) {
	both := eksMachine(t, "1.36.3")
	both.NodeIPs = []string{"10.0.0.5", "2001:db8::5"}
	for name, c := range map[string]struct {
		services, families []string
		known              []string
		address, reports   string
		needs              bool
	}{
		"IPv4":                 {services: []string{"10.100.0.0/16"}, address: "10.0.0.5"},
		"IPv6":                 {services: []string{"fd30::/108"}, address: "2001:db8::5"},
		"IPv6, said twice":     {services: []string{"fd30::/108"}, families: []string{"IPv6"}, address: "2001:db8::5"},
		"IPv6, said otherwise": {services: []string{"10.100.0.0/16"}, families: []string{"IPv6"}, address: "10.0.0.5", reports: "which is IPv4"},
		"both":                 {services: []string{"fd30::/108"}, families: []string{"IPv4", "IPv6"}, address: "2001:db8::5", reports: "which is IPv6"},
		"no range":             {families: []string{"IPv4", "IPv6"}, address: "10.0.0.5,2001:db8::5"},
		"IPv6 has not come":    {services: []string{"fd30::/108"}, known: []string{"10.0.0.5"}, needs: true},
	} {
		known := both
		if c.known != nil {
			known.NodeIPs = c.known
		}
		config := onEKS(t, "1.36.3", func(n *nodeconfig.NodeConfig) {
			n.Cluster.ServiceCIDRs, n.Network.IPFamilies = c.services, c.families
			if len(c.services) == 0 {
				n.Cluster.DNSServiceIPs = []string{"10.100.0.10"}
			}
		})
		p, problems := New(config, known)
		if got := p.Node.Arguments["node-ip"].Value; got != c.address {
			t.Errorf("%s: the address is %q, want %q", name, got, c.address)
		}
		reported := slices.IndexFunc(problems, func(p nodeconfig.Problem) bool { return p.Path == "$.network.ipFamilies" })
		if (reported >= 0) != (c.reports != "") || reported >= 0 && !strings.Contains(problems[reported].Reason, c.reports) {
			t.Errorf("%s: %v", name, problems)
		}
		if got := slices.Contains(Needs(config, known), NeedAddress); got != c.needs {
			t.Errorf("%s: an address is awaited: %v", name, got)
		}
	}
}

// EKS's numbers are computed without a request in the contract. The contract's settings win. An unknown type gets the pod number
// that all unknown types get.
func TestCapacityOfEKS(t *testing.T) {
	config := profile.Named(nodeconfig.LayoutEKS).Paths.KubeletConfig
	for name, c := range map[string]struct {
		machine, pods, memory string
		own                   map[string]any
		reports               bool
	}{
		"known":             {machine: "m5.large", pods: "29", memory: "574Mi"},
		"unknown":           {machine: "x99.large", pods: "110", memory: "1465Mi", reports: true},
		"unknown, pods set": {machine: "x99.large", memory: "1465Mi", own: map[string]any{"maxPods": json.Number("20")}},
		"known, pods set":   {machine: "m5.large", memory: "574Mi", own: map[string]any{"maxPods": json.Number("20")}},
	} {
		known := eksMachine(t, "1.36.3")
		instance := *known.Instance
		known.Instance = &instance
		known.Instance.Type = c.machine
		p, problems := New(onEKS(t, "1.36.3", func(n *nodeconfig.NodeConfig) { n.Kubelet.Config = c.own }), known)
		got := jsonAt(t, p, config)
		reserved, _ := got["kubeReserved"].(map[string]any)
		if pods, _ := json.Marshal(got["maxPods"]); string(pods) != c.pods && !(c.pods == "" && got["maxPods"] == nil) || reserved["memory"] != c.memory {
			t.Errorf("%s: %s pods, %v", name, pods, reserved)
		}
		if reported := slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool { return p.Path == setting.KubeletCapacity && !p.Fatal }); reported != c.reports {
			t.Errorf("%s: %v", name, problems)
		}
	}
	if needs := Needs(onEKS(t, "1.36.3", func(*nodeconfig.NodeConfig) {}), ubuntu(t)); !slices.Contains(needs, NeedDescription) {
		t.Errorf("what the cloud says of the machine is not awaited: %v", needs)
	}
}

// A node with an NVIDIA device has a label for it, from 1.35 on; the contract's label wins. The image decides the container
// runtime.
func TestNVIDIAOfEKS(t *testing.T) {
	const label = "nvidia.com/gpu.present"
	for _, c := range []struct {
		layout, version string
		device          bool
		own, want       string
	}{
		{nodeconfig.LayoutEKS, "1.35.1", true, "", label + "=true"},
		{nodeconfig.LayoutEKS, "1.35.1", true, "no", label + "=no"},
		{nodeconfig.LayoutEKS, "1.35.1", false, "", ""},
		{nodeconfig.LayoutEKS, "1.34.1", true, "", ""},
		{nodeconfig.LayoutStandard, "1.35.1", true, "", ""},
	} {
		known := eksMachine(t, c.version)
		known.NVIDIADevice = c.device
		config := onEKS(t, c.version, func(n *nodeconfig.NodeConfig) {
			if n.Components.Layout = c.layout; c.own != "" {
				n.Kubelet.Labels = map[string]string{label: c.own}
			}
		})
		if got := first(New(config, known)).Node.Arguments["node-labels"].Value; got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
	known := eksMachine(t, "1.36.3")
	known.Components = append(known.Components, components.Component{Name: "nvidia-container-runtime", Path: "/usr/bin/nvidia-container-runtime"})
	for layout, want := range map[string]bool{nodeconfig.LayoutEKS: true, nodeconfig.LayoutEksctl: false} {
		p, _ := New(minimal(t, layout, func(*nodeconfig.NodeConfig) {}), known)
		if got := strings.Contains(string(fileAt(t, p, "/etc/containerd/config.toml").Content), `default_runtime_name = "nvidia"`); got != want {
			t.Errorf("%s: NVIDIA's runtime is the default: %v", layout, got)
		}
		if planned(p, "Command:gpu-driver") {
			t.Errorf("%s: the driver is looked at, and the contract does not ask for it", layout)
		}
	}
	p, _ := New(onEKS(t, "1.36.3", func(*nodeconfig.NodeConfig) {}), facts.Facts{})
	if strings.Contains(string(fileAt(t, p, "/etc/containerd/config.toml").Content), "nvidia") {
		t.Error("an image that is not known has NVIDIA's runtime")
	}
}

// The image of pods' sandboxes that an image holds is not one of another snapshotter's.
func TestHeldSandboxImage(t *testing.T) {
	for name, c := range map[string]struct {
		layout, sandbox string
		refused         bool
	}{
		"the image's own": {nodeconfig.LayoutEKS, "", true},
		"the contract's":  {nodeconfig.LayoutEKS, "registry.example/pause:1", false},
		"standard":        {nodeconfig.LayoutStandard, "", false},
	} {
		_, problems := New(minimal(t, c.layout, func(n *nodeconfig.NodeConfig) { n.Runtime.LazyPull, n.Runtime.SandboxImage = "soci", c.sandbox }), facts.Facts{})
		if refused := slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool { return p.Fatal && p.Path == setting.LazyPull }); refused != c.refused {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

// Each setting that follows from the contract and the machine has its derivation, under the settings that it follows from.
func TestDerivedOfEKS(t *testing.T) {
	known := eksMachine(t, "1.36.3")
	known.NVIDIADevice, known.NodeIPs = true, []string{"2001:db8::5"}
	c := onEKS(t, "1.36.3", func(n *nodeconfig.NodeConfig) {
		n.Cluster.ServiceCIDRs = []string{"fd30::/108"}
		n.Kubelet.MachineLabels = map[string]string{"example.com/zone": nodeconfig.MachineZone}
	})
	for path, want := range map[string][]capacity.Step{
		"$.cluster.serviceCIDRs": {
			{Name: "clusterDNS", Value: "fd30::a", How: "the tenth address of fd30::/108", Source: "kubeadm: constants, GetDNSIP; Amazon EKS AMI: GetClusterDns"},
			{Name: "node-ip", Value: "2001:db8::5", How: "the machine's address, IPv6 as the service range fd30::/108", Source: "Amazon EKS AMI: getNodeIp"},
		},
		"$.cloud.provider": {{Name: "providerID", Value: "aws:///eu-west-1a/i-0123456789abcdef0", How: "the machine's zone and its instance ID", Source: "Kubernetes: cloud-provider-aws, instance IDs"}},
		"$.kubelet.labels": {
			{Name: "node-labels.example.com/zone", Value: "eu-west-1a", How: "the machine's zone", Source: "the contract"},
			{Name: "node-labels.nvidia.com/gpu.present", Value: "true", How: "the machine has a device of NVIDIA's", Source: "Amazon EKS AMI: NvidiaGPULabel"},
		},
		"$.kubelet.flags": nil,
	} {
		if diff := cmp.Diff(want, Derived(c, known, []string{path})); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	set := onEKS(t, "1.36.3", func(n *nodeconfig.NodeConfig) {
		n.Cluster.DNSServiceIPs, n.Kubelet.NodeIPs = []string{"10.100.0.99"}, []string{"10.0.0.9"}
	})
	if got := Derived(set, known, []string{"$.cluster.serviceCIDRs"}); got != nil {
		t.Errorf("what the contract sets is derived: %v", got)
	}
}

// Without an agent and without facts, the unit refers to what only the machine knows, and the files have the rest.
func TestEKSWithoutAgent(t *testing.T) {
	c := onEKS(t, "1.36.3", func(n *nodeconfig.NodeConfig) {
		n.Kubelet.Labels = map[string]string{"a": "b"}
		n.Kubelet.MachineLabels = map[string]string{"example.com/zone": nodeconfig.MachineZone}
		n.Kubelet.Capacity = &nodeconfig.Capacity{InstanceTypes: []string{"m5.large", "c5.xlarge"}}
	})
	p, problems := WithoutAgent(c, facts.Facts{})
	if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
		t.Fatal(fatal)
	}
	unit := string(fileAt(t, p, "/etc/systemd/system/kubelet.service").Content)
	for _, want := range []string{
		"EnvironmentFile=/etc/eks/kubelet/environment", "EnvironmentFile=/run/slipway/node.env", "$NODEADM_KUBELET_ARGS", "--node-ip=${NODE_IP}",
		"--max-pods=${MAX_PODS}", "--provider-id=aws:///${AVAILABILITY_ZONE}/${INSTANCE_ID}", "--node-labels=a=b,example.com/zone=${AVAILABILITY_ZONE}",
	} {
		if !strings.Contains(unit, want) {
			t.Errorf("%s is not in %s", want, unit)
		}
	}
	paths := profile.Named(nodeconfig.LayoutEKS).Paths
	if environment := string(fileAt(t, p, paths.KubeletEnv).Content); strings.Contains(environment, "--node-labels") || strings.Contains(environment, "--provider-id") {
		t.Errorf("flags are given twice: %s", environment)
	}
	if _, given := jsonAt(t, p, paths.KubeletConfig)["providerID"]; given {
		t.Error("the configuration has the name of a machine that is not known")
	}
	c.Kubelet.Capacity = &nodeconfig.Capacity{Rule: nodeconfig.RuleEKS}
	if _, problems = WithoutAgent(c, facts.Facts{}); !slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool {
		return p.Fatal && p.Path == setting.KubeletCapacity+".instanceTypes"
	}) {
		t.Errorf("a node whose number of pods is not known: %v", problems)
	}
}

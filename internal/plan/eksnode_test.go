package plan

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

var ecrProvider = components.Component{Name: "ecr-credential-provider", Path: "/etc/eks/image-credential-provider/ecr-credential-provider"}

// A node of EKS ends its pods before it goes down, and logind lets it, from the version on from which EKS's nodes do.
func TestShutdownOfANodeOfEKS(t *testing.T) {
	const delay = "/etc/systemd/logind.conf.d/98-slipway-shutdown.conf"
	for _, c := range []struct {
		version       string
		config        map[string]any
		all, critical string
		seconds       string
	}{
		{"1.33.9", nil, "", "", ""},
		{"1.34.0", nil, "2m30s", "30s", "150"},
		{"1.36.1", map[string]any{"podPidsLimit": 100}, "2m30s", "30s", "150"},
		{"1.34.0", map[string]any{"shutdownGracePeriod": "60s"}, "60s", "", "60"},
		{"1.34.0", map[string]any{"shutdownGracePeriodByPodPriority": []any{map[string]any{"priority": 0, "shutdownGracePeriodSeconds": 90}}}, "", "", "90"},
	} {
		config := eksNode(t, c.version, func(n *nodeconfig.NodeConfig) { n.Kubelet.Config = c.config })
		p, problems := New(config, eksImage(ubuntuOS, c.version, ecrProvider))
		if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
			t.Fatal(c.version, fatal)
		}
		kubelet := plannedKubelet(t, p, config)
		all, _ := kubelet["shutdownGracePeriod"].(string)
		critical, _ := kubelet["shutdownGracePeriodCriticalPods"].(string)
		if all != c.all || critical != c.critical {
			t.Errorf("%s, %v: %q and %q", c.version, c.config, all, critical)
		}
		waits := ""
		if planned(p, resource.ID("File:"+delay)) {
			waits = string(fileAt(t, p, delay).Content)
		}
		if (waits != "") != (c.seconds != "") || !strings.Contains(waits, c.seconds) {
			t.Errorf("%s, %v: logind has %q", c.version, c.config, waits)
		}
	}
}

// What a network plug-in adds is left alone where systemd-networkd runs.
func TestForeignInterfacesAreLeftAlone(t *testing.T) {
	for name, c := range map[string]struct {
		os     facts.OS
		layout string
		want   bool
	}{
		"Ubuntu":            {ubuntuOS, "eksctl", true},
		"Amazon Linux 2023": {facts.OS{ID: "amzn", VersionID: "2023"}, "eksctl", true},
		"Amazon Linux 2":    {amazonOS, "eksctl", false},
		"another cluster":   {ubuntuOS, "standard", false},
	} {
		config := eksNode(t, "1.31.2", func(n *nodeconfig.NodeConfig) { n.Components.Layout = c.layout })
		p, _ := New(config, eksImage(c.os, "1.31.2", ecrProvider))
		for file, line := range map[string]string{
			"/etc/systemd/networkd.conf.d/80-slipway-foreign.conf":   "ManageForeignRoutingPolicyRules=no\n",
			"/etc/systemd/network/99-default.link.d/80-slipway.conf": "MACAddressPolicy=none\n",
		} {
			if planned(p, resource.ID("File:"+file)) != c.want {
				t.Errorf("%s: %s", name, file)
			} else if c.want && !strings.Contains(string(fileAt(t, p, file).Content), line) {
				t.Errorf("%s: %s", name, fileAt(t, p, file).Content)
			}
		}
	}
}

// runc has the image's path, which is in /usr/sbin on images for EKS.
func TestRuncOfANodeOfEKS(t *testing.T) {
	for want, c := range map[string][]components.Component{
		"/usr/sbin/runc":       {ecrProvider},
		"/usr/bin/runc":        {ecrProvider, {Name: "runc", Path: "/usr/bin/runc"}},
		"/usr/local/sbin/runc": {ecrProvider, {Name: "runc", Path: "/usr/local/sbin/runc"}},
	} {
		p, problems := New(eksNode(t, "1.31.2"), eksImage(ubuntuOS, "1.31.2", c...))
		if toml := string(fileAt(t, p, "/etc/containerd/config.toml").Content); !strings.Contains(toml, `BinaryName = "`+want+`"`) {
			t.Errorf("%v: %s", problems, toml)
		}
	}
}

// A node of EKS is in AWS, also if its contract does not name the cloud, and has its machine's ID there.
func TestNodeOfEKSIsInAWS(t *testing.T) {
	for name, change := range map[string]func(*nodeconfig.NodeConfig){
		"silent": func(n *nodeconfig.NodeConfig) { n.Cloud = nodeconfig.Cloud{} },
		"region": func(n *nodeconfig.NodeConfig) { n.Cloud.Provider = "" },
	} {
		for _, layout := range []string{nodeconfig.LayoutEKS, nodeconfig.LayoutEksctl} {
			config := eksNode(t, "1.34.0", change, func(n *nodeconfig.NodeConfig) { n.Components.Layout = layout })
			p, problems := New(config, eksImage(ubuntuOS, "1.34.0", ecrProvider))
			id := p.Node.Kubelet["providerID"] + p.Node.Arguments["provider-id"].Value
			if config.Cloud.Provider != "aws" || id != "aws:///eu-west-1a/i-0123456789abcdef0" || len(nodeconfig.Fatal(problems)) > 0 {
				t.Errorf("%s, %s: the cloud is %q, the machine %q, %v", name, layout, config.Cloud.Provider, id, problems)
			}
		}
	}
	if other := eksNode(t, "1.34.0", func(n *nodeconfig.NodeConfig) { n.Cloud.Provider = "azure" }); other.Cloud.Provider != "azure" {
		t.Error("a cloud that the contract names is another one")
	}
}

// With validated cryptography, each program that asks AWS uses such endpoints, with an agent and without.
func TestFIPSEndpointsOfANodeOfEKS(t *testing.T) {
	const variable = "AWS_USE_FIPS_ENDPOINT"
	for _, on := range []bool{false, true} {
		config := eksNode(t, "1.31.2", func(n *nodeconfig.NodeConfig) {
			n.Cloud.AWS = &nodeconfig.AWS{Region: "us-east-1", FIPSEndpoints: on}
			n.Join.AWS.Region = "us-east-1"
		})
		known := eksImage(amazonOS, "1.31.2", ecrProvider, components.Component{Name: "aws", Path: "/usr/bin/aws"})
		with, problems := New(config, known)
		known.Instance.ID = ""
		without, lost := WithoutAgent(config, known)
		if fatal := nodeconfig.Fatal(append(problems, lost...)); len(fatal) > 0 {
			t.Fatal(fatal)
		}
		for name, p := range map[string]resource.Plan{"with": with, "without": without} {
			for _, path := range []string{"/etc/eksctl/kubeconfig.yaml", "/etc/eks/image-credential-provider/config.json"} {
				if has := strings.Contains(string(fileAt(t, p, path).Content), variable); has != on {
					t.Errorf("%s an agent, %t: %s has %s", name, on, path, fileAt(t, p, path).Content)
				}
			}
			registry := map[bool]string{false: `"602401143452.dkr.ecr.us-east-1.amazonaws.com/`, true: `"602401143452.dkr.ecr-fips.us-east-1.amazonaws.com/`}[on]
			if toml := string(fileAt(t, p, "/etc/containerd/config.toml").Content); !strings.Contains(toml, registry) {
				t.Errorf("%s an agent, %t: %s", name, on, toml)
			}
		}
		for _, r := range with.Resources {
			if image, ok := r.Spec.(*resource.Image); ok && (image.ProviderEnv[variable] == "true") != on {
				t.Errorf("%t: the provider is called with %v", on, image.ProviderEnv)
			}
		}
		if unit := string(fileAt(t, without, "/etc/systemd/system/slipway-sandbox-image.service").Content); strings.Contains(unit, variable) != on {
			t.Errorf("%t: %s", on, unit)
		}
	}
}

// nodeadm does not run beside Slipway, where an image has it, or may have it.
func TestBootstrappersOfTheImageAreTurnedOff(t *testing.T) {
	units := []string{"nodeadm-config.service", "nodeadm-run.service"}
	image := eksImage(facts.OS{ID: "amzn", VersionID: "2023"}, "1.34.0", ecrProvider, components.Component{Name: "aws", Path: "/usr/bin/aws"})
	installed := image
	installed.Units = []string{"/etc/systemd/system/nodeadm-config.service", "/etc/systemd/system/nodeadm-run.service"}
	for name, c := range map[string]struct {
		layout      string
		known       facts.Facts
		with, alone bool
	}{
		"of EKS":         {nodeconfig.LayoutEKS, installed, true, true},
		"another image":  {nodeconfig.LayoutEKS, image, false, false},
		"an unknown one": {nodeconfig.LayoutEKS, facts.Facts{}, false, true},
		"another layout": {nodeconfig.LayoutStandard, installed, false, false},
	} {
		config := eksNode(t, "1.34.0", func(n *nodeconfig.NodeConfig) { n.Components.Layout = c.layout })
		with, _ := New(config, c.known)
		alone, _ := WithoutAgent(config, c.known)
		for _, unit := range units {
			id := resource.IDOf(&resource.UnitState{Unit: unit})
			if planned(with, id) != c.with || planned(alone, id) != c.alone {
				t.Errorf("%s: %s is turned off with an agent: %t, without: %t", name, unit, planned(with, id), planned(alone, id))
			}
		}
	}
}

// Without facts, the plan is for the contract's minor version: a kubelet of another version does not start with that version's gates.
func TestPlannedForTheContractsMinorVersion(t *testing.T) {
	const gate = "MutableCSINodeAllocatableCount"
	for name, c := range map[string]struct {
		minor string
		known facts.Facts
		want  bool
	}{
		"older":     {"1.31", facts.Facts{}, false},
		"newer":     {"1.36", facts.Facts{}, true},
		"unknown":   {"", facts.Facts{}, true},
		"installed": {"1.31", eksImage(ubuntuOS, "1.35.1", ecrProvider), true},
	} {
		config := eksNode(t, nodeconfig.InstalledVersion, func(n *nodeconfig.NodeConfig) {
			n.Components.Layout, n.Cluster.KubernetesMinor = nodeconfig.LayoutEKS, c.minor
		})
		p, problems := New(config, c.known)
		if has := strings.Contains(string(fileAt(t, p, "/etc/kubernetes/kubelet/config.json").Content), gate); has != c.want {
			t.Errorf("%s: the gate is set: %t, %v", name, has, problems)
		}
	}
}

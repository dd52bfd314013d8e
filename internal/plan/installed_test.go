package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The supported range is the one that has test cases. A version outside of it causes a warning.
func TestSupportedVersions(t *testing.T) {
	for version, warned := range map[string]bool{"1.25.16": true, "1.26.0": false, "1.37.2": false, "1.38.0": true} {
		config := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) { n.Cluster.KubernetesVersion = version })
		_, problems := New(config, facts.Facts{})
		if got := slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool {
			return p.Path == setting.KubernetesVersion && !p.Fatal && strings.Contains(p.Reason, "supports Kubernetes 1.26 to 1.37")
		}); got != warned {
			t.Errorf("%s: %v", version, problems)
		}
	}
}

// The version of a contract that takes the kubelet that is installed.
func TestInstalledVersion(t *testing.T) {
	at := func(list ...string) (found []components.Component) {
		for i := 0; i < len(list); i += 2 {
			found = append(found, components.Component{Name: "kubelet", Version: list[i], Path: list[i+1]})
		}
		return found
	}
	image := facts.OS{ID: "debian"}
	for name, c := range map[string]struct {
		os    facts.OS
		have  []components.Component
		want  string
		fatal bool
		says  string
	}{
		"one":                     {image, at("1.34.2", "/opt/kubelet"), "1.34.2", false, ""},
		"with its builder's mark": {image, at("v1.30.4-eks-1fbb135", "/usr/bin/kubelet"), "1.30.4", false, ""},
		"with a build":            {image, at("1.34.2+k3s1", "/usr/bin/kubelet"), "1.34.2", false, ""},
		"a pre-release":           {image, at("1.36.0-rc.1", "/usr/bin/kubelet"), "1.36.0-rc.1", false, ""},
		"the one in its place":    {image, at("1.34.2", "/opt/bin/kubelet-1.34.2", "1.33.1", "/usr/bin/kubelet"), "1.33.1", false, ""},
		"two elsewhere":           {image, at("1.34.2", "/opt/bin/kubelet-1.34.2", "1.33.1", "/opt/bin/kubelet-1.33.1"), "", true, "several kubelets (1.33.1, 1.34.2)"},
		"the main version alone":  {image, at("1", "/usr/bin/kubelet"), "", true, "it is not known which version"},
		"none":                    {image, []components.Component{{Name: "containerd", Version: "2.1.0"}}, "", true, "it is not known which version"},
		"no facts":                {facts.OS{}, nil, "", false, "no facts say which kubelet is installed"},
	} {
		config := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) { n.Cluster.KubernetesVersion = nodeconfig.InstalledVersion })
		known := facts.Facts{OS: c.os, Components: c.have}
		if got := concern.KubernetesVersion(config, known); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		_, problems := New(config, known)
		at := slices.IndexFunc(problems, func(p nodeconfig.Problem) bool { return p.Path == setting.KubernetesVersion })
		switch {
		case c.says == "":
			if at >= 0 {
				t.Errorf("%s: %v", name, problems[at])
			}
		case at < 0 || problems[at].Fatal != c.fatal || !strings.Contains(problems[at].Reason, c.says):
			t.Errorf("%s: %v, want %q", name, problems, c.says)
		}
		if config.Cluster.KubernetesVersion != nodeconfig.InstalledVersion {
			t.Errorf("%s: the config was changed", name)
		}
	}
}

// Without facts a node is planned for the minor version that its author expects, and with those of an image that has no kubelet it is not.
func TestExpectedVersionIsPlannedWithoutFacts(t *testing.T) {
	config := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
		n.Cluster.KubernetesVersion, n.Cluster.KubernetesMinor = nodeconfig.InstalledVersion, "1.33"
		n.Kubelet.Config = map[string]any{"defaultPodSysctls": map[string]any{}}
	})
	_, problems := New(config, facts.Facts{})
	has := func(path, reason string) bool {
		return slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool { return p.Path == path && strings.Contains(p.Reason, reason) })
	}
	if has(setting.KubernetesVersion, "") || !has("$.kubelet.config.defaultPodSysctls", "Kubernetes 1.37 added this field") {
		t.Error(problems)
	}
	if _, problems = New(config, facts.Facts{OS: facts.OS{ID: "ubuntu"}}); !has(setting.KubernetesVersion, "it is not known which version") {
		t.Error(problems)
	}
}

// A kubelet of another minor version than the author expects is warned of, and planned for all the same.
func TestKubeletOfAnotherMinor(t *testing.T) {
	for _, c := range []struct {
		minor, have string
		warned      bool
	}{{"", "1.34.2", false}, {"1.34", "1.34.2-eks-1fbb135", false}, {"1.33", "v1.34.2", true}, {"1.35", "1.34.2", true}, {"1.34", "", false}} {
		config := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
			n.Cluster.KubernetesVersion, n.Cluster.KubernetesMinor = nodeconfig.InstalledVersion, c.minor
		})
		known := facts.Facts{Components: []components.Component{{Name: "containerd", Version: "2.1.4", Path: "/usr/bin/containerd"}}}
		if c.have != "" {
			known.Components = append(known.Components, components.Component{Name: "kubelet", Version: c.have, Path: "/usr/bin/kubelet"})
		}
		_, problems := New(config, known)
		if got := slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool {
			return p.Path == setting.KubernetesMinor && !p.Fatal && strings.Contains(p.Reason, "wants Kubernetes "+c.minor)
		}); got != c.warned {
			t.Errorf("%+v: %v", c, problems)
		}
	}
}

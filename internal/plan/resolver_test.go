package plan

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// resolvConf returns resolvConf of the kubelet's configuration file, or nil.
func resolvConf(t *testing.T, p resource.Plan, c *nodeconfig.NodeConfig) any {
	t.Helper()
	f := fileIn(p, familyOf(c).Paths.KubeletConfig)
	if f == nil {
		return nil
	}
	var config map[string]any
	if err := json.Unmarshal(f.Content, &config); err != nil {
		t.Fatal(err)
	}
	return config["resolvConf"]
}

// Pods with the host's DNS get the servers that systemd-resolved asks, and not its stub on the host's loopback, in the
// families whose own tools do so. The contract decides first, then the fact, then the distribution.
func TestPodsGetServersBehindStub(t *testing.T) {
	yes, no := new(true), new(false)
	unit := func(u nodeconfig.Unit) func(*nodeconfig.NodeConfig) {
		u.Name = "systemd-resolved.service"
		return func(c *nodeconfig.NodeConfig) { c.Units = []nodeconfig.Unit{u} }
	}
	for name, c := range map[string]struct {
		layout, os string
		resolved   *bool
		change     func(*nodeconfig.NodeConfig)
		want       any
	}{
		"active":                   {"standard", "ubuntu", yes, nil, concern.ResolvedList},
		"active on any":            {"standard", "alpine", yes, nil, concern.ResolvedList},
		"active on Debian":         {"standard", "debian", yes, nil, concern.ResolvedList},
		"not active":               {"standard", "ubuntu", no, nil, nil},
		"unknown on Ubuntu":        {"standard", "ubuntu", nil, nil, concern.ResolvedList},
		"unknown on Flatcar":       {"standard", "flatcar", nil, nil, concern.ResolvedList},
		"unknown on Debian":        {"standard", "debian", nil, nil, nil},
		"unknown":                  {"standard", "", nil, nil, nil},
		"eksctl's Ubuntu":          {"eksctl", "ubuntu", yes, nil, concern.ResolvedList},
		"eksctl's Ubuntu, unknown": {"eksctl", "ubuntu", nil, nil, concern.ResolvedList},
		"eksctl's Ubuntu, without": {"eksctl", "ubuntu", no, nil, nil},
		"eksctl's Amazon Linux":    {"eksctl", "amzn", yes, nil, nil},
		"AKS":                      {"aks", "ubuntu", yes, nil, nil},
		"named":                    {"standard", "ubuntu", yes, func(c *nodeconfig.NodeConfig) { c.Kubelet.Config = map[string]any{"resolvConf": "/etc/own.conf"} }, "/etc/own.conf"},
		"named nothing":            {"standard", "ubuntu", yes, func(c *nodeconfig.NodeConfig) { c.Kubelet.Config = map[string]any{"resolvConf": ""} }, ""},
		"flag": {"standard", "ubuntu", yes, func(c *nodeconfig.NodeConfig) {
			c.Kubelet.Flags = []nodeconfig.Flag{{Name: "resolv-conf", Value: "/etc/own.conf"}}
		}, nil},
		// What the plan itself changes decides, and not what the machine had before: the next run finds it changed.
		"contract disables": {"standard", "ubuntu", yes, unit(nodeconfig.Unit{State: nodeconfig.UnitDisabled}), nil},
		"contract masks":    {"standard", "ubuntu", yes, unit(nodeconfig.Unit{State: nodeconfig.UnitMasked}), nil},
		"contract stops":    {"standard", "ubuntu", yes, unit(nodeconfig.Unit{State: nodeconfig.UnitStopped}), nil},
		"contract starts":   {"standard", "debian", no, unit(nodeconfig.Unit{State: nodeconfig.UnitStarted}), concern.ResolvedList},
		"contract enables":  {"standard", "debian", no, unit(nodeconfig.Unit{Enabled: true, State: nodeconfig.UnitNone}), concern.ResolvedList},
		"contract's drop-in": {"standard", "debian", no, unit(nodeconfig.Unit{State: nodeconfig.UnitNone,
			DropIns: []nodeconfig.DropIn{{Name: "10-x.conf", Content: "[Service]\n"}}}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			config := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) {
				if n.Components.Layout = c.layout; c.change != nil {
					c.change(n)
				}
			})
			known := facts.Facts{OS: facts.OS{ID: c.os}, NodeIPs: []string{"10.0.0.5"}, Resolved: c.resolved}
			p, _ := New(config, known)
			if got := resolvConf(t, p, config); got != c.want {
				t.Errorf("resolvConf is %v, want %v", got, c.want)
			}
		})
	}
}

// The agent waits for the servers in the file that the kubelet reads.
func TestNetworkWaitsForKubeletsResolver(t *testing.T) {
	config := contract(t, "native/minimal.yaml", func(n *nodeconfig.NodeConfig) { n.Kubelet.NodeIPs = []string{"10.0.0.5"} })
	for resolved, want := range map[bool]string{true: concern.ResolvedList, false: "/etc/resolv.conf"} {
		p, _ := New(config, facts.Facts{OS: facts.OS{ID: "ubuntu"}, Resolved: &resolved})
		check, _ := resourceAt(p, "Check:kubelet-network").Spec.(*resource.Check)
		if check == nil || check.Network.Resolver != want {
			t.Errorf("active %v: %+v, want %s", resolved, check, want)
		}
	}
}

// A node without an agent looks at no machine before it is rendered: which file it names there, and that the distribution
// decided it, is a warning. With an agent the machine's own facts decide.
func TestAssumedResolverIsWarnedOf(t *testing.T) {
	config := contract(t, "native/minimal.yaml")
	for _, c := range []struct {
		os       string
		resolved *bool
		warns    bool
	}{{"ubuntu", nil, true}, {"debian", nil, true}, {"", nil, true}, {"ubuntu", new(true), false}, {"ubuntu", new(false), false}} {
		known := facts.Facts{OS: facts.OS{ID: c.os}, Resolved: c.resolved}
		for way, plan := range map[string]func(*nodeconfig.NodeConfig, facts.Facts) (resource.Plan, []nodeconfig.Problem){"agent": New, "no agent": WithoutAgent} {
			_, problems := plan(config, known)
			var found []string
			for _, p := range problems {
				if p.Path == "$.kubelet.config.resolvConf" && !p.Fatal && p.Kind == nodeconfig.Missing {
					found = append(found, p.Reason)
				}
			}
			if want := c.warns && way == "no agent"; (len(found) == 1) != want || len(found) > 1 {
				t.Errorf("%s: %q with the fact %s: %q", way, c.os, fmt.Sprint(c.resolved != nil), found)
			}
		}
	}
}

// withoutResolved has the node look names up without systemd-resolved.
func withoutResolved(c *nodeconfig.NodeConfig, with bool) {
	if c.Kubelet.NodeIPs = []string{"10.0.0.9"}; with {
		c.Units = []nodeconfig.Unit{{Name: facts.ResolvedUnit, State: nodeconfig.UnitDisabled}}
	}
}

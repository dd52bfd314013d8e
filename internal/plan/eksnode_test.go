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

// runc is where the image has it, and on images for EKS that is in /usr/sbin.
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

package plan

import (
	"reflect"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// What a kubelet waits for of the network, and that nothing else does.
func TestKubeletNetwork(t *testing.T) {
	addressed := func(c *nodeconfig.NodeConfig) { c.Kubelet.NodeIPs = []string{"10.0.0.4", "fd00::4"} }
	named := func(c *nodeconfig.NodeConfig) { c.Kubelet.NodeName = "node-1" }
	byIP := func(c *nodeconfig.NodeConfig) { c.Cluster.Server = "https://[fd00::1]:6443" }
	cloud := func(f *facts.Facts) { f.Instance = &facts.Instance{Hostname: "node-1"} }
	cloudInit := func(f *facts.Facts) { f.CloudInit = true }
	for name, c := range map[string]struct {
		contract []func(*nodeconfig.NodeConfig)
		machine  []func(*facts.Facts)
		want     *resource.Network
	}{
		"named after the host":                       {want: &resource.Network{HostName: true}},
		"named by the contract":                      {contract: []func(*nodeconfig.NodeConfig){named}},
		"named by its cloud":                         {machine: []func(*facts.Facts){cloud}},
		"named by cloud-init":                        {machine: []func(*facts.Facts){cloud, cloudInit}, want: &resource.Network{HostName: true, After: "network-online.target"}},
		"named by the contract, and cloud-init runs": {contract: []func(*nodeconfig.NodeConfig){named}, machine: []func(*facts.Facts){cloudInit}},
		"with addresses": {contract: []func(*nodeconfig.NodeConfig){named, addressed},
			want: &resource.Network{Addresses: []string{"10.0.0.4", "fd00::4"}, Resolver: "/etc/resolv.conf"}},
		"with addresses, and a server that has one": {contract: []func(*nodeconfig.NodeConfig){named, addressed, byIP},
			want: &resource.Network{Addresses: []string{"10.0.0.4", "fd00::4"}}},
		"with a resolver of the kubelet's own": {contract: []func(*nodeconfig.NodeConfig){named, addressed, func(c *nodeconfig.NodeConfig) {
			c.Kubelet.Config = map[string]any{"resolvConf": "/run/resolv.conf"}
		}}, want: &resource.Network{Addresses: []string{"10.0.0.4", "fd00::4"}, Resolver: "/run/resolv.conf"}},
		"the last flag counts": {contract: []func(*nodeconfig.NodeConfig){named, byIP, addressed, func(c *nodeconfig.NodeConfig) {
			c.Kubelet.Flags = []nodeconfig.Flag{{Name: "node-ip", Value: "::"}}
		}}, want: &resource.Network{Addresses: []string{"::"}}},
		"what is no address": {contract: []func(*nodeconfig.NodeConfig){named, func(c *nodeconfig.NodeConfig) {
			c.Kubelet.Flags = []nodeconfig.Flag{{Name: "node-ip", Value: "here"}}
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			config, known := contract(t, "native/minimal.yaml"), facts.Facts{}
			for _, edit := range c.contract {
				edit(config)
			}
			for _, edit := range c.machine {
				edit(&known)
			}
			p, _ := New(config, known)
			var got *resource.Network
			if r, ok := p.ByID()["Check:kubelet-network"]; ok {
				got = r.Spec.(*resource.Check).Network
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

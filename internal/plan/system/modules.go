package system

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
)

// modules loads the modules of the kernel that a node needs, now and at each boot, and denies those that are dangerous.
var modules = concern.Concern{
	Name:  "modules",
	Reads: []string{"$.cluster.serviceCIDRs", "$.network.ipFamilies", "$.system.modules"},
	Plan:  planModules,
}

// modules that every node needs: overlay for containerd's snapshots, br_netfilter so that bridged
// pods are filtered, nf_conntrack so that its parameters exist (AKS: base preparation; Kubernetes:
// container runtimes, prerequisites).
var baseModules = []string{"br_netfilter", "nf_conntrack", "overlay"}

// ipv6Modules are additional modules for a node with IPv6 addresses (AKS: ensureDHCPv6; Kubernetes: kube-proxy, iptables).
var ipv6Modules = []string{"ip6_tables"}

// modulesFile is read at each boot (modules-load.d(5)).
const modulesFile = "/etc/modules-load.d/slipway.conf"

func planModules(in *concern.Input, out *concern.Output) {
	modules := slices.Concat(baseModules, in.Config.System.Modules)
	if in.Family.Kubelet.NodeIP && slices.Contains(in.Config.Network.IPFamilies, "IPv6") {
		modules = append(modules, ipv6Modules...)
	}
	slices.Sort(modules)
	modules = slices.Compact(modules)
	modules = slices.DeleteFunc(modules, func(module string) bool { return slices.Contains(denied(in), module) })
	out.File(resource.Base, modulesFile, 0o644, []byte(strings.Join(modules, "\n")+"\n"),
		"loads the modules at boot")
	for _, module := range modules {
		out.AppendTo(concern.KernelGroup, resource.Resource{
			Phase:    resource.Base,
			ExitCode: exitcode.ModuleLoadFailed,
			Reason:   "loads the module now",
			Spec:     &resource.Module{Module: module},
		})
		out.RepeatedBy(&resource.File{Path: modulesFile})
	}
	planDeniedModules(in, out)
}

package system

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/plan/textfile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// sysctls sets the parameters of the kernel that a node needs, and the contract's, now and at each boot.
var sysctls = concern.Concern{
	Name:  "kernel parameters",
	Reads: []string{setting.InstanceType, "$.system.sysctls"},
	Plan:  planSysctls,
}

// forwardingSysctls make the kernel route and filter pods' packets (AKS:
// 99-force-bridge-forward.conf; Kubernetes: container runtimes, prerequisites).
var forwardingSysctls = map[string]string{
	"net.bridge.bridge-nf-call-iptables": "1",
	"net.ipv4.conf.all.forwarding":       "1",
	"net.ipv4.ip_forward":                "1",
	"net.ipv6.conf.all.forwarding":       "1",
}

// kernelDefaults are the kernel parameters that a kubelet requires if it must not change the kernel: it exits if one differs
// (Kubernetes: KubeletConfiguration, protectKernelDefaults; pkg/util/sysctl).
var kernelDefaults = map[string]string{
	"kernel.keys.root_maxbytes": "25000000",
	"kernel.keys.root_maxkeys":  "1000000",
	"kernel.panic":              "10",
	"kernel.panic_on_oops":      "1",
	"vm.overcommit_memory":      "1",
	"vm.panic_on_oom":           "0",
}

// protectsKernel reports whether a kubelet must not change the kernel's parameters. By default it does.
func protectsKernel(in *concern.Input) bool {
	const field = "protectKernelDefaults"
	return kubeletsetting.Switch(in.Config.Kubelet, "protect-kernel-defaults", field, in.FamilySets(field) == true)
}

// ownSysctls are the contract's parameters, with those that the kubelet only looks at. A contract that has another value for one of
// these is an error: its node would never be Ready.
func ownSysctls(in *concern.Input, out *concern.Output) map[string]string {
	own := maps.Clone(in.Config.System.Sysctls)
	if own == nil {
		own = make(map[string]string)
	}
	if own[hugePagesKey] == "" && in.Joins() && in.Transcodes() {
		own[hugePagesKey] = transcoderPages
	}
	if !in.Joins() || !protectsKernel(in) {
		return own
	}
	for _, key := range slices.Sorted(maps.Keys(kernelDefaults)) {
		want := kernelDefaults[key]
		if have, said := own[key]; said && strings.TrimSpace(have) != want {
			out.Fatal(nodeconfig.Invalid, document.FieldPath("$.system.sysctls", key),
				"the kubelet does not start unless this is %s; leave it out, or set kubelet.config.protectKernelDefaults to false", want)
		}
		own[key] = want
	}
	return own
}

// hugePagesKey is the number of pages that are large from the beginning.
const hugePagesKey = "vm.nr_hugepages"

// optionalSysctls may be missing from a kernel: one without IPv6 has none of its parameters.
const optionalSysctls = "net.ipv6."

// sysctlModules are the modules that bring a group of parameters.
var sysctlModules = []struct{ prefix, module string }{
	{"net.bridge.", "br_netfilter"},
	{"net.netfilter.nf_conntrack", "nf_conntrack"},
}

func planSysctls(in *concern.Input, out *concern.Output) {
	out.File(resource.Base, in.Family.Paths.Forwarding, 0o644, textfile.Assignments(forwardingSysctls, " = "),
		"pods' packets are routed and filtered, after every boot")
	wanted := maps.Clone(forwardingSysctls)
	own := ownSysctls(in, out)
	if len(own) > 0 {
		out.File(resource.Base, in.Family.Paths.Sysctls, 0o644, textfile.Assignments(own, "="),
			"the contract's kernel parameters, and those that its kubelet wants to find, after every boot")
		maps.Copy(wanted, own)
	}
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		if strings.Contains(key, "*") { // sysctl.d(5) has patterns, the kernel has not
			out.Warn(nodeconfig.NotApplied, document.FieldPath("$.system.sysctls", key), "is a pattern: it is applied at the next boot, and not now")
			continue
		}
		var requires []resource.ID
		for _, m := range sysctlModules {
			if strings.HasPrefix(key, m.prefix) {
				requires = append(requires, resource.IDOf(&resource.Module{Module: m.module}))
			}
		}
		out.AppendTo(concern.KernelGroup, resource.Resource{
			Phase:    resource.Base,
			Requires: requires,
			ExitCode: exitcode.SysctlFailed,
			Spec:     &resource.Sysctl{Key: key, Value: wanted[key], Optional: strings.HasPrefix(key, optionalSysctls)},
		})
		file := in.Family.Paths.Forwarding // which repeats the parameter at each boot (sysctl.d(5))
		if _, isOwn := own[key]; isOwn {
			file = in.Family.Paths.Sysctls
		}
		out.RepeatedBy(&resource.File{Path: file})
	}
}

// transcoderPages is how many huge pages AMD's accelerator for video needs (AKS: setupAmdAma).
const transcoderPages = "4096"

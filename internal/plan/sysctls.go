package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// sysctls sets the parameters of the kernel that a node needs, and the contract's, now and at each boot.
var sysctls = concern{
	name:  "kernel parameters",
	reads: []string{"$.system.sysctls"},
	plan:  planSysctls,
}

// forwardingSysctls make the kernel route and filter pods' packets (AKS:
// 99-force-bridge-forward.conf; Kubernetes: container runtimes, prerequisites).
var forwardingSysctls = map[string]string{
	"net.bridge.bridge-nf-call-iptables": "1",
	"net.ipv4.conf.all.forwarding":       "1",
	"net.ipv4.ip_forward":                "1",
	"net.ipv6.conf.all.forwarding":       "1",
}

// optionalSysctls may be missing from a kernel: one without IPv6 has none of its parameters.
const optionalSysctls = "net.ipv6."

// sysctlModules are the modules that bring a group of parameters.
var sysctlModules = []struct{ prefix, module string }{
	{"net.bridge.", "br_netfilter"},
	{"net.netfilter.nf_conntrack", "nf_conntrack"},
}

// sysctlFile is the one that repeats a parameter at each boot (sysctl.d(5)).
func sysctlFile(in *input, key string) string {
	if _, ok := in.config.System.Sysctls[key]; ok {
		return in.family.Paths.Sysctls
	}
	return in.family.Paths.Forwarding
}

func planSysctls(in *input, out *output) {
	out.file(resource.Base, in.family.Paths.Forwarding, 0o644, assignments(forwardingSysctls, " = "),
		"pods' packets are routed and filtered, after every boot")
	wanted := maps.Clone(forwardingSysctls)
	if user := in.config.System.Sysctls; len(user) > 0 {
		out.file(resource.Base, in.family.Paths.Sysctls, 0o644, assignments(user, "="), "the contract's kernel parameters, after every boot")
		maps.Copy(wanted, user)
	}
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		if strings.Contains(key, "*") { // sysctl.d(5) has patterns, the kernel has not
			out.warn(nodeconfig.NotApplied, document.FieldPath("$.system.sysctls", key), "is a pattern: it is applied at the next boot, and not now")
			continue
		}
		var requires []resource.ID
		for _, m := range sysctlModules {
			if strings.HasPrefix(key, m.prefix) {
				requires = append(requires, resource.IDOf(&resource.Module{Module: m.module}))
			}
		}
		out.addTo(kernelGroup, resource.Resource{
			Phase:    resource.Base,
			Requires: requires,
			ExitCode: exitcode.SysctlFailed,
			Spec:     &resource.Sysctl{Key: key, Value: wanted[key], Optional: strings.HasPrefix(key, optionalSysctls)},
		})
		out.repeatedBy(&resource.File{Path: sysctlFile(in, key)})
	}
}

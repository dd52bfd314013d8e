package plan

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// image checks that the image was built to be a node, where the contract requires one.
func (p *planner) image() {
	if preinstalled := p.config.Components.Preinstalled; preinstalled == nil || !*preinstalled || p.layout.installed == "" {
		return
	}
	p.add(resource.Resource{
		Phase:    resource.Base,
		ExitCode: exitcode.ImageNotBuilt,
		Reason:   "the contract asks for an image that was built to be a node (AKS: is_vhd)",
		Spec:     &resource.Check{Label: "image-built", PathExists: p.layout.installed},
	})
}

// modules that every node needs: overlay for containerd's snapshots, br_netfilter so that bridged
// pods are filtered, nf_conntrack so that its parameters exist (AKS: base preparation; Kubernetes:
// container runtimes, prerequisites).
var baseModules = []string{"br_netfilter", "nf_conntrack", "overlay"}

func (p *planner) modules() {
	modules := slices.Concat(baseModules, p.config.System.Modules)
	slices.Sort(modules)
	modules = slices.Compact(modules)
	p.file(resource.Base, "/etc/modules-load.d/slipway.conf", 0o644, []byte(strings.Join(modules, "\n")+"\n"),
		"loads the modules at boot")
	for _, module := range modules {
		p.add(resource.Resource{
			Phase:    resource.Base,
			ExitCode: exitcode.ModuleLoadFailed,
			Reason:   "loads the module now",
			Spec:     &resource.Module{Module: module},
		})
	}
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

func (p *planner) sysctls() {
	p.file(resource.Base, p.layout.forwarding, 0o644, assignments(forwardingSysctls, " = "),
		"pods' packets are routed and filtered, after every boot")
	wanted := maps.Clone(forwardingSysctls)
	if user := p.config.System.Sysctls; len(user) > 0 {
		p.file(resource.Base, p.layout.sysctls, 0o644, assignments(user, "="), "the contract's kernel parameters, after every boot")
		maps.Copy(wanted, user)
	}
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		if strings.Contains(key, "*") { // sysctl.d(5) has patterns, the kernel has not
			p.warn(nodeconfig.NotApplied, document.FieldPath("$.system.sysctls", key), "is a pattern: it is applied at the next boot, and not now")
			continue
		}
		var requires []resource.ID
		for _, m := range sysctlModules {
			if strings.HasPrefix(key, m.prefix) {
				requires = append(requires, resource.IDOf(&resource.Module{Module: m.module}))
			}
		}
		p.add(resource.Resource{
			Phase:    resource.Base,
			Requires: requires,
			ExitCode: exitcode.SysctlFailed,
			Spec:     &resource.Sysctl{Key: key, Value: wanted[key], Optional: strings.HasPrefix(key, optionalSysctls)},
		})
	}
}

// assignments writes a line for each value, by name: a file of sysctl.d(5), or of variables.
func assignments(values map[string]string, separator string) []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(&b, "%s%s%s\n", name, separator, values[name])
	}
	return b.Bytes()
}

// resolver takes systemd-resolved's stub out of the way: pods cannot reach a stub on the host's
// loopback (AKS: base preparation).
func (p *planner) resolver() {
	if slices.Contains(p.layout.resolverLink, p.facts.OS.ID) {
		p.add(resource.Resource{
			Phase:  resource.Base,
			Reason: "pods cannot use the resolver on the host's loopback address (AKS: resolv.conf)",
			Spec:   &resource.Symlink{Path: "/etc/resolv.conf", Target: "/run/systemd/resolve/resolv.conf"},
		})
	}
}

// features writes the switches that the image's own programs read (AKS: enabled_features).
func (p *planner) features() {
	if features := p.config.Components.Features; len(features) > 0 {
		p.file(resource.Join, p.layout.features, 0o600, assignments(features, "="), "feature switches for the image's own programs (AKS: enabled_features)")
	}
}

// trust writes the cluster's certificates.
func (p *planner) trust() {
	c := p.config.Cluster
	p.file(resource.Join, p.layout.ca, p.layout.caMode, []byte(c.CertificateAuthority),
		"verifies the API server and the kubelet's clients", kubeletUnit)
	if c.ServerCertificate != "" {
		p.file(resource.Join, p.layout.serverCert, 0o644, []byte(c.ServerCertificate), "the API server's own certificate")
	}
}

// apiServer checks, before the kubelet starts, that the API server can be reached the way the
// kubelet will reach it: a failure here has a name, one in the kubelet's log has to be searched for.
func (p *planner) apiServer() {
	c := p.config
	check := &resource.Check{
		Label:   "api-server",
		Timeout: c.Checks.APIServerTimeout,
		ExitCodes: map[resource.Cause]int{
			resource.CauseDNS: exitcode.APIServerNameUnresolved,
		},
		APIServer: &resource.APIServer{
			Server:               c.Cluster.Server,
			CertificateAuthority: c.Cluster.CertificateAuthority,
		},
	}
	if c.Join.Method == nodeconfig.JoinBootstrapToken {
		check.APIServer.Token = c.Join.BootstrapToken
		// A node that has joined has a certificate of its own; the token may have expired since, and an
		// API server that is away is the kubelet's to wait for.
		check.Unless = p.certificate
	}
	p.add(resource.Resource{
		Phase:    resource.Join,
		ExitCode: exitcode.APIServerUnreachable,
		Reason:   "the API server answers at its name, with trusted TLS, and accepts the node's credential",
		Spec:     check,
	})
}

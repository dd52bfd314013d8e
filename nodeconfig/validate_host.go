package nodeconfig

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/place"
)

var (
	// imageReference is a container image's name; its parts are the registry's to judge.
	imageReference = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9._/:@-]*[a-zA-Z0-9])?$`)
	// sysctlKey is a kernel parameter by its dotted name; an interface's name may hold slashes.
	sysctlKey = regexp.MustCompile(`^[a-z0-9_]+(\.[A-Za-z0-9_/*-]+)+$`)
	// moduleName is a kernel module.
	moduleName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	// limitValue is a resource limit as systemd reads it: "1048576", "65536:1048576", "infinity".
	limitValue = regexp.MustCompile(`^([0-9]+[KMGTPE]?|infinity)(:([0-9]+[KMGTPE]?|infinity))?$`)
	// limitNames are systemd's resource limits (systemd.exec, "Process Properties").
	limitNames = []string{
		"AS", "CORE", "CPU", "DATA", "FSIZE", "LOCKS", "MEMLOCK", "MSGQUEUE", "NICE", "NOFILE",
		"NPROC", "RSS", "RTPRIO", "RTTIME", "SIGPENDING", "STACK",
	}
)

func (v *validator) runtime(r *Runtime) {
	if !imageReference.MatchString(r.SandboxImage) {
		v.unusable("$.runtime.sandboxImage", "is no image reference", func() { r.SandboxImage = DefaultSandboxImage })
	}
	v.oneOf("$.runtime.cgroupDriver", &r.CgroupDriver, "systemd", "cgroupfs")
	v.oneOf("$.runtime.lazyPull", &r.LazyPull, "overlaybd", "soci")
	const at = "$.runtime.containerd"
	c := &r.Containerd
	if c.DataDir != "" {
		if reason := cmp.Or(checkAbsolute(c.DataDir), place.DataDirectory.Check(c.DataDir)); reason != "" {
			v.unusable(at+".dataDir", reason, func() { c.DataDir = "" })
		}
	}
	if c.MetricsAddress != "" {
		if _, _, err := net.SplitHostPort(c.MetricsAddress); err != nil || !printable.MatchString(c.MetricsAddress) {
			v.unusable(at+".metricsAddress", "want HOST:PORT", func() { c.MetricsAddress = "" })
		}
	}
	checkMap(v, at+".limits", c.Limits, func(name, value string) string {
		if !slices.Contains(limitNames, name) {
			return "is no resource limit; want one of " + strings.Join(limitNames, ", ")
		}
		if !limitValue.MatchString(value) {
			return `want a number, "soft:hard" or "infinity"`
		}
		return ""
	})
	checkMap(v, at+".registryHeaders", c.RegistryHeaders, func(name, value string) string {
		if !printable.MatchString(name) {
			return "is no header name"
		}
		return singleLine(value)
	})
}

func (v *validator) network(n *Network) {
	v.oneOf("$.network.plugin", &n.Plugin, "none", "azure", "kubenet")
	v.oneOf("$.network.policy", &n.Policy, "none", "azure", "calico")
	checkList(v, "$.network.ipFamilies", &n.IPFamilies, func(family string) string {
		if family != "IPv4" && family != "IPv6" {
			return "want IPv4 or IPv6"
		}
		return ""
	})
	checkList(v, "$.network.nameservers", &n.Nameservers, checkIP)
	checkList(v, "$.network.searchDomains", &n.SearchDomains, func(domain string) string {
		if !dnsName.MatchString(domain) {
			return "is no DNS name"
		}
		return ""
	})
}

func (v *validator) system(s *System) {
	checkMap(v, "$.system.sysctls", s.Sysctls, func(key, value string) string {
		switch {
		case !sysctlKey.MatchString(key) || strings.Contains(key, "..") || strings.Contains(key, "//"):
			return "is no kernel parameter; want its dotted name, such as net.core.somaxconn"
		case value == "" || singleLine(value) != "":
			return "want a value on one line"
		}
		return ""
	})
	checkList(v, "$.system.modules", &s.Modules, func(module string) string {
		if !moduleName.MatchString(module) {
			return "is no module name"
		}
		return ""
	})
	for _, service := range slices.Sorted(maps.Keys(s.Environment)) {
		checkMap(v, document.FieldPath("$.system.environment", service), s.Environment[service], func(name, value string) string {
			if !envName.MatchString(name) {
				return "is no variable name"
			}
			return singleLine(value)
		})
	}
}

// surroundings validates what is around the node: trust, proxy, cloud, components.
func (v *validator) surroundings(c *NodeConfig) {
	checkList(v, "$.trust.certificates", &c.Trust.Certificates, func(certificate string) string {
		if err := checkCertificates(certificate); err != nil {
			return err.Error()
		}
		return ""
	})
	for _, proxy := range []struct {
		path  string
		value *Secret
	}{{"$.proxy.http", &c.Proxy.HTTP}, {"$.proxy.https", &c.Proxy.HTTPS}} {
		u, err := url.Parse(proxy.value.Reveal())
		if !proxy.value.IsZero() && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
			v.unusable(proxy.path, "is no URL of the form http://HOST:PORT", func() { *proxy.value = Secret{} })
		}
	}
	checkList(v, "$.proxy.noProxy", &c.Proxy.NoProxy, singleLine)
	if c.Proxy.CertificateAuthority != "" {
		if err := checkCertificates(c.Proxy.CertificateAuthority); err != nil {
			v.unusable("$.proxy.certificateAuthority", err.Error(), func() { c.Proxy.CertificateAuthority = "" })
		}
	}
	v.oneOf("$.cloud.provider", &c.Cloud.Provider, "azure", "aws")
	if a := c.Cloud.Azure; a != nil {
		v.oneOf("$.cloud.azure.vmType", &a.VMType, "standard", "vmss")
		v.oneOf("$.cloud.azure.loadBalancer.sku", &a.LoadBalancer.SKU, "basic", "standard")
		v.oneOf("$.cloud.azure.backoff.mode", &a.Backoff.Mode, "default", "v2")
	}
	if layouts := []string{LayoutStandard, LayoutAKS}; !slices.Contains(layouts, c.Components.Layout) {
		v.fatal("$.components.layout", fmt.Sprintf("want one of %s", strings.Join(layouts, ", ")))
	}
	checkMap(v, "$.components.features", c.Components.Features, func(name, value string) string {
		if !envName.MatchString(name) {
			return "is no variable name"
		}
		return singleLine(value)
	})
}

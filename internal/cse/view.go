package cse

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/akstext"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/dnscache"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/versions"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// view is the input of the variables.
type view struct {
	// written is the contract's config, without defaults in AKS's dialect: an unset field there gives an empty variable.
	written *nodeconfig.NodeConfig
	// azure and gpu are sections of the config with their defaults; a missing section is empty.
	azure nodeconfig.Azure
	gpu   nodeconfig.GPU
	dns   nodeconfig.LocalDNS
	facts facts.Facts
}

func newView(c *compile.Contract, f facts.Facts) *view {
	complete := c.Written()
	if complete.Cloud.Azure == nil {
		complete.Cloud.Azure = new(nodeconfig.Azure)
	}
	nodeconfig.Default(complete)
	v := &view{written: complete, azure: *complete.Cloud.Azure, facts: f}
	if c.Dialect == dialect.AKS {
		v.written = c.Written()
	}
	v.gpu, v.dns = deref(v.written.System.GPU), deref(v.written.Network.LocalDNS)
	return v
}

// deref returns a pointer's value, or the zero value.
func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// custom is the contract's custom cloud, or the zero value.
func (v *view) custom() nodeconfig.AzureCustomCloud { return deref(v.azure.Custom) }

func (v *view) isCustom() bool { return v.azure.Custom != nil }

// kubernetes is the URL of the kubelet's package, unless the scripts have another variable with a URL for it.
func (v *view) kubernetes() string {
	for _, other := range []string{"CUSTOM_KUBE_BINARY_URL", "PRIVATE_KUBE_BINARY_URL"} {
		if _, ok := v.written.Components.ScriptVariables[other]; ok {
			return ""
		}
	}
	return v.artifact("kubernetes")
}

// artifact is the URL of a component.
func (v *view) artifact(name string) string { return v.written.Components.Artifacts[name].URL }

// apiServer is the API server's name.
func (v *view) apiServer() string {
	server := v.written.Cluster.Server
	if name, ok := strings.CutPrefix(server, "https://"); ok && strings.HasSuffix(name, ":443") {
		return strings.TrimSuffix(name, ":443")
	}
	if u, err := url.Parse(server); err == nil {
		return u.Hostname()
	}
	return ""
}

// kubeletFlags are the kubelet's flags.
func (v *view) kubeletFlags() string {
	return akstext.Flags(akstext.FlagsOf(&v.written.Kubelet), v.written.Cluster.KubernetesVersion)
}

// inQuotes escapes a value between a shell's double quotes, where four characters have a meaning (POSIX.1-2017, Shell Command
// Language, 2.2.3).
var inQuotes = strings.NewReplacer("\\", "\\\\", "\"", "\\\"", "$", "\\$", "`", "\\`")

// proxyVariables is shell text that the scripts evaluate. Each part except the last has a blank behind it.
func (v *view) proxyVariables() string {
	p := v.written.Proxy
	var text strings.Builder
	if len(p.NoProxy) > 0 {
		fmt.Fprintf(&text, "export NO_PROXY=\"%s\"; ", inQuotes.Replace(strings.Join(p.NoProxy, ",")))
	}
	if https := p.HTTPS.Reveal(); https != "" {
		fmt.Fprintf(&text, "export HTTPS_PROXY=\"%s\"; ", inQuotes.Replace(https))
	}
	if http := p.HTTP.Reveal(); http != "" {
		fmt.Fprintf(&text, "export http_proxy=\"%s\";", inQuotes.Replace(http))
	}
	return text.String()
}

// limits are lines of a unit file; the scripts replace blanks by line breaks.
func (v *view) limits() string {
	limits := v.written.Runtime.Containerd.Limits
	if limits == nil {
		return ""
	}
	text := "[Service] "
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		text += "Limit" + name + "=" + limits[name] + " "
	}
	return text
}

// sysctls are the kernel's parameters, one a line.
func (v *view) sysctls() string {
	if len(v.written.System.Sysctls) == 0 {
		return ""
	}
	return akstext.Pairs(v.written.System.Sysctls, "\n") + "\n"
}

// minorReached reports whether the node's Kubernetes is 1.minor or later.
func (v *view) minorReached(minor int) bool {
	return versions.AtLeast(v.written.Cluster.KubernetesVersion, minor)
}

// dualStack reports whether the node has addresses of both families.
func (v *view) dualStack() string { return strconv.FormatBool(len(v.written.Network.IPFamilies) > 1) }

func (v *view) hugePages(file string) string { return v.written.System.TransparentHugePages[file] }

// environment is the cloud's name for Azure's SDK.
func (v *view) environment() string {
	if v.isCustom() {
		return "akscustom"
	}
	return v.azure.Environment
}

// environmentFile is where the SDK finds a custom cloud's endpoints.
func (v *view) environmentFile() string {
	if v.isCustom() {
		return profile.Named(nodeconfig.LayoutAKS).Paths.CustomCloud
	}
	return ""
}

// servingRotation reports whether the kubelet requests its serving certificate from the cluster.
func (v *view) servingRotation() string {
	return strconv.FormatBool(v.written.Kubelet.Config["serverTLSBootstrap"] == true)
}

// kubeletConfig is the kubelet's configuration file.
func (v *view) kubeletConfig() string {
	config, _ := nodeconfig.Revealed(v.written.Kubelet.Config)
	return encoded(akstext.KubeletConfig(config, v.written.Cluster.KubernetesVersion))
}

// dnsCPU is the DNS cache's share of a processor, in systemd's format.
func (v *view) dnsCPU() string {
	cpu, _ := dnscache.Limits(&v.dns)
	return cpu
}

func (v *view) dnsMemory() string {
	_, memory := dnscache.Limits(&v.dns)
	return memory
}

func (v *view) dnsNames() string {
	var names []string
	for _, name := range deref(v.dns.Hosts).Names {
		names = append(names, strings.TrimSpace(name))
	}
	return strings.Join(names, ",")
}

// dnsRefresh is the interval for resolving critical names. If the contract has none, it is the image's own.
func (v *view) dnsRefresh() string {
	if seconds := deref(deref(v.dns.Hosts).RefreshSeconds); seconds > 0 {
		return strconv.Itoa(int(seconds))
	}
	return ""
}

// timeout is the limit of the whole provisioning, in seconds.
func (v *view) timeout() string {
	limit := cmp.Or(v.written.Checks.Timeout, nodeconfig.DefaultTimeout)
	return strconv.Itoa(int(limit.Std() / time.Second))
}

// encodedPEM is a certificate or key in the form that the scripts decode: plain PEM is encoded in base64.
func encodedPEM(s string) string {
	if strings.Contains(s, "-----BEGIN") {
		return encoded(s)
	}
	return s
}

// encoded encodes a text in base64. An empty text stays empty.
func encoded(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// oneLine is a text without its line breaks.
func oneLine(s string) string { return strings.NewReplacer("\r", "", "\n", "").Replace(s) }

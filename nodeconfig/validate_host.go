package nodeconfig

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/signature"
)

var (
	// limitNames are systemd's resource limits (systemd.exec, "Process Properties").
	limitNames = []string{
		"AS", "CORE", "CPU", "DATA", "FSIZE", "LOCKS", "MEMLOCK", "MSGQUEUE", "NICE", "NOFILE",
		"NPROC", "RSS", "RTPRIO", "RTTIME", "SIGPENDING", "STACK",
	}
)

func (v *validator) runtime(r *Runtime) {
	if !isImageReference(r.SandboxImage) {
		v.invalid("$.runtime.sandboxImage", "is not an image reference", func() { r.SandboxImage = DefaultSandboxImage })
	}
	checkList(v, "$.runtime.sandboxes", &r.Sandboxes, func(name string) string {
		return unless(name == "kata", "is no runtime for isolated pods; use kata")
	})
	for host, registry := range r.Registries {
		v.registry(host, registry)
	}
	const at = "$.runtime.containerd"
	c := &r.Containerd
	if c.DataDir != "" {
		if reason := cmp.Or(checkAbsolute(c.DataDir), place.DataDirectory.Check(c.DataDir)); reason != "" {
			v.vital(at+".dataDir", reason)
		}
	}
	if c.MetricsAddress != "" {
		if _, port, err := net.SplitHostPort(c.MetricsAddress); err != nil || !isPrintable(c.MetricsAddress) || !isPort(port) {
			v.vital(at+".metricsAddress", "must be HOST:PORT, with a port from 0 to 65535")
		}
	}
	checkMap(v, at+".limits", c.Limits, func(name, value string) string {
		if !slices.Contains(limitNames, name) {
			return "is not a resource limit; use one of " + strings.Join(limitNames, ", ")
		}
		if !isLimitValue(value) {
			return `must be a number, "soft:hard" or "infinity"`
		}
		return ""
	})
	checkMap(v, at+".registryHeaders", c.RegistryHeaders, func(name string, value Secret) string {
		if !isPrintable(name) {
			return "is not a header name"
		}
		return singleLine(value.Reveal())
	})
	v.runtimeSpec(c.BaseRuntimeSpec)
}

func (v *validator) network(n *Network) {
	if n.LocalDNS != nil {
		v.localDNS(n.LocalDNS)
	}
	seen := make(map[string]bool)
	checkList(v, "$.network.ipFamilies", &n.IPFamilies, func(family string) string {
		switch {
		case family != "IPv4" && family != "IPv6":
			return "must be IPv4 or IPv6"
		case seen[family]:
			return "is in the list twice"
		}
		seen[family] = true
		return ""
	})
	v.atLeastZero("$.network.secondaryInterfaces", &n.SecondaryInterfaces)
	checkList(v, "$.network.nameservers", &n.Nameservers, checkIP)
	checkList(v, "$.network.searchDomains", &n.SearchDomains, func(domain string) string {
		if !isDNSName(domain) {
			return "is not a DNS name"
		}
		return ""
	})
}

func (v *validator) access(a *Access) {
	if a.AdminUser != "" && !isUserName(a.AdminUser) {
		v.invalid("$.access.adminUser", "is not the name of a local user", func() { a.AdminUser = "" })
	}
	r := a.Realm
	if r == nil {
		return
	}
	for path, reason := range map[string]string{
		"$.access.realm.domain":   unless(isDNSName(r.Domain), "is not a DNS name"),
		"$.access.realm.user":     unless(isPrintable(r.User), "is not the name of a user of the domain"),
		"$.access.realm.password": cmp.Or(unless(!r.Password.IsZero(), "is missing"), singleLine(r.Password.Reveal())),
	} {
		if reason != "" {
			v.invalid(path, reason, func() { a.Realm = nil })
		}
	}
}

// unless returns a reason if a condition is false.
func unless(ok bool, reason string) string {
	if ok {
		return ""
	}
	return reason
}

// atLeastZero checks that a number is not negative.
func (v *validator) atLeastZero(path string, number *int32) {
	if *number < 0 {
		v.invalid(path, "is negative", func() { *number = 0 })
	}
}

// hugePages are the kernel's settings of transparent huge pages, with their values (Linux:
// Documentation/admin-guide/mm/transhuge.rst).
var hugePages = map[string][]string{
	"defrag":  {"always", "defer", "defer+madvise", "madvise", "never"},
	"enabled": {"always", "madvise", "never"},
}

func (v *validator) system(s *System) {
	v.atLeastZero("$.system.swapMB", &s.SwapMB)
	checkMap(v, "$.system.sysctls", s.Sysctls, func(key, value string) string {
		switch {
		case !isSysctlKey(key) || strings.Contains(key, "..") || strings.Contains(key, "//"):
			return "is not a kernel parameter; use its name with dots, such as net.core.somaxconn"
		case value == "" || singleLine(value) != "":
			return "must be on one line"
		}
		return ""
	})
	checkList(v, "$.system.modules", &s.Modules, func(module string) string {
		if !isModuleName(module) {
			return "is not the name of a kernel module"
		}
		return ""
	})
	checkMap(v, "$.system.transparentHugePages", s.TransparentHugePages, func(name, value string) string {
		values, known := hugePages[name]
		switch {
		case !known:
			return "is not a setting of transparent huge pages; use " + strings.Join(slices.Sorted(maps.Keys(hugePages)), " or ")
		case !slices.Contains(values, value):
			return document.WantWord(value, values)
		}
		return ""
	})
	for service, environment := range s.Environment {
		if !isServiceName(service) {
			v.invalid(document.FieldPath("$.system.environment", service), "is not the name of a service; leave .service out", func() { delete(s.Environment, service) })
			continue
		}
		checkMap(v, document.FieldPath("$.system.environment", service), environment, func(name string, value Secret) string {
			if !isEnvName(name) {
				return "is not the name of a variable"
			}
			return cmp.Or(singleLine(value.Reveal()), unless(len(name)+len(value.Reveal()) <= maxVariable, tooLong))
		})
	}
}

// maxVariable limits an environment variable, with its name, in bytes. The kernel starts no program with one of 128 KiB (execve(2),
// MAX_ARG_STRLEN), so a unit with it would not start.
const maxVariable = 127 << 10

const tooLong = "is too long for a variable of the environment, which has at most 127 KiB"

// surroundings validates the node's environment: trust, proxy, cloud, components.
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
		if proxy.value.IsZero() {
			continue
		}
		if u, err := url.Parse(proxy.value.Reveal()); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			v.invalid(proxy.path, "is not a URL of the form http://HOST:PORT", func() { *proxy.value = Secret{} })
		}
	}
	checkList(v, "$.proxy.noProxy", &c.Proxy.NoProxy, singleLine)
	// A kilobyte is reserved for the name, and for hosts that a node always reaches directly.
	if len(strings.Join(c.Proxy.NoProxy, ",")) > maxVariable-1<<10 {
		v.invalid("$.proxy.noProxy", tooLong, func() { c.Proxy.NoProxy = nil })
	}
	if c.Proxy.CertificateAuthority != "" {
		if err := checkCertificates(c.Proxy.CertificateAuthority); err != nil {
			v.invalid("$.proxy.certificateAuthority", err.Error(), func() { c.Proxy.CertificateAuthority = "" })
		}
	}
	if c.Cloud.Azure != nil {
		v.azure(c.Cloud.Azure)
	}
	v.components(&c.Components)
}

// azure validates the settings of Azure.
func (v *validator) azure(a *Azure) {
	custom := a.Custom
	if custom == nil {
		return
	}
	var endpoints map[string]any
	if custom.Endpoints != "" && json.Unmarshal([]byte(custom.Endpoints), &endpoints) != nil {
		v.vital("$.cloud.azure.custom.endpoints", "is not a JSON document; give the environment that Azure's SDK reads")
	}
	if custom.RepositoryEndpoint != "" && checkRegistryURL(custom.RepositoryEndpoint) != "" {
		v.invalid("$.cloud.azure.custom.repositoryEndpoint", "is not a URL of the form https://HOST[:PORT][/PATH] without a user",
			func() { custom.RepositoryEndpoint = "" })
	}
}

// components validates the image's expected content.
func (v *validator) components(c *Components) {
	for name, artifact := range c.Artifacts {
		at := document.FieldPath("$.components.artifacts", name)
		if artifact.SHA256 != "" && !isSHA256(artifact.SHA256) {
			v.invalid(at+".sha256", "is not a digest; use 64 hexadecimal digits", func() { artifact.SHA256 = "" })
		}
		if reason := checkArtifactURL(artifact.URL, artifact.SHA256); reason != "" {
			v.invalid(at+".url", reason, func() { artifact.URL = "" })
		}
		if reason := place.Check(artifact.File); artifact.File != "" && reason != "" {
			v.invalid(at+".file", reason, func() { artifact.File = "" })
		}
		c.Artifacts[name] = artifact
	}
	if c.Registry != "" && !isRepository(c.Registry) {
		v.vital("$.components.registry", "is not a registry; use HOST[:PORT][/PATH] in lower case, without a scheme")
	}
	if profile.Named(c.Layout) == nil {
		v.vital("$.components.layout", document.WantWord(c.Layout, profile.Names()))
	}
	if m := c.Manifest; m != nil {
		v.manifest(m)
	}
	if os := c.OS; os != nil {
		if os.ID == "" {
			v.missing("$.components.os.id", "is missing; give the ID of os-release, such as ubuntu")
		} else if !isReleaseWord(os.ID) {
			v.vital("$.components.os.id", "is not an ID of os-release, such as ubuntu")
		}
		if os.VersionID != "" && !isReleaseWord(os.VersionID) {
			v.vital("$.components.os.versionID", "is not a VERSION_ID of os-release, such as 24.04")
		}
	}
	checkMap(v, "$.components.features", c.Features, CheckFeature)
	checkMap(v, "$.components.scriptVariables", c.ScriptVariables, func(name string, _ Secret) string { return checkVariable(name) })
}

// maxSigners limits the keys that may sign an image's manifest.
const maxSigners = 16

// manifest validates which manifest an image must have.
func (v *validator) manifest(m *ManifestRequirement) {
	const at = "$.components.manifest"
	if m.SHA256 == "" && len(m.Signers) == 0 {
		v.missing(at, "is empty; give the sha256 of the image's manifest, or the signers whose signature it needs")
	}
	if m.SHA256 != "" && !isSHA256(m.SHA256) {
		v.vital(at+".sha256", "is not a digest; use 64 hexadecimal digits")
	}
	if len(m.Signers) > maxSigners {
		v.vital(at+".signers", fmt.Sprintf("has %d keys; the limit is %d", len(m.Signers), maxSigners))
	}
	for i, line := range m.Signers[:min(len(m.Signers), maxSigners)] {
		if _, err := signature.ParseSigners([]byte(line)); err != nil || singleLine(line) != "" {
			v.vital(document.IndexPath(at+".signers", i), `is not a line with a name and an Ed25519 key; use "NAME ssh-ed25519 AAAA...", as in ssh-keygen(1), ALLOWED SIGNERS`)
		}
	}
}

// isReleaseWord reports whether os-release can have a string as ID or VERSION_ID (os-release(5)).
func isReleaseWord(word string) bool {
	return len(word) <= 64 && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789._-") == ""
}

// checkArtifactURL returns why an artifact cannot be downloaded from a URL, or "". Content that comes by http may be from anyone,
// so it needs a digest.
func checkArtifactURL(place, digest string) string {
	if place == "" {
		return ""
	}
	u, err := url.Parse(place)
	switch {
	case !strings.Contains(place, "://") && isArtifact(place):
		return ""
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return "is neither a URL of the form https://HOST/PATH nor a reference to an artifact, HOST/PATH:TAG or HOST/PATH@sha256:DIGEST"
	case u.User != nil:
		return "has a user or a password, and it is shown like any other value; use a place that needs none"
	case u.Scheme == "http" && digest == "":
		return "is an http URL, and nothing says what comes from there: use https, or give sha256"
	}
	return ""
}

// isArtifact reports whether a string is a reference to an artifact of an OCI registry, HOST/PATH:TAG or HOST/PATH@sha256:DIGEST.
func isArtifact(reference string) bool {
	host, rest, ok := strings.Cut(reference, "/")
	if !ok || host == "" || !isImageReference(reference) {
		return false
	}
	if _, digest, byDigest := strings.Cut(rest, "@sha256:"); byDigest {
		return isSHA256(digest)
	}
	_, tag, tagged := strings.Cut(rest[strings.LastIndexByte(rest, '/')+1:], ":")
	return tagged && tag != ""
}

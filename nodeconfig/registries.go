package nodeconfig

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// AnyRegistry is the entry for registries without one (containerd docs/hosts.md, "Registry Host Namespace").
const AnyRegistry = "_default"

// hosts returns all servers of a registry.
func (r Registry) hosts() []*RegistryHost {
	var hosts []*RegistryHost
	for i := range r.Mirrors {
		hosts = append(hosts, &r.Mirrors[i])
	}
	if r.Server != nil {
		hosts = append(hosts, r.Server)
	}
	return hosts
}

// registry validates the settings for pulling images of a registry.
func (v *validator) registry(host string, r Registry) {
	at := document.FieldPath("$.runtime.registries", host)
	if host != AnyRegistry && !isRegistryName(host) {
		v.vital(at, `is not the host of a registry; use HOST or HOST:PORT in lower case, as images name it, or "_default"`)
		return
	}
	if len(r.Mirrors) == 0 && r.Server == nil {
		v.vital(at, "has neither mirrors nor a server; give one, or leave the registry out")
	}
	seen := make(map[string]bool)
	for i := range r.Mirrors {
		here := document.IndexPath(at+".mirrors", i)
		if url := r.Mirrors[i].URL; seen[url] {
			v.vital(here+".url", "is in the list twice")
		}
		seen[r.Mirrors[i].URL] = true
		v.registryHost(here, &r.Mirrors[i])
	}
	if r.Server != nil {
		v.registryHost(at+".server", r.Server)
	}
}

// registryCapabilities are those that Slipway writes (containerd docs/hosts.md, capabilities).
var registryCapabilities = []string{"pull", "resolve"}

func (v *validator) registryHost(at string, h *RegistryHost) {
	if reason := checkRegistryURL(h.URL); reason != "" {
		v.vital(at+".url", reason)
	}
	for i, capability := range h.Capabilities {
		if !slices.Contains(registryCapabilities, capability) {
			v.vital(document.IndexPath(at+".capabilities", i), document.WantWord(capability, registryCapabilities))
		} else if slices.Contains(h.Capabilities[:i], capability) {
			v.vital(document.IndexPath(at+".capabilities", i), "is in the list twice")
		}
	}
	if h.CertificateAuthority != "" {
		if err := checkCertificates(h.CertificateAuthority); err != nil {
			v.vital(at+".certificateAuthority", err.Error())
		}
	}
	switch {
	case h.Username.IsZero() != h.Password.IsZero():
		v.vital(at+".username", "goes with a password; give both or none")
	case strings.Contains(h.Username.Reveal(), ":"):
		v.vital(at+".username", "has a colon, which ends a user name (RFC 7617)")
	case singleLine(h.Username.Reveal()) != "":
		v.vital(at+".username", "has a line break")
	case singleLine(h.Password.Reveal()) != "":
		v.vital(at+".password", "has a line break")
	}
}

// checkRegistryURL returns what is wrong with the URL of an image server.
func checkRegistryURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || !isPrintable(s) || u.Scheme != "https" && u.Scheme != "http" || !isHostPort(strings.ToLower(u.Host)) ||
		u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(s, "#") {
		return "is not a URL of the form https://HOST[:PORT][/PATH]"
	}
	if u.User != nil {
		return "has a user in it; use username and password"
	}
	return ""
}

// maxRegistryName is the longest DNS name (RFC 1035, 2.3.4), and no directory has a much longer one.
const maxRegistryName = 253

// isRegistryName reports whether images may name a registry so, in lower case. Its directory has this name, too. (An IPv6 address
// must have a port, because containerd takes the part after its last colon for one.)
func isRegistryName(s string) bool {
	if addr, err := netip.ParseAddrPort(s); err == nil && addr.Addr().Is6() {
		return addr.Addr().Zone() == ""
	}
	return isHostPort(s) && len(s) <= maxRegistryName && !strings.HasPrefix(s, "[")
}

// maxRepository is the longest repository name that servers accept (OCI distribution specification, pulling manifests).
const maxRepository = 255

// isRepository reports whether a string is HOST[:PORT][/PATH], the prefix of image names.
func isRepository(s string) bool {
	host, below, deeper := strings.Cut(s, "/")
	if !isRegistryName(host) || len(s) > maxRepository {
		return false
	}
	for part := range strings.SplitSeq(below, "/") {
		if deeper && !isRepositoryPart(part) {
			return false
		}
	}
	return true
}

// isRepositoryPart reports whether a string is a part of a repository's name between two slashes: small letters and digits, with
// single dots, one or two underscores or any number of dashes between them (OCI distribution specification, pulling manifests).
func isRepositoryPart(s string) bool {
	between := strings.FieldsFunc("x"+s+"x", func(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' })
	for _, separator := range between {
		if separator != "." && separator != "_" && separator != "__" && strings.Trim(separator, "-") != "" {
			return false
		}
	}
	return s != "" && s == strings.Trim(s, "._-")
}

// isHostPort reports whether a string is HOST or HOST:PORT, with a DNS name or an address as host.
func isHostPort(s string) bool {
	host, port, hasPort := s, "", false
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.HasSuffix(s, "]") {
		host, port, hasPort = s[:i], s[i+1:], true
	}
	if hasPort && (!isPort(port) || !isNumber(port, 5) || port == "0") {
		return false
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		return strings.HasSuffix(inner, "]") && err == nil && addr.Is6() && addr.Zone() == ""
	}
	return isDNSName(host)
}

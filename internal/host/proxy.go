package host

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
)

// proxyFor says through which proxy of a component's a URL is reached; nil for none.
func proxyFor(d *resource.Download) func(*url.URL) (*url.URL, error) {
	return func(u *url.URL) (*url.URL, error) {
		proxy := d.HTTPS.Reveal()
		if u.Scheme == "http" {
			proxy = d.HTTP.Reveal()
		}
		if proxy == "" || reachedDirectly(u, d.Direct) {
			return nil, nil
		}
		return url.Parse(proxy)
	}
}

// reachedDirectly reports whether a URL's host is one of a list of no_proxy, as programs in Go read that: a name with all below
// it, only what is below it where a dot is before it, an address, a range of them, "*"; a name or address may have a port
// (golang.org/x/net/http/httpproxy).
func reachedDirectly(u *url.URL, list []string) bool {
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	address, err := netip.ParseAddr(host)
	isAddress := err == nil
	if host == "localhost" || isAddress && address.IsLoopback() {
		return true
	}
	for _, entry := range list {
		entry = strings.ToLower(strings.TrimSpace(entry))
		if entry == "*" {
			return true
		}
		if prefix, err := netip.ParsePrefix(entry); err == nil {
			if isAddress && prefix.Contains(address.Unmap()) {
				return true
			}
			continue
		}
		if name, only, err := net.SplitHostPort(entry); err == nil {
			if only != port {
				continue
			}
			entry = name
		}
		entry = strings.TrimPrefix(entry, "*")
		below := strings.HasPrefix(entry, ".") && strings.HasSuffix(host, entry)
		if entry != "" && (host == entry || below && !isAddress || !isAddress && strings.HasSuffix(host, "."+entry)) {
			return true
		}
	}
	return false
}

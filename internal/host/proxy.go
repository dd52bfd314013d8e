package host

import (
	"cmp"
	"net/url"

	"github.com/slipway-dev/slipway/internal/noproxy"
	"github.com/slipway-dev/slipway/internal/resource"
)

// defaultPorts are the ports of servers without an explicit one.
var defaultPorts = map[string]string{"http": "80", "https": "443"}

// proxyFor returns a URL's proxy, or nil.
func proxyFor(r *resource.Reach) func(*url.URL) (*url.URL, error) {
	return func(u *url.URL) (*url.URL, error) {
		proxy := r.HTTPS.Reveal()
		if u.Scheme == "http" {
			proxy = r.HTTP.Reveal()
		}
		if proxy == "" || noproxy.Has(r.Direct, u.Hostname(), cmp.Or(u.Port(), defaultPorts[u.Scheme])) {
			return nil, nil
		}
		return url.Parse(proxy)
	}
}

package host

import (
	"cmp"
	"net/url"

	"github.com/slipway-dev/slipway/internal/noproxy"
	"github.com/slipway-dev/slipway/internal/resource"
)

// defaultPorts are those of servers that name none.
var defaultPorts = map[string]string{"http": "80", "https": "443"}

// proxyFor says through which proxy a URL is reached; nil for none.
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

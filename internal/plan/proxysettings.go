package plan

import (
	"net/url"
	"slices"
)

// proxied reports whether the contract has a proxy.
func (in *input) proxied() bool {
	return !in.config.Proxy.HTTP.IsZero() || !in.config.Proxy.HTTPS.IsZero()
}

// noProxy are the contract's hosts, and those that a node reaches directly in any case. The API server is one of them,
// because the agent too asks it without a proxy whether the node can join; an image knows none.
func noProxy(in *input) []string {
	hosts := slices.Concat(in.config.Proxy.NoProxy, reachedDirectly)
	if in.config.Cloud.Azure != nil {
		hosts = append(hosts, wireServer)
	}
	if u, err := url.Parse(in.config.Cluster.Server); err == nil && u.Hostname() != "" && in.joins() {
		hosts = append(hosts, u.Hostname())
	}
	var once []string
	for _, host := range hosts {
		if !slices.Contains(once, host) {
			once = append(once, host)
		}
	}
	return once
}

// reachedDirectly are what no proxy can reach for a node: itself, and its cloud's metadata service (Azure: Instance
// Metadata Service, "Proxies"; Amazon EC2: "the instance metadata service is link-local").
var reachedDirectly = []string{"localhost", "127.0.0.1", "::1", "169.254.169.254"}

// wireServer is Azure's, as reachedDirectly (Azure: What is IP address 168.63.129.16).
const wireServer = "168.63.129.16"

// serverAddress is where a server listens: its host, and its port.
func serverAddress(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return u.Host + ":" + httpsPort
}

// httpsPort is that of a server that names none.
const httpsPort = "443"

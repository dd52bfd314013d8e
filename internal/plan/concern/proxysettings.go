package concern

import (
	"net/url"
	"slices"
)

// Proxied reports whether the contract has a proxy.
func (in *Input) Proxied() bool {
	return !in.Config.Proxy.HTTP.IsZero() || !in.Config.Proxy.HTTPS.IsZero()
}

// NoProxy are the contract's hosts, and those that a node reaches directly in any case. The API server is one of them,
// because the agent too asks it without a proxy whether the node can join; an image knows none.
func NoProxy(in *Input) []string {
	hosts := slices.Concat(in.Config.Proxy.NoProxy, reachedDirectly)
	if in.Config.Cloud.Azure != nil {
		hosts = append(hosts, wireServer)
	}
	if u, err := url.Parse(in.Config.Cluster.Server); err == nil && u.Hostname() != "" && in.Joins() {
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

// ServerAddress is where a server listens: its host, and its port.
func ServerAddress(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return u.Host + ":" + HTTPSPort
}

// HTTPSPort is that of a server that names none.
const HTTPSPort = "443"

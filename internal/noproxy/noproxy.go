// Package noproxy decides which servers are reached without a proxy, by the list of a no_proxy variable as Go programs
// read it (golang.org/x/net/http/httpproxy: Config.NoProxy): containerd, the kubelet, and the agent itself.
//
// It never resolves a name. internal/plan and internal/host call it.
package noproxy

import (
	"net/netip"
	"strings"
)

// Has reports whether an entry of a list matches a server, or the server is the machine itself. A name also matches its
// subdomains, a name with a leading dot matches only those, a network matches the addresses in it, and an entry with a
// port only that port.
func Has(list []string, host, port string) bool {
	address, err := netip.ParseAddr(host)
	isName := err != nil
	address = address.Unmap()
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || address.IsLoopback() {
		return true
	}
	for _, entry := range list {
		name := strings.ToLower(strings.TrimSpace(entry))
		if network, err := netip.ParsePrefix(name); err == nil && network.Contains(address) {
			return true
		}
		if i := strings.LastIndexByte(name, ':'); i >= 0 && (strings.Count(name, ":") == 1 || strings.Contains(name[:i], "]")) {
			if name[i+1:] != port {
				continue
			}
			name = name[:i]
		}
		switch below := strings.TrimPrefix(name, "*"); {
		case name == "", name == ".":
		case name == "*", strings.Trim(name, "[]") == host, isName && strings.HasSuffix(host, "."+strings.TrimPrefix(below, ".")):
			return true
		}
	}
	return false
}

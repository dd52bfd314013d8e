// Package noproxy says which servers are reached without a proxy, by the list of a no_proxy variable as programs in Go read it
// (golang.org/x/net/http/httpproxy: Config.NoProxy): containerd, the kubelet, and the agent itself.
//
// It refuses to look up a name. internal/plan and internal/host call it.
package noproxy

import (
	"net/netip"
	"strings"
)

// Has reports whether an entry of a list stands for a server, or the server is the machine itself. A name stands for those below
// it, too, one with a dot before it only for those, a network for the addresses in it, and one with a port for that port alone.
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

package network

import (
	"net/url"
	"strings"

	"github.com/slipway-dev/slipway/internal/plan/concern"
)

// privateName is the API server's name, if that is one of a private link, of which alone AKS looks after the address
// (AKS: reconcile-private-hosts.sh); empty for others.
func privateName(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return ""
	}
	name := strings.ToLower(u.Hostname())
	if !strings.Contains(name, ".privatelink.") || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" {
		return ""
	}
	return name
}

// KeepsServer is the name of the API server whose address the node keeps; empty for none.
func KeepsServer(in *concern.Input) string {
	if !in.Config.Network.HostsAgent {
		return ""
	}
	return privateName(in.Config.Cluster.Server)
}

package network

import (
	"net/url"
	"strings"

	"github.com/slipway-dev/slipway/internal/plan/concern"
)

// privateName returns the API server's name if it is a private link's: AKS updates the address only for those
// (AKS: reconcile-private-hosts.sh). It is empty for other names.
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

// KeepsServer returns the name of the API server whose address the node writes to /etc/hosts; empty if it writes none.
func KeepsServer(in *concern.Input) string {
	if !in.Config.Network.HostsAgent {
		return ""
	}
	return privateName(in.Config.Cluster.Server)
}

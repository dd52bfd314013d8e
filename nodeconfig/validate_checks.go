package nodeconfig

import (
	"fmt"
	"strings"
)

// maxOutbound is how many servers a node can be asked to reach: each is asked at the same time.
const maxOutbound = 16

// outbound validates the servers that the node must reach. What AKS's scripts take of a command is theirs to say; the planner says
// what Slipway takes.
func (v *validator) outbound(c *Checks) {
	if len(c.Outbound) > maxOutbound {
		v.invalid("$.checks.outbound", fmt.Sprintf("has more than %d servers", maxOutbound), func() { c.Outbound = nil })
		return
	}
	seen := make(map[string]bool)
	checkList(v, "$.checks.outbound", &c.Outbound, func(server string) string {
		name := strings.TrimSuffix(server, ":443")
		switch {
		case !isHostPort(server) || len(server) > maxRegistryName:
			return "is not a server, such as registry.k8s.io or registry.example:5000"
		case seen[name]:
			return "is there twice"
		}
		seen[name] = true
		return ""
	})
}

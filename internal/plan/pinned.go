package plan

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// PinsPath is the setting that pins the cluster's CA.
const PinsPath = "$.cluster.certificateAuthorityHashes"

// withAuthority returns the config with the cluster's CA that somebody has fetched, where the contract only pins it. Where
// nobody has, or what was fetched is not the one, the CA is a line of text that says what is awaited: no program takes it for
// a certificate, and whoever makes a node of the plan asks [Needs] first.
func withAuthority(c *nodeconfig.NodeConfig, f facts.Facts) (_ *nodeconfig.NodeConfig, awaited bool) {
	if !c.Cluster.IsPinned() {
		return c, false
	}
	planned := *c
	planned.Cluster.CertificateAuthority = f.ClusterAuthority
	if awaited = !c.Cluster.Pins(f.ClusterAuthority); awaited {
		planned.Cluster.CertificateAuthority = "The agent fetches the cluster's CA, whose public key has the hash " +
			strings.Join(c.Cluster.CertificateAuthorityHashes, " or ") + ".\n"
	}
	return &planned, awaited
}

// AuthorityPath is where a node of the config has the cluster's CA.
func AuthorityPath(c *nodeconfig.NodeConfig) string { return profile.Of(c.Components.Layout).Paths.CA }
